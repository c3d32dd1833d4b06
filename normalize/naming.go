package normalize

import (
	"strconv"
	"strings"
)

// nameIt names a record that the paste did not name.
func (e *draft) nameIt() {
	if e.at.named {
		return
	}
	e.s.Name = generatedName(&e.s)
	if e.s.Name == "" {
		e.s.Name = fileStem(e.r.opts.Name)
	}
	if e.s.Name == "" {
		e.s.Name = "server-" + strconv.Itoa(len(e.r.paste.Servers)+1)
	}
	e.note(NameGenerated, "", e.off)
}

// generatedName names a server after its package, its program or its host.
func generatedName(s *Server) string {
	if s.Command == "" {
		return hostName(s.URL)
	}
	if i, _ := dockerRun(s.Command, s.Args); i >= 0 {
		return bareImage(s.Args[i])
	}
	if pkg := packageOf(s.Command, s.Args); pkg != "" {
		return barePackage(pkg)
	}
	return programName(s.Command)
}

// runners are the programs that start a package, with the words that come
// before its name.
var runners = map[string][]string{
	"npx": {""}, "bunx": {""}, "pnpx": {""}, "uvx": {""}, "dnx": {""}, "pipx": {"run"},
	"pnpm": {"dlx", "exec"}, "yarn": {"dlx", "exec"}, "npm": {"exec", "x"}, "bun": {"x"}, "uv": {"tool run"},
}

// packageOf gives the package that a command line starts, or the program of it
// where that has a name of its own; "" when it starts none.
func packageOf(command string, args []string) string {
	words, ok := runners[programName(command)]
	if !ok {
		return ""
	}
	for _, word := range words {
		rest := args
		fits := true
		for w := range strings.FieldsSeq(word) {
			for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
				rest = rest[1:]
			}
			if fits = fits && len(rest) > 0 && rest[0] == w; fits {
				rest = rest[1:]
			}
		}
		if fits {
			return firstPackage(rest)
		}
	}
	return ""
}

// packageOptions are the options of package runners that take a value, and
// whether that value is a package.
var packageOptions = map[string]bool{
	"-p": true, "--package": true, "--from": false, "--with": false, "--python": false, "--index-url": false,
	"--registry": false, "--cache": false, "--userconfig": false, "--directory": false, "--spec": false, "-w": false,
	"--index": false, "--extra-index-url": false, "--default-index": false,
}

func firstPackage(args []string) string {
	named := ""
	for i := 0; i < len(args); i++ {
		arg := args[i]
		isPackage, takesValue := packageOptions[arg]
		switch {
		case takesValue && i+1 < len(args):
			i++
			if isPackage {
				named = args[i]
			}
		case strings.HasPrefix(arg, "--package="):
			named = arg[len("--package="):]
		case strings.HasPrefix(arg, "-"):
		default:
			return arg
		}
	}
	return named
}

// barePackage cuts scope and version from the name of a package.
func barePackage(pkg string) string {
	pkg = packageName(pkg)
	if i := strings.Index(pkg, "=="); i > 0 {
		pkg = pkg[:i]
	}
	pkg = strings.TrimSuffix(strings.TrimSuffix(baseName(pkg), ".git"), ".tgz")
	if i := strings.IndexByte(pkg, '['); i > 0 {
		pkg = pkg[:i]
	}
	return pkg
}

// bareImage cuts registry, owner, tag and digest from the name of an image.
func bareImage(image string) string {
	image, _, _ = strings.Cut(image, "@")
	image = baseName(image)
	image, _, _ = strings.Cut(image, ":")
	return image
}

// hostName gives the first label of an address's host that says something.
func hostName(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if host, _, ok := strings.Cut(rest, ":"); ok {
		rest = host
	}
	for label := range strings.SplitSeq(rest, ".") {
		switch low := strings.ToLower(label); {
		case low == "mcp" || low == "www" || low == "api" || low == "" || strings.ContainsAny(low, "${}<>[]"):
		default:
			return label
		}
	}
	return ""
}

// fileStem gives a file's name without folder and suffix.
func fileStem(name string) string {
	name = baseName(name)
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return strings.Trim(name, ".")
}
