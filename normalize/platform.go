package normalize

import (
	"strings"
)

// shells run a script that stands in one argument, after an option that holds
// a c.
var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ash": true, "ksh": true, "fish": true,
}

// shellScript finds the argument that is a script for a shell, or gives -1.
// The shell may stand behind another program, such as wsl or env.
func shellScript(command string, args []val) int {
	shell := programName(command)
	for i, arg := range args {
		switch {
		case shells[shell] && isScriptOption(arg.text), (shell == "powershell" || shell == "pwsh") && strings.EqualFold(arg.text, "-command"):
			if i+1 < len(args) {
				return i + 1
			}
		case shell == "" || !strings.HasPrefix(arg.text, "-"):
			shell = programName(arg.text)
		}
	}
	return -1
}

func isScriptOption(s string) bool {
	return len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.HasSuffix(s, "c")
}

// checkPlatform notes records that run on one kind of machine only.
func (e *draft) checkPlatform() {
	if programName(e.s.Command) == "wsl" {
		e.note(HostSpecific, "wsl", e.command.off)
	}
	kinds := pathKinds(e.s.Command)
	for _, arg := range e.s.Args {
		kinds |= pathKinds(arg)
	}
	if kinds&mountedPath != 0 && kinds&drivePath != 0 {
		e.note(HostSpecific, "mixed_paths", e.off)
	}
	if kinds&uncPath != 0 {
		e.note(HostSpecific, "unc", e.off)
	}
}

// Kinds of paths that only some machines have.
const (
	mountedPath = 1 << iota // a Windows drive as WSL mounts it
	drivePath               // C:\ or C:/
	uncPath                 // \\server\share
)

func pathKinds(s string) int {
	kinds := 0
	if strings.HasPrefix(s, "/mnt/") && len(s) > 6 && s[6] == '/' {
		kinds |= mountedPath
	}
	if hasDrive(s) {
		kinds |= drivePath
	}
	if strings.HasPrefix(s, `\\`) && len(s) > 2 && isWordByte(s[2]) {
		kinds |= uncPath
	}
	return kinds
}
