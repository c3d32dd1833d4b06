package normalize

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
)

// Argv gives the command line for os/exec on the operating system goos, nil
// where the launch has no command. On "windows" the npm launchers (npx, npm,
// pnpm, pnpx, yarn) and anything that ends in .cmd or .bat are batch files, so
// cmd /c goes before them and characters that cmd would act on are escaped for
// both readings they pass through, but for %NAME%, which is left to cmd; .ps1 is
// run by powershell -File. All other commands are left as they are, on every
// system.
//
// What cmd cannot pass on unchanged is an [*Error] with code [BadValue]: a line
// break, percent signs among blanks that enclose more than a name, and a
// double quote or a program in a folder with a blank beside characters that cmd
// acts on. Put such a value into the environment.
func (l Launch) Argv(goos string) ([]string, error) {
	switch {
	case l.Command == "":
		return nil, nil
	case goos == "windows" && needsCmd(l.Command):
		return l.cmdLine()
	case goos == "windows" && strings.HasSuffix(strings.ToLower(l.Command), ".ps1"):
		return append([]string{"powershell", "-File", l.Command}, l.Args...), nil
	}
	return append([]string{l.Command}, l.Args...), nil
}

// needsCmd reports whether a command is a batch file on Windows.
func needsCmd(command string) bool {
	name := strings.ToLower(baseName(command))
	if strings.HasSuffix(name, ".cmd") || strings.HasSuffix(name, ".bat") {
		return true
	}
	switch name {
	case "npx", "npm", "pnpm", "pnpx", "yarn":
		return true
	}
	return false
}

// Environ gives the environment of the process, in the form of [os.Environ]:
// base, which is what the host would pass on, without EnvUnset; then EnvFrom,
// where base lacks a name and vars know it; then Env, which wins. On "windows"
// names are equal whatever their case.
func (l Launch) Environ(goos string, base []string, vars ...Vars) []string {
	key := func(name string) string {
		if goos == "windows" {
			return strings.ToUpper(name)
		}
		return name
	}
	gone := make(map[string]bool)
	for _, name := range l.EnvUnset {
		gone[key(name)] = true
	}
	for _, p := range l.Env {
		gone[key(p.Name)] = true
	}
	env := make([]string, 0, len(base)+len(l.Env))
	for _, entry := range base {
		if name := key(envName(entry)); !gone[name] {
			env = append(env, entry)
		}
	}
	have := gone
	for _, entry := range env {
		have[key(envName(entry))] = true
	}
	for _, name := range l.EnvFrom {
		if value, ok := ask(vars, name); ok && !have[key(name)] {
			have[key(name)] = true
			env = append(env, name+"="+value)
		}
	}
	for _, p := range l.Env {
		env = append(env, p.Name+"="+p.Value)
	}
	return env
}

// envName gives the name of an entry of an environment. On Windows a name may
// begin with an equals sign.
func envName(entry string) string {
	if i := strings.IndexByte(entry, '='); i > 0 {
		return entry[:i]
	} else if j := strings.IndexByte(entry[i+1:], '='); i == 0 && j >= 0 {
		return entry[:j+1]
	}
	return entry
}

func ask(vars []Vars, name string) (string, bool) {
	for _, v := range vars {
		if v == nil {
			continue
		}
		if value, _, ok := v(name); ok {
			return value, true
		}
	}
	return "", false
}

// EnvVars makes Vars of an environment in the form of [os.Environ], with the
// origin "env". For the operating system "windows" names are equal whatever
// their case. It is safe for concurrent use.
func EnvVars(goos string, environ []string) Vars {
	values := make(map[string]string, len(environ))
	key := func(name string) string { return name }
	if goos == "windows" {
		key = strings.ToUpper
	}
	for _, entry := range environ {
		name := envName(entry)
		if len(name) < len(entry) {
			values[key(name)] = entry[len(name)+1:]
		}
	}
	return func(name string) (value, origin string, ok bool) {
		value, ok = values[key(name)]
		return value, "env", ok
	}
}

// Format prints the name and transport of a launch, whatever the verb: all else
// may hold secrets.
func (l Launch) Format(state fmt.State, _ rune) {
	_, _ = fmt.Fprintf(state, "launch of %q (%s)", clip(l.Name), l.Transport)
}

// LogValue gives the name and transport of a launch.
func (l Launch) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", l.Name), slog.String("transport", string(l.Transport)))
}

// MarshalJSON gives the name and transport of a launch. Store the [Server], not
// its launch.
func (l Launch) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name      string    `json:"name"`
		Transport Transport `json:"transport"`
	}{l.Name, l.Transport})
}
