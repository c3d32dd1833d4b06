package normalize

import "strings"

// cmdMeta are the characters that cmd acts on outside quotes.
const cmdMeta = "&|<>^()"

// cmdEscape goes before a character that cmd acts on: the line is read twice, by
// cmd and by the batch file that hands it on, so the escape is escaped itself.
const cmdEscape = "^^^"

// cmdLine puts cmd before a batch file. os/exec puts double quotes around an
// argument with a blank, and inside them cmd leaves everything but percent
// signs alone; elsewhere a caret escapes.
func (l Launch) cmdLine() ([]string, error) {
	c := cmdWords{signs: cmdMeta}
	if loosePercents(l.Command)+loosePercents(strings.Join(l.Args, " ")) > 1 {
		c.signs += "%"
	}
	command, err := c.program(&l)
	if err != nil {
		return nil, err
	}
	argv := append([]string{"cmd", "/c"}, command...)
	for i, arg := range l.Args {
		word, ok := c.word(arg)
		if !ok {
			return nil, cmdError(argField(i))
		}
		argv = append(argv, word)
	}
	return argv, nil
}

// loosePercents counts the percent signs of a text that are not those of a
// %NAME%. Two of them anywhere on a line may enclose what cmd replaces. A %NAME%
// is a reference on Windows; one that [Server.Expand] left is for cmd.
func loosePercents(s string) int {
	n := 0
	var r ref
	for i := 0; i < len(s); i += r.size {
		r = ref{size: 1}
		if s[i] != '%' {
			continue
		}
		if scanPercent(s[i:], &r); r.kind != refPercent {
			r.size = 1
			n++
		}
	}
	return n
}

func cmdError(field string) error {
	return &Error{Code: BadValue, Subject: field, Message: "cmd cannot pass this on unchanged; put the value into a variable"}
}

// cmdWords writes the words of one line for cmd.
type cmdWords struct {
	signs  string // characters that cmd acts on in this line
	call   bool   // the line is read once more, by call
	signed bool   // an argument holds one of signs
}

// program gives the word for the batch file, and before it "call" where cmd
// would strip quotes otherwise. With more than two quotes on the line, or one
// of its own characters between two, cmd strips the first and the last if the
// line begins with one. It does not if a word comes first.
func (c *cmdWords) program(l *Launch) ([]string, error) {
	blank := false
	for _, arg := range l.Args {
		blank = blank || cmdQuoted(arg)
		c.signed = c.signed || strings.ContainsAny(arg, c.signs)
	}
	own := strings.ContainsAny(l.Command, c.signs)
	c.signed = c.signed || own
	switch {
	case strings.ContainsAny(l.Command, "\"\r\n\x00"):
		return nil, cmdError("command")
	case !cmdQuoted(l.Command):
		return []string{escapeCmd(l.Command, c.signs, "^")}, nil // the batch file does not read it
	case strings.ContainsAny(l.Command, "^%") && own:
		return nil, cmdError("command")
	}
	if blank || strings.ContainsAny(l.Command, cmdMeta+"@") {
		c.call = true
		return []string{"call", l.Command}, nil
	}
	return []string{l.Command}, nil
}

// word gives the word for an argument, or false where there is none. A double
// quote that nothing closes would turn the quotes of later arguments around.
func (c *cmdWords) word(arg string) (string, bool) {
	signs, quotes := strings.ContainsAny(arg, c.signs), strings.Count(arg, `"`)
	switch {
	case strings.ContainsAny(arg, "\r\n\x00"), signs && (quotes > 0 || c.call), c.signed && quotes%2 > 0:
		return "", false
	case !cmdQuoted(arg):
		return escapeCmd(arg, c.signs, cmdEscape), true
	}
	return arg, !signs || !strings.Contains(arg, "%") || !strings.Contains(c.signs, "%")
}

// cmdQuoted reports whether a word is put into double quotes.
func cmdQuoted(word string) bool { return word == "" || strings.ContainsAny(word, " \t") }

func escapeCmd(word, signs, escape string) string {
	if !strings.ContainsAny(word, signs) {
		return word
	}
	var b strings.Builder
	for i := range len(word) {
		if strings.IndexByte(signs, word[i]) >= 0 {
			b.WriteString(escape)
		}
		b.WriteByte(word[i])
	}
	return b.String()
}

// unescapeCmd takes the escapes out of an argument in which each sign of cmd has
// one, as [Launch.Argv] and [Export] write it.
func unescapeCmd(word string) string {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		if rest, ok := strings.CutPrefix(word[i:], cmdEscape); ok && rest != "" && strings.IndexByte(cmdMeta+"%", rest[0]) >= 0 {
			i += len(cmdEscape)
		} else if strings.IndexByte(cmdMeta, word[i]) >= 0 {
			return word
		}
		b.WriteByte(word[i])
	}
	return b.String()
}
