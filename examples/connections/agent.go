package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// agentFlag is the command line of the flag -agent: a program, by an absolute path,
// and its arguments.
type agentFlag struct {
	text string
	argv []string
}

// String gives the line as it was written.
func (a *agentFlag) String() string { return a.text }

// Set splits a line and finds the program, so that a mistake shows at the start and
// not when a reference is looked up.
func (a *agentFlag) Set(text string) error {
	argv, err := splitWords(text)
	if err != nil {
		return err
	}
	if len(argv) == 0 {
		return errors.New("it names no program")
	}
	program, err := exec.LookPath(argv[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return fmt.Errorf("there is no program %q that can be run: give its path, or put its folder into PATH", argv[0])
	}
	argv[0] = program
	a.text, a.argv = text, argv
	return nil
}

// splitWords splits a line at blanks. Quotes of either kind hold a word together, and
// nothing else has a meaning: a backslash is one, as in the paths of Windows.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// agentNames are the variables that a program needs to find itself, its settings and
// its language. A key is not among them: a program that needs one has a file of its
// own for that.
var agentNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_CONFIG_HOME",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "PROGRAMDATA",
}

// agentEnv is what an agent's program gets of an environment.
func agentEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		if runtime.GOOS == "windows" { // where case makes no difference
			name = strings.ToUpper(name)
		}
		return !slices.Contains(agentNames, name)
	})
}
