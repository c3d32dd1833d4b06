package lookup

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// Kinds of targets: the ecosystem of a package, or where a server runs.
const (
	kindNPM      = "npm"
	kindPyPI     = "pypi"
	kindOCI      = "oci"
	kindNuGet    = "nuget"
	kindGo       = "go"
	kindDeno     = "deno"
	kindRemote   = "remote"
	kindSmithery = "smithery"
	kindLocal    = "local" // a program of the machine, or a file of a working copy
)

// preferred is the order in which the ways to run one server are taken where a
// source gives several: packages, then containers, then addresses.
var preferred = [...]string{kindNPM, kindPyPI, kindNuGet, kindGo, kindDeno, kindOCI, kindSmithery, kindRemote}

// A target is what a record runs or reaches, without its version, so that two
// sources can be compared. It is read from the record and not from the source's
// own fields: the record is what will be run.
type target struct {
	kind string
	id   string
	spec string   // id as it is written, with its version
	tail []string // the arguments of the program itself
}

// String names a target in evidence, in a form that is short and on one line.
func (t target) String() string { return t.kind + " " + clip(t.id) }

// targetOf reads the target of a record.
func targetOf(s *normalize.Server) target {
	switch {
	case s.Equivalent != nil:
		return targetOf(s.Equivalent)
	case s.Command == "" && s.URL != "":
		return remoteTarget(s.URL)
	case s.Image != "":
		return imageTarget(s)
	}
	return launcherTarget(s)
}

// remoteTarget is an address; one of the same machine is nothing that others
// can reach.
func remoteTarget(address string) target {
	t := target{kind: kindRemote, id: bareURL(address), spec: address}
	if u, err := url.Parse(t.id); err == nil {
		if host := u.Hostname(); host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1" || host == "0.0.0.0" {
			t.kind = kindLocal
		}
	}
	return t
}

// bareURL makes addresses of one server equal: without query, and without what
// the case of a host or a last slash changes.
func bareURL(s string) string {
	s, _, _ = strings.Cut(s, "?")
	s, _, _ = strings.Cut(s, "#")
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		u.User, u.Host, u.Scheme = nil, strings.ToLower(u.Host), strings.ToLower(u.Scheme)
		s = u.String()
	}
	return strings.TrimRight(s, "/")
}

// imageTarget reads what a container line runs: the image, and what follows it.
func imageTarget(s *normalize.Server) target {
	t := target{kind: kindOCI, id: bareImage(s.Image), spec: s.Image}
	for i, arg := range s.Args {
		if arg == s.Image {
			t.tail = s.Args[i+1:]
			break
		}
	}
	return t
}

// bareImage cuts the tag and the digest.
func bareImage(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

// A launcher is a program that fetches a package and runs it.
type launcher struct {
	kind   string
	sub    []string // words before the options, one of which must be there
	pkg    []string // options whose value is the package
	valued []string // other options with a value
}

// launchers are the programs that run packages. Words that only start with
// another program's, such as "uv tool run", are told by their sub-command.
var launchers = map[string]launcher{
	"npx":  {kind: kindNPM, pkg: []string{"-p", "--package"}, valued: []string{"-c", "--call", "-w", "--workspace"}},
	"pnpx": {kind: kindNPM, pkg: []string{"--package"}},
	"bunx": {kind: kindNPM, pkg: []string{"-p", "--package"}},
	"npm":  {kind: kindNPM, sub: []string{"exec", "x"}, pkg: []string{"-p", "--package"}},
	"pnpm": {kind: kindNPM, sub: []string{"dlx"}, pkg: []string{"--package"}},
	"yarn": {kind: kindNPM, sub: []string{"dlx"}, pkg: []string{"-p", "--package"}},
	"bun":  {kind: kindNPM, sub: []string{"x"}, pkg: []string{"-p", "--package"}},
	"uvx":  {kind: kindPyPI, pkg: []string{"--from"}, valued: []string{"--with", "--python", "-p", "--index-url", "--index"}},
	"uv":   {kind: kindPyPI, sub: []string{"tool run", "x"}, pkg: []string{"--from"}, valued: []string{"--with", "--python", "-p"}},
	"pipx": {kind: kindPyPI, sub: []string{"run"}, pkg: []string{"--spec"}, valued: []string{"--python"}},
	"dnx":  {kind: kindNuGet},
	"go":   {kind: kindGo, sub: []string{"run"}},
	"deno": {kind: kindDeno, sub: []string{"run"}},
}

// launcherTarget reads the package out of a command line.
func launcherTarget(s *normalize.Server) target {
	local := target{kind: kindLocal, id: s.Command, tail: s.Args}
	l, ok := launchers[strings.TrimSuffix(path.Base(strings.ToLower(s.Command)), ".exe")]
	if !ok {
		return local
	}
	args, ok := l.afterSub(s.Args)
	if !ok {
		return local
	}
	pkg, tail := l.split(args)
	if pkg == "" || isPath(l.kind, pkg) {
		return local
	}
	if name, _ := splitVersion(pkg); name == "@smithery/cli" && len(tail) > 1 && tail[0] == "run" {
		return target{kind: kindSmithery, id: tail[1], spec: tail[1]}
	}
	return target{kind: l.kind, id: barePackage(l.kind, pkg), spec: pkg, tail: tail}
}

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

// split finds the package, and what the program itself gets.
func (l launcher) split(args []string) (pkg string, tail []string) {
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
		case !strings.HasPrefix(args[i], "-"):
			if pkg == "" {
				return args[i], args[i+1:]
			}
			return pkg, args[i+1:] // the word is the program inside the package
		case slices.Contains(l.pkg, name) && joined:
			pkg = value
		case slices.Contains(l.pkg, name) && i+1 < len(args):
			i++
			pkg = args[i]
		case slices.Contains(l.valued, name) && !joined:
			i++
		}
	}
	return pkg, nil
}

// barePackage gives the name under which two sources mean the same package.
func barePackage(kind, pkg string) string {
	name, _ := splitVersion(pkg)
	if kind != kindPyPI || strings.ContainsAny(name, ":/") {
		return name
	}
	name, _, _ = strings.Cut(name, "[")
	// PyPI knows one package under every case and any run of these characters.
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	return strings.Join(parts, "-")
}

// splitVersion cuts "@version" or "==version" from a package. Addresses and
// paths have no version.
func splitVersion(pkg string) (name, version string) {
	if strings.Contains(pkg, ":") {
		return pkg, ""
	}
	if name, version, ok := strings.Cut(pkg, "=="); ok && name != "" {
		return name, version
	}
	if i := strings.IndexAny(pkg, "=<>!"); i > 0 { // ranges of PyPI, which are no version
		return strings.TrimSuffix(pkg[:i], "~"), pkg[i:]
	}
	if i := strings.LastIndexByte(pkg, '@'); i > 0 {
		return pkg[:i], pkg[i+1:]
	}
	return pkg, ""
}
