package syntax

import (
	"strings"
)

// prompts are what terminals print before a command.
var prompts = []string{"$ ", "% ", "❯ ", "➜ ", "> "}

// promptLen is the length of the prompt at the start of a line: a sign, or
// PowerShell's or cmd's with a folder, or user@host:folder$.
func promptLen(line string) int {
	for _, p := range prompts {
		if strings.HasPrefix(line, p) {
			return len(p)
		}
	}
	head, _, ok := strings.Cut(line, "> ")
	if ok && (strings.HasPrefix(head, "PS ") || len(head) > 1 && head[1] == ':' && isLetter(head[0]) && !strings.Contains(head, " ")) {
		return len(head) + 2
	}
	if head, _, ok := strings.Cut(line, "$ "); ok && strings.Contains(head, "@") && !strings.Contains(head, " ") {
		return len(head) + 2
	}
	return 0
}

// maxStart bounds how much of a line is looked at to tell what starts there: a
// line of many pieces is asked about for each of them.
const maxStart = 16 << 10

// commandStart tells whether a line starts with a command line that may
// declare a server.
func commandStart(s string) bool {
	s = s[:min(len(s), maxStart)]
	line := s[:lineLen(s)]
	line = line[promptLen(line):]
	words := strings.Fields(line)
	if len(words) > 0 && strings.HasPrefix(words[0], "$env:") {
		return true
	}
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	return isCommand(words)
}

// isAssignment tells whether a word is NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || digits(name) > 0 {
		return false
	}
	for i := range len(name) {
		if !isBareKey(name[i]) || name[i] == '-' {
			return false
		}
	}
	return true
}

// programs are the first words of command lines, and what tells them from a
// sentence that starts with the same word.
var programs = map[string]func(rest []string) bool{
	"claude": isMCP, "codex": isMCP, "gemini": isMCP, "qwen": isMCP, "copilot": isMCP, "amp": isMCP, "droid": isMCP,
	"q": isMCP, "qchat": isMCP, "kiro-cli": isMCP, "openclaw": isMCP, "hermes": isMCP, "crush": isMCP, "smithery": isMCP,
	"opencode": isMCP, "cursor-agent": isMCP, "mcp": isAdd,
	"code": isAddMCP, "code-insiders": isAddMCP, "cursor": isAddMCP, "windsurf": isAddMCP, "codium": isAddMCP,
	"npx": isPackage, "uvx": isPackage, "bunx": isPackage, "pnpx": isPackage, "dnx": isPackage, "pipx": isRun,
	"npm": isExec, "pnpm": isExec, "yarn": isExec, "bun": isRun, "uv": isRun, "deno": isRun, "dotnet": isRun,
	"docker": isContainer, "podman": isContainer, "go": isRun,
	"node": isScript, "python": isScript, "python3": isScript, "py": isScript, "java": isScript, "tsx": isScript,
	"export": isSetting, "set": isSetting, "cmd": isOption, "cmd.exe": isOption, "wsl": isAnything, "wsl.exe": isAnything,
	"cd": isFolder,
}

func isMCP(rest []string) bool      { return rest[0] == "mcp" }
func isAdd(rest []string) bool      { return rest[0] == "add" || rest[0] == "add-json" }
func isAddMCP(rest []string) bool   { return strings.HasPrefix(rest[0], "--add-mcp") }
func isOption(rest []string) bool   { return rest[0][0] == '/' || rest[0][0] == '-' }
func isAnything(rest []string) bool { return len(rest) > 1 }
func isSetting(rest []string) bool {
	return isAssignment(rest[0])
}

// isPackage wants an option, or a word that looks like a package and no
// further plain words.
func isPackage(rest []string) bool {
	if rest[0][0] == '-' || rest[0][0] == '@' || strings.ContainsAny(rest[0], "-/@.") {
		return true
	}
	return len(rest) == 1 || rest[1][0] == '-'
}

func isRun(rest []string) bool {
	switch rest[0] {
	case "run", "x", "tool", "exec":
		return len(rest) > 1
	}
	return strings.HasPrefix(rest[0], "-") && len(rest) > 1
}

// isContainer looks for "run" behind the program's own options.
func isContainer(rest []string) bool {
	for i, word := range rest {
		if word == "run" {
			return i+1 < len(rest)
		}
		if i > 3 {
			break
		}
	}
	return false
}

func isExec(rest []string) bool {
	switch rest[0] {
	case "exec", "dlx", "x", "run", "start":
		return len(rest) > 1
	}
	return false
}

func isScript(rest []string) bool {
	return rest[0][0] == '-' || strings.ContainsAny(rest[0], "/\\") ||
		strings.HasSuffix(rest[0], ".js") || strings.HasSuffix(rest[0], ".mjs") || strings.HasSuffix(rest[0], ".cjs") ||
		strings.HasSuffix(rest[0], ".ts") || strings.HasSuffix(rest[0], ".py")
}

// isFolder takes "cd FOLDER && command" but no line that only changes folder.
func isFolder(rest []string) bool { return len(rest) > 2 && rest[1] == "&&" }

func isCommand(words []string) bool {
	name := words[0]
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	for _, suffix := range []string{".cmd", ".exe"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && name != "cmd.exe" && name != "wsl.exe" {
			name = base
		}
	}
	check, ok := programs[name]
	return ok && check(words[1:])
}

// command reads a command line.
func (s *splitter) command() bool {
	rest := s.c.text[s.pos:]
	if !commandStart(rest) {
		return false
	}
	start := s.pos + promptLen(rest[:lineLen(rest)])
	src := s.c.text[start:]
	line := Line{Unclosed: true}
	if s.failures < maxFailures {
		line = Command(src)
	}
	if line.Unclosed { // keep to the line rather than swallow the rest
		s.failures++
		line = Command(src[:lineLen(src)])
	}
	s.commands++
	s.comments = s.comments || line.Comment
	s.pos = start + line.Size
	s.add(Document{Form: CommandForm, Words: line.Words}, "", start)
	return true
}
