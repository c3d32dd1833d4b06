package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// commandLine reads one line of a shell: the commands between its operators,
// each with the variables set before it.
func (r *reader) commandLine(words []syntax.Word) {
	from := 0
	for i := 0; i <= len(words); i++ {
		if i == len(words) || words[i].Op {
			if i > from {
				r.simpleCommand(words[from:i])
			}
			from = i + 1
		}
	}
}

// simpleCommand reads one command.
func (r *reader) simpleCommand(words []syntax.Word) {
	if r.setsVariable(words) {
		return
	}
	var env []named
	for len(words) > 1 && isAssignment(words[0].Text) {
		name, value, _ := strings.Cut(words[0].Text, "=")
		env = append(env, named{name, val{text: value, off: words[0].Offset}})
		words = words[1:]
	}
	if len(words) < 2 && !strings.Contains(words[0].Text, "mcp") {
		return
	}
	program := programName(words[0].Text)
	if c, ok := cliClients[program]; ok {
		if r.clientCommand(c, words[1:]) {
			return
		}
	}
	if !launchers[program] && program != "cmd" && program != "wsl" && program != "java" {
		return
	}
	e := r.draft(place{offset: words[0].Offset}, dialectOf(Generic))
	e.posix = true
	e.s.Transport = Stdio
	for _, v := range r.exported {
		e.setEnv(v.name, v.val)
	}
	for _, v := range env {
		e.setEnv(v.name, v.val)
	}
	e.command = wordVal(words[0])
	for _, w := range words[1:] {
		e.args = append(e.args, wordVal(w))
	}
	e.finish()
}

func wordVal(w syntax.Word) val { return val{text: w.Text, off: w.Offset} }

// setsVariable reads export NAME=value, set NAME=value and $env:NAME = value.
func (r *reader) setsVariable(words []syntax.Word) bool {
	set := func(assignment string, off int) {
		name, value, _ := strings.Cut(assignment, "=")
		if len(r.exported) == maxExports {
			r.over = true
			return
		}
		r.exported = append(r.exported, named{name, val{text: value, off: off}})
	}
	first := words[0].Text
	switch {
	case (first == "export" || first == "set") && len(words) > 1:
		for _, w := range words[1:] {
			if isAssignment(w.Text) {
				set(w.Text, w.Offset)
			}
		}
		return true
	case strings.HasPrefix(first, "${"): // $env:NAME, as the splitter gives it
		name, rest, _ := strings.Cut(first[2:], "}")
		if rest == "" && len(words) > 2 && words[1].Text == "=" {
			set(name+"="+words[2].Text, words[0].Offset)
		} else if value, ok := strings.CutPrefix(rest, "="); ok {
			set(name+"="+value, words[0].Offset)
		}
		return true
	case len(words) == 1 && isAssignment(first):
		set(first, words[0].Offset)
		return true
	}
	return false
}

// A cliClient is a program that adds servers to a client's configuration.
type cliClient struct {
	id Dialect
	// variadic is set where an option for variables or headers takes all the
	// words that follow, the server's name too.
	variadic bool
	// headerPairs is set where a header is two words.
	headerPairs bool
	// oneString is set where the command is one word that holds a line.
	oneString bool
}

var cliClients = map[string]cliClient{
	"claude": {id: ClaudeCode, variadic: true}, "codex": {id: Codex}, "gemini": {id: GeminiCLI}, "qwen": {id: Qwen},
	"copilot": {id: CopilotCLI}, "amp": {id: Amp}, "droid": {id: Factory, oneString: true},
	"q": {id: AmazonQ}, "qchat": {id: AmazonQ}, "kiro-cli": {id: Kiro},
	"code": {id: VSCode}, "code-insiders": {id: VSCode}, "codium": {id: VSCode}, "cursor": {id: Cursor},
	"windsurf": {id: Windsurf}, "cursor-agent": {id: Cursor}, "openclaw": {id: OpenClaw}, "hermes": {id: Hermes},
	"crush": {id: Crush, headerPairs: true}, "mcp": {id: Crush, headerPairs: true}, "opencode": {id: OpenCode},
	"smithery": {id: Generic},
}

// clientCommand reads the words after the client's name. It reports false for
// a command that adds nothing.
func (r *reader) clientCommand(c cliClient, words []syntax.Word) bool {
	for len(words) > 0 && words[0].Text == "mcp" {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	d := dialectOf(c.id)
	switch words[0].Text {
	case "add-json":
		if len(words) > 1 {
			r.addJSON(words[1:], d)
		}
	case "add":
		r.addServer(c, d, words[1:])
	default:
		return r.jsonOption(words, d)
	}
	return true
}

// jsonOption reads an option whose value is JSON, such as --add-mcp.
func (r *reader) jsonOption(words []syntax.Word, d *dialect) bool {
	found := false
	for i, w := range words {
		name, value, inline := strings.Cut(w.Text, "=")
		switch name {
		case "--add-mcp", "--mcp-config", "--additional-mcp-config":
		default:
			continue
		}
		if !inline && i+1 < len(words) {
			value = words[i+1].Text
		}
		r.jsonWord("", value, w.Offset, d)
		found = true
	}
	return found
}

// addJSON reads NAME 'JSON', with options around.
func (r *reader) addJSON(words []syntax.Word, d *dialect) {
	var name, scope string
	var json *syntax.Word
	for i := 0; i < len(words); i++ {
		switch w := words[i].Text; {
		case (w == "-s" || w == "--scope") && i+1 < len(words):
			i++
			scope = words[i].Text
		case strings.HasPrefix(w, "-"):
		case looksLikeJSON(w):
			json = &words[i]
		case name == "":
			name = w
		}
	}
	from := len(r.paste.Servers)
	if json == nil {
		json = &syntax.Word{Offset: words[0].Offset}
	}
	r.jsonWord(name, json.Text, json.Offset, d)
	for i := from; i < len(r.paste.Servers); i++ {
		r.paste.Servers[i].Scope = scope
	}
}

func looksLikeJSON(s string) bool {
	s = strings.TrimLeft(s, "'\" `\\")
	return strings.HasPrefix(s, "{")
}

// jsonWord reads JSON that came as a word of a command line: as it is, with the
// backslashes before its quotes taken away, or PowerShell's backticks.
func (r *reader) jsonWord(name, text string, off int, d *dialect) {
	n, style := unquoteJSON(text)
	if n == nil {
		e := r.draft(place{name: name, named: name != "", offset: off}, d)
		e.fail(NotRunnable, "unreadable_json")
		e.finish()
		return
	}
	toOffset(n, off)
	from := len(r.paste.Servers)
	if len(r.wrappersIn(n)) > 0 {
		r.tree(n)
	} else {
		r.namedEntry(name, n, off, d)
	}
	for i := from; i < len(r.paste.Servers) && style != ""; i++ {
		r.paste.Servers[i].Notes = append(r.paste.Servers[i].Notes, parseNote(QuoteStyle, style))
	}
}

// namedEntry reads an entry that may hold its own name.
func (r *reader) namedEntry(name string, n *syntax.Node, off int, d *dialect) {
	r.readInputs(n.Get("inputs"))
	entry := &syntax.Node{Kind: syntax.Object, Offset: off}
	for _, m := range n.Members {
		switch {
		case m.Name == "inputs":
		case m.Name == "name" && name == "" && m.Value.Kind == syntax.String:
			name = m.Value.Text
		default:
			entry.Members = append(entry.Members, m)
		}
	}
	r.entry(place{name: name, named: name != "", offset: off}, entry, d)
}

func unquoteJSON(text string) (n *syntax.Node, style string) {
	tries := []struct{ text, style string }{
		{text, ""},
		{strings.ReplaceAll(text, `\"`, `"`), "powershell"},
		{strings.ReplaceAll(text, "`\"", `"`), "powershell_backtick"},
		{strings.ReplaceAll(text, `""`, `"`), "doubled"},
	}
	for _, try := range tries {
		n, size, _, err := syntax.JSON(try.text)
		if err == nil && n.IsObject() && strings.TrimSpace(try.text[size:]) == "" {
			return n, try.style
		}
	}
	return nil, ""
}
