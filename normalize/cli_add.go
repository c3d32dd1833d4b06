package normalize

import (
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// addServer reads the words after "mcp add" by what they mean rather than by
// how the client would read them: published lines have the options before and
// after the name, with and without "--".
func (r *reader) addServer(c cliClient, d *dialect, words []syntax.Word) {
	a := adding{c: c, words: words}
	a.entry = &entry{draft: r.draft(place{}, d)}
	a.posix = true
	if len(words) > 0 {
		a.off = words[0].Offset
	}
	a.run()
	if a.json != "" {
		r.jsonWord(a.s.Name, a.json, a.off, d)
		return
	}
	a.complete()
	a.finish()
}

// adding is an "mcp add" line being read.
type adding struct {
	*entry
	c     cliClient
	words []syntax.Word
	i     int
	json  string // a whole entry where the command should stand
	// swallowed is the option that would have taken the name too.
	swallowed string
	dashes    bool // "--" stood before the command
	started   bool // the command has begun
}

func (a *adding) run() {
	for a.i = 0; a.i < len(a.words); a.i++ {
		w := a.words[a.i]
		switch {
		case w.Text == "--":
			a.dashes = true
			a.rest(a.i + 1)
			return
		case strings.HasPrefix(w.Text, "-") && len(w.Text) > 1:
			a.option(w)
		default:
			if a.positional(w) {
				return
			}
		}
	}
}

// rest takes everything from i on as the command and its arguments.
func (a *adding) rest(i int) {
	for ; i < len(a.words); i++ {
		v := wordVal(a.words[i])
		if a.command.text == "" {
			a.command = v
		} else {
			a.args = append(a.args, v)
		}
	}
}

// positional reads the name, then the address or the command. It reports true
// when the rest of the line was the command's.
func (a *adding) positional(w syntax.Word) bool {
	switch {
	case looksLikeJSON(w.Text):
		a.json = w.Text
		return true
	case !a.at.named && !isAddress(w.Text):
		a.s.Name, a.at.named = w.Text, true
		a.checkSwallowed()
	case isAddress(w.Text):
		a.url = wordVal(w)
	case a.url.text != "":
		a.args = append(a.args, wordVal(w))
	case a.c.oneString && strings.ContainsAny(w.Text, " \t"):
		a.command, a.splitLine = wordVal(w), true
	default:
		a.started = true
		a.rest(a.i)
		return true
	}
	return false
}

// checkSwallowed notes a name that the client would have taken for one more
// value of the option before it.
func (a *adding) checkSwallowed() {
	if a.swallowed != "" {
		a.note(ClientMisparses, a.swallowed, a.off)
	}
}

// option reads an option, its value in the same word or in the next.
func (a *adding) option(w syntax.Word) {
	name, value, inline := strings.Cut(w.Text, "=")
	if !strings.HasPrefix(name, "--") {
		name, value, inline = w.Text, "", false
	}
	a.swallowed = ""
	next := func() string {
		if !inline && a.i+1 < len(a.words) {
			a.i++
			return a.words[a.i].Text
		}
		return value
	}
	switch name {
	case "-e", "--env":
		a.variables(next(), w.Offset)
	case "-H", "--header", "--headers":
		a.header(next(), w.Offset)
	case "-t", "--transport", "--type":
		a.typ = next()
		a.transport = typeWord(a.typ)
	case "-s", "--scope":
		a.s.Scope = next()
	case "--url":
		a.url = val{text: next(), off: w.Offset}
	case "--name":
		a.s.Name, a.at.named = next(), true
	case "--command":
		a.command, a.splitLine = val{text: next(), off: w.Offset}, true
	case "--args":
		for arg := range strings.SplitSeq(next(), ",") {
			a.args = append(a.args, val{text: arg, off: w.Offset})
		}
	default:
		a.lessCommon(name, w.Offset, next)
	}
}

func (a *adding) lessCommon(name string, off int, next func() string) {
	switch name {
	case "--bearer-token-env-var":
		a.setHeader("Authorization", val{text: "Bearer ${" + next() + "}", off: off, own: true})
	case "--cwd":
		a.cwd = val{text: next(), off: off}
	case "--timeout":
		a.timeoutOption(name, next(), off)
	case "--trust":
		a.s.AutoApprove = []string{"*"}
	case "--include-tools", "--tools":
		a.s.AllowTools = toolWords(next())
	case "--exclude-tools":
		a.s.DenyTools = toolWords(next())
	case "--client-id":
		a.oauth().ClientID = next()
	case "--description", "--callback-port", "--agent":
		a.keep(hit{name: strings.TrimLeft(name, "-"), node: &syntax.Node{Kind: syntax.String, Text: next()}, off: off})
	case "--disabled":
		a.s.Disabled = true
	}
}

func toolWords(s string) []string {
	list := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(list, "*") {
		return []string{"*"}
	}
	return list
}

// timeoutOption reads a timeout. All the clients' lines count in milliseconds.
func (a *adding) timeoutOption(name, value string, off int) {
	h := hit{role: roleCallMS, name: name, node: &syntax.Node{Kind: syntax.String, Text: value, Offset: off}, off: off}
	if d, ok := a.duration(&h); ok {
		a.s.CallTimeout = d
	} else {
		a.dropped(TimeoutInvalid, name, h.node)
	}
}

// variables reads NAME=value, and the further ones that may follow. Amazon Q
// parts them by commas.
func (a *adding) variables(word string, off int) {
	if a.c.id == AmazonQ || a.c.id == Kiro {
		for part := range strings.SplitSeq(word, ",") {
			a.variable(part, off)
		}
		return
	}
	a.variable(word, off)
	for a.i+1 < len(a.words) && isAssignment(a.words[a.i+1].Text) {
		a.i++
		a.variable(a.words[a.i].Text, a.words[a.i].Offset)
	}
	if a.c.variadic {
		a.swallowed = "variadic_env"
	}
}

func (a *adding) variable(word string, off int) {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		a.s.EnvFrom = append(a.s.EnvFrom, name)
		return
	}
	a.setEnv(name, val{text: value, off: off})
}

// header reads "Name: value", Amp's "Name=value", or two words.
func (a *adding) header(word string, off int) {
	switch i := strings.IndexAny(word, ":="); {
	case i < 0 && a.i+1 < len(a.words):
		a.i++
		a.setHeader(word, val{text: a.words[a.i].Text, off: off})
	default:
		a.takeHeaderLine(word, off)
	}
	for a.i+1 < len(a.words) && isHeaderWord(a.words[a.i+1].Text) {
		a.i++
		a.takeHeaderLine(a.words[a.i].Text, a.words[a.i].Offset)
	}
	if a.c.variadic {
		a.swallowed = "variadic_header"
	}
}

func isHeaderWord(s string) bool {
	name, value, ok := strings.Cut(s, ": ")
	return ok && value != "" && !strings.ContainsAny(name, " /=")
}

// complete settles the transport once the line is read.
func (a *adding) complete() {
	a.noteExtra()
	a.s.Extra = a.extraJSON()
	if a.c.variadic && a.started && !a.dashes && startsOptions(a.args) {
		a.note(ClientMisparses, "missing_double_dash", a.off)
	}
	if a.typ != "" && a.transport == "" {
		a.note(UnknownType, clip(a.typ), a.off)
	} else if a.typ != "" && !usualType(a.typ) {
		a.note(TypeSpelling, "", a.off)
	}
	if a.command.text == "" && a.url.text == "" {
		a.fail(NoCommandOrURL, "")
		return
	}
	a.decideTransport()
	if len(a.s.AllowTools) == 0 && a.s.AllowTools != nil {
		a.note(NoToolsEnabled, "", a.off)
	}
	a.approve()
}

// startsOptions tells whether some argument is an option, which the client
// would take for one of its own.
func startsOptions(args []val) bool {
	for _, arg := range args {
		if strings.HasPrefix(arg.text, "-") {
			return true
		}
	}
	return false
}
