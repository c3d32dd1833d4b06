package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// launchers are the programs that start other people's packages and scripts,
// by their base names.
var launchers = map[string]bool{
	"npx": true, "npm": true, "pnpm": true, "pnpx": true, "yarn": true, "corepack": true, "tsx": true,
	"node": true, "nodejs": true, "deno": true, "bun": true, "bunx": true,
	"uv": true, "uvx": true, "pipx": true, "python": true, "python3": true, "py": true,
	"docker": true, "podman": true, "dotnet": true, "dnx": true, "go": true,
}

// programName is the base name of a command in lower case, without the suffix
// of an executable.
func programName(command string) string {
	name := strings.ToLower(baseName(command))
	for _, suffix := range []string{".exe", ".cmd", ".bat"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			return base
		}
	}
	return name
}

// splitWords splits a command line as a shell would, without expanding
// anything. References and substitutions stay whole.
func splitWords(s string) []string {
	if !strings.ContainsAny(s, "\"'\\$`") {
		return strings.Fields(s)
	}
	return syntax.Fields(s)
}

// unwrapCommand turns what stands in the command into a program and its
// arguments: whole command lines are split, cmd /c and the suffix of a batch
// file are cut.
func (e *draft) unwrapCommand() {
	if e.command.text == "" {
		return
	}
	if e.command.coerced {
		e.note(ArgCoerced, "command", e.command.off)
	}
	trimmed := strings.TrimSpace(e.command.text)
	if trimmed != e.command.text {
		e.note(EdgeSpaceTrimmed, "command", e.command.off)
		e.command.text = trimmed
	}
	e.splitCommand()
	e.unwrapCmd()
	e.cutSuffix()
}

// splitCommand splits a command that is a whole line.
func (e *draft) splitCommand() {
	text := e.command.text
	if !strings.ContainsAny(text, " \t") {
		return
	}
	words := splitWords(text)
	if len(words) == 0 || len(words) == 1 && words[0] == text {
		return // one word, such as a reference with a blank inside
	}
	first := text[:strings.IndexAny(text, " \t")]
	switch {
	case e.splitLine:
	case text[0] == '"' || text[0] == '\'':
		e.note(CommandSplit, "", e.command.off)
	case !strings.ContainsAny(first, `/\`) || launchers[programName(first)]:
		e.note(CommandSplit, "", e.command.off)
	default:
		if !isAbsolute(text) {
			e.note(CommandHasSpace, "", e.command.off)
		}
		return
	}
	for i := 0; i < len(words)-1 && e.splitLine && isAssignment(words[0]); i++ {
		name, value, _ := strings.Cut(words[0], "=")
		e.setEnv(name, val{text: value, off: e.command.off})
		words = words[1:]
	}
	off := e.command.off
	e.command.text = words[0]
	var args []val
	for _, w := range words[1:] {
		args = append(args, val{text: w, off: off})
	}
	e.args = append(args, e.args...)
}

// isAssignment tells whether a word is NAME=value.
func isAssignment(word string) bool {
	n := nameLen(word)
	return n > 0 && n < len(word) && word[n] == '='
}

// isAbsolute tells whether a path starts at a root, a home folder or a
// reference.
func isAbsolute(path string) bool {
	switch {
	case strings.HasPrefix(path, "/"), strings.HasPrefix(path, `\\`), strings.HasPrefix(path, "~"),
		strings.HasPrefix(path, "${"), strings.HasPrefix(path, "%"):
		return true
	}
	return hasDrive(path)
}

// hasDrive tells whether a path starts with a drive letter.
func hasDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && isNameStart(path[0])
}

// unwrapCmd cuts "cmd /c" in its spellings.
func (e *draft) unwrapCmd() {
	if programName(e.command.text) != "cmd" {
		return
	}
	for i, arg := range e.args {
		mangled := false
		switch flag := strings.ToLower(arg.text); {
		case flag == "/c" || flag == "/k":
		case flag == "c:/" || flag == "c:\\":
			mangled = true
		case len(flag) == 2 && flag[0] == '/' || strings.HasPrefix(flag, "/v:") || strings.HasPrefix(flag, "/e:"):
			continue
		default:
			return
		}
		e.unwrapCmdLine(e.args[i+1:], i+1, mangled)
		return
	}
}

// unwrapCmdLine takes the line after /c, unless it is a script that only cmd
// can run.
func (e *draft) unwrapCmdLine(rest []val, index int, mangled bool) {
	if len(rest) == 0 {
		return
	}
	for i, arg := range rest {
		if isCmdScript(arg.text) {
			e.note(ShellString, argField(index+i), arg.off)
			return
		}
	}
	e.note(CmdWrapperRemoved, "", e.command.off)
	if mangled {
		e.note(MSYSPathMangled, "/c", rest[0].off)
	}
	if strings.EqualFold(rest[0].text, "call") && len(rest) > 1 {
		rest = rest[1:]
	}
	words := []string{rest[0].text}
	if first, _, _ := strings.Cut(rest[0].text, " "); first != rest[0].text && (len(rest) == 1 && !hasDrive(first) || launchers[programName(first)]) {
		words = splitWords(rest[0].text)
	}
	args := make([]val, 0, len(words)+len(rest))
	for _, w := range words {
		args = append(args, val{text: w, off: rest[0].off})
	}
	for _, arg := range rest[1:] {
		arg.text = unescapeCmd(arg.text)
		args = append(args, arg)
	}
	e.command, e.args = args[0], args[1:]
}

// isCmdScript reports whether only cmd can make sense of an argument.
func isCmdScript(arg string) bool {
	return strings.ContainsAny(arg, "&|<>^") && strings.Contains(arg, " ") || arg == "&&" || arg == "|"
}

// cutSuffix cuts .cmd from the launchers of npm, which are batch files on
// Windows only.
func (e *draft) cutSuffix() {
	base, ok := cutSuffixFold(e.command.text, ".cmd")
	if !ok {
		return
	}
	switch strings.ToLower(base) {
	case "npx", "npm", "pnpm", "pnpx", "yarn":
		e.note(CmdSuffixRemoved, "", e.command.off)
		e.command.text = strings.ToLower(base)
	}
}

func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n <= 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}
