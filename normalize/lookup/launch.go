package lookup

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// A launcher is a program that fetches a package and runs it. Its options are a
// list of what is allowed: any other may change what is fetched, from where, or
// what runs beside it, and no two sources that say the same package would then say
// the same program.
type launcher struct {
	kind  string
	sub   []string // words before the options, one of which must be there
	pkg   []string // options whose value is the package
	flags []string // options without a value
	// python tells that --python and -p choose an interpreter by its version.
	python bool
	// ownValued are options with a value that only the caller's own command line
	// may have.
	ownValued []string
	// permits tells that all options that begin with --allow- are flags.
	permits bool
	// greedy tells that options behind the package are the launcher's own, up to
	// "--".
	greedy bool
}

// launchers are the programs that run packages, by the one name under which they
// are taken: under a path, anything may be called so. Words that only start with
// another program's, such as "uv tool run", are told by their sub-command.
var launchers = map[string]launcher{
	"npx":  {kind: kindNPM, pkg: npmPackage, flags: []string{"-y", "--yes", "-q", "--quiet"}},
	"npm":  {kind: kindNPM, sub: []string{"exec", "x"}, pkg: npmPackage, flags: []string{"-y", "--yes", "-q", "--quiet"}, greedy: true},
	"pnpx": {kind: kindNPM, pkg: npmPackage[1:], flags: []string{"--silent", "-s"}},
	"pnpm": {kind: kindNPM, sub: []string{"dlx"}, pkg: npmPackage[1:], flags: []string{"--silent", "-s"}},
	"bunx": {kind: kindNPM, pkg: npmPackage, flags: []string{"-y", "--yes", "--bun", "--silent"}},
	"bun":  {kind: kindNPM, sub: []string{"x"}, pkg: npmPackage, flags: []string{"-y", "--yes", "--bun", "--silent"}},
	"yarn": {kind: kindNPM, sub: []string{"dlx"}, pkg: npmPackage, flags: []string{"-q", "--quiet"}},
	"uvx":  {kind: kindPyPI, pkg: []string{"--from"}, flags: uvFlags, python: true, ownValued: []string{"--with"}},
	"uv":   {kind: kindPyPI, sub: []string{"tool run", "x"}, pkg: []string{"--from"}, flags: uvFlags, python: true, ownValued: []string{"--with"}},
	"pipx": {kind: kindPyPI, sub: []string{"run"}, pkg: []string{"--spec"}, flags: []string{"-q", "--quiet", "--no-cache"}, python: true},
	"dnx":  {kind: kindNuGet, flags: []string{"-y", "--yes"}, greedy: true},
	"go":   {kind: kindGo, sub: []string{"run"}},
	"deno": {kind: kindDeno, sub: []string{"run"}, flags: []string{"-A", "-q", "--quiet", "--no-prompt"}, permits: true},
}

var (
	npmPackage = []string{"-p", "--package"}
	uvFlags    = []string{"-q", "--quiet", "-n", "--no-cache", "--isolated", "--no-progress"}
)

// A launch is a command line of a launcher, taken apart.
type launch struct {
	pkg     string   // the package with its version
	named   bool     // the package is the value of an option
	program string   // the word after a package that an option names
	tail    []string // what the program itself gets
	refused string   // why the line is none that can be taken, or ""
}

// launcherTarget reads the package out of a command line.
func launcherTarget(s *normalize.Server) target {
	local := target{kind: kindLocal, id: s.Command, tail: s.Args}
	l, ok := launchers[s.Command]
	if !ok {
		return local
	}
	args, ok := l.afterSub(s.Args)
	if !ok {
		return local
	}
	line := l.split(args, true)
	if line.pkg == "" || isPath(l.kind, line.pkg) {
		return local
	}
	if name, _ := splitVersion(line.pkg); name == smitheryCLI && len(line.tail) > 1 && line.tail[0] == "run" {
		return target{kind: kindSmithery, id: line.tail[1], spec: line.tail[1]}
	}
	return target{kind: l.kind, id: barePackage(l.kind, line.pkg), spec: line.pkg, tail: line.tail}
}

// smitheryCLI is Smithery's own program, which runs a server by its name.
const smitheryCLI = "@smithery/cli"

// isPath tells a folder or file of the machine from a package that others can
// get.
func isPath(kind, pkg string) bool {
	switch {
	case strings.HasPrefix(pkg, ".") || strings.HasPrefix(pkg, "/") || strings.HasPrefix(pkg, "~") || strings.HasPrefix(pkg, "file:") || strings.Contains(pkg, "\\"):
		return true
	case kind == kindGo:
		return !strings.Contains(pkg, "@")
	case kind == kindDeno:
		return !strings.Contains(pkg, ":")
	}
	return false
}

// afterSub gives the arguments after the sub-command that makes the program a
// launcher.
func (l launcher) afterSub(args []string) ([]string, bool) {
	if l.sub == nil {
		return args, true
	}
	for _, sub := range l.sub {
		words := strings.Fields(sub)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == sub {
			return args[len(words):], true
		}
	}
	return nil, false
}

// split finds the package, and what the program itself gets. Own tells a command
// line of the caller from one of a source.
func (l launcher) split(args []string, own bool) launch {
	var out launch
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, joined := strings.Cut(arg, "=")
		valued := slices.Contains(l.pkg, name) || l.isValued(name, own)
		switch {
		case arg == "--" && i+1 < len(args):
			out.tail = args[i+2:]
			out.place(args[i+1])
			return out
		case !strings.HasPrefix(arg, "-"):
			out.tail = args[i+1:]
			out.place(arg)
			out.refuse(l.greedyOption(out.tail))
			return out
		case valued && !joined && i+1 < len(args):
			i++
			out.option(l, name, args[i])
		case valued && joined:
			out.option(l, name, value)
		case slices.Contains(l.flags, arg) || l.permits && strings.HasPrefix(arg, "--allow-"):
		default:
			out.refuse(arg)
		}
	}
	return out
}

// place takes the first word that is no option: the package, or the program of
// a package that an option named.
func (o *launch) place(word string) {
	if o.named {
		o.program = word
	} else {
		o.pkg = word
	}
}

// option takes an option with its value.
func (o *launch) option(l launcher, name, value string) {
	switch {
	case !slices.Contains(l.pkg, name):
		if l.python && !slices.Contains(l.ownValued, name) && !pythonVersion.MatchString(value) {
			o.refuse(name)
		}
	case o.named:
		o.refuse(name) // a second package, which may hold the program
	default:
		o.pkg, o.named = value, true
	}
}

// refuse keeps the first option that a line is refused for. Its value is left
// out, since it may hold anything.
func (o *launch) refuse(option string) {
	if option != "" && o.refused == "" {
		name, _, _ := strings.Cut(option, "=")
		o.refused = "the option " + clip(name) + " of the launcher, which may change what runs"
	}
}

// isValued tells an option with a value that is allowed.
func (l launcher) isValued(name string, own bool) bool {
	return l.python && (name == "--python" || name == "-p") || own && slices.Contains(l.ownValued, name)
}

// greedyOption gives the first option behind the package that is the launcher's
// own and not allowed, or "".
func (l launcher) greedyOption(tail []string) string {
	if !l.greedy {
		return ""
	}
	for _, arg := range tail {
		switch {
		case arg == "--":
			return ""
		case strings.HasPrefix(arg, "-") && !slices.Contains(l.flags, arg):
			return arg
		}
	}
	return ""
}

// refusal says why the programs of a record cannot be taken, or "". Own is as in
// split, and declared is set where the source names the package's programs itself.
func refusal(s *normalize.Server, own, declared bool) string {
	if s.Equivalent != nil {
		if why := refusal(s.Equivalent, own, declared); why != "" {
			return why
		}
	}
	switch {
	case s.Command == "":
		return addressRefusal(s.URL)
	case s.Image != "":
		return containerRefusal(s)
	}
	l, ok := launchers[s.Command]
	if !ok {
		return "a program that is no launcher of packages"
	}
	args, ok := l.afterSub(s.Args)
	if !ok {
		return "a program of a working copy"
	}
	line := l.split(args, own)
	switch {
	case line.refused != "":
		return line.refused
	case !isSpec(l.kind, line.pkg):
		return "a package with what is no name or version"
	case line.program != "" && !declared && !belongs(line.program, barePackage(l.kind, line.pkg)):
		return "a program " + clip(line.program) + " that does not bear its package's name"
	}
	return smitheryRefusal(line.pkg, line.tail)
}

// smitheryRefusal says why what Smithery's program is to run cannot be taken, or
// "", as for any other package.
func smitheryRefusal(pkg string, tail []string) string {
	if name, _ := splitVersion(pkg); name != smitheryCLI || len(tail) < 2 || tail[0] != "run" {
		return ""
	}
	if _, err := ownedReference(refSmithery, strings.TrimPrefix(tail[1], "@")); err != nil {
		return "a server of Smithery without a name"
	}
	return ""
}

// addressRefusal says why an address cannot be taken, or "". References may stand
// in it: the registry's addresses have such.
func addressRefusal(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	switch {
	case !slices.Contains([]string{"http", "https", "ws", "wss"}, strings.ToLower(scheme)), host == "":
		return "an address that is none of the web"
	case strings.ContainsAny(address, "<>\"\\` \t"), strings.Contains(address, "{{"):
		return "an address to be filled in"
	}
	return ""
}

var (
	pythonVersion = regexp.MustCompile(`^(?:(?:c?python|pypy)@?)?[0-9]{1,2}(?:\.[0-9]{1,3}){0,2}$`)
	goModule      = regexp.MustCompile(`^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)
	extras        = regexp.MustCompile(`^[A-Za-z0-9._-]+(?:,[A-Za-z0-9._-]+)*\]$`)
)

// isSpec tells a package, with or without a version, as its ecosystem names it.
// Where a repository stands in place of a name it has to be one of GitHub, whose
// owner says who publishes it.
func isSpec(kind, spec string) bool {
	name, version := splitVersion(spec)
	switch kind {
	case kindGo:
		return goModule.MatchString(name) && version != "" && isVersion(version)
	case kindDeno:
		prefix, rest, _ := strings.Cut(spec, ":")
		name, version = splitVersion(rest)
		return (prefix == "npm" || prefix == "jsr") && packageText.MatchString(name) && isVersion(version)
	}
	if strings.Contains(spec, ":") {
		return isRepositorySpec(spec)
	}
	if kind == kindPyPI {
		bare, optional, found := strings.Cut(name, "[")
		if found && !extras.MatchString(optional) {
			return false
		}
		name = bare
	}
	return packageText.MatchString(name) && (kind == kindNPM || !strings.Contains(name, "/")) && isVersion(version)
}

// isRepositorySpec tells a repository of GitHub in place of a package.
func isRepositorySpec(spec string) bool {
	if strings.ContainsAny(spec, "?%\\") || strings.Contains(spec, "..") {
		return false
	}
	ref, err := parseReference(specAddress(spec))
	return err == nil && ref.kind == refGitHub
}

// specAddress cuts the branch from a repository in place of a package.
func specAddress(spec string) string {
	address, _, _ := strings.Cut(spec, "#")
	if i := strings.LastIndexByte(address, '@'); i > strings.LastIndexByte(address, '/') && strings.Contains(address, "/") {
		address = address[:i]
	}
	return address
}

// interpreters run anything that follows them.
var interpreters = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "pwsh", "powershell", "cmd", "node", "deno", "bun", "python", "python3", "perl", "ruby", "php", "env", "curl", "wget", "npm", "npx", "uv", "uvx", "pip"}

// belongs tells whether a program is likely one of its package, and no other that
// the launcher would find on the machine: one bears the other's name.
func belongs(program, pkg string) bool {
	if !packageText.MatchString(program) || slices.Contains(interpreters, strings.ToLower(program)) {
		return false
	}
	if u, err := url.Parse(pkg); err == nil && strings.Contains(pkg, ":") {
		pkg = strings.TrimSuffix(specAddress(u.Opaque+u.Path), ".git")
	}
	return overlap(squeeze(pkg), squeeze(program))
}

// minName is the length from which on a name tells something.
const minName = 3

// overlap tells whether one name holds the other or a telling word of it.
func overlap(a, b string) bool {
	if len(a) >= minName && strings.Contains(b, a) || len(b) >= minName && strings.Contains(a, b) {
		return true
	}
	return slices.ContainsFunc(telling(a), func(w string) bool { return strings.Contains(b, w) })
}

// squeeze makes names equal that differ in case and in the signs between words.
func squeeze(name string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
}
