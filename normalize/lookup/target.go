package lookup

import (
	"net/url"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
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
func (t target) String() string {
	if t.kind == kindRemote {
		return t.kind + " " + clip(secrets.Redact(t.id))
	}
	return t.kind + " " + clip(t.id)
}

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
