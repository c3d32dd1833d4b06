package lookup

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// Options of a container that a source may give. Everything else, such as folders
// of the machine, its network or another program, is refused.
var (
	containerFlags  = []string{"--interactive", "--tty", "--rm", "--init", "--quiet", "--read-only"}
	containerValues = map[string]*regexp.Regexp{
		"--name":         regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`),
		"--platform":     regexp.MustCompile(`^[a-z0-9]+(?:/[a-z0-9]+){0,2}$`),
		"--pull":         regexp.MustCompile(`^(?:always|missing|never)$`),
		"--network":      regexp.MustCompile(`^(?:none|bridge)$`),
		"--memory":       regexp.MustCompile(`^[0-9]+[bkmgBKMG]?$`),
		"-m":             regexp.MustCompile(`^[0-9]+[bkmgBKMG]?$`),
		"--cpus":         regexp.MustCompile(`^[0-9.]+$`),
		"--pids-limit":   regexp.MustCompile(`^[0-9]+$`),
		"--cap-drop":     regexp.MustCompile(`^[A-Za-z_]+$`),
		"--security-opt": regexp.MustCompile(`^no-new-privileges(?::true)?$`),
	}
	// An image may have a host, a tag and a digest; how long that is, is the
	// program's to tell.
	imageSpec  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(?::[0-9]+)?(?:/[a-z0-9][a-z0-9._-]*)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{1,64})?$`)
	shortFlags = regexp.MustCompile(`^-[itq]+$`)
)

// An imageLine is a command line that runs an image, taken apart.
type imageLine struct {
	image   int // the index of the image, or -1
	vars    []imageVariable
	refused string // the option that it is refused for, or ""
}

// An imageVariable is one that a command line gives a container.
type imageVariable struct {
	index int // of the last argument that it takes
	width int // how many arguments it takes
	name  string
	value string
	given bool // a value stands on the command line
}

// readImageLine takes the command line of a container program apart.
func readImageLine(args []string) imageLine {
	out := imageLine{image: -1}
	i := 1
	if len(args) > 0 && args[0] == "container" {
		i = 2
	}
	if len(args) < i || args[i-1] != "run" {
		out.refused = "options before run"
		return out
	}
	for ; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--" && i+1 < len(args):
			out.image = i + 1
			return out
		case !strings.HasPrefix(arg, "-"):
			out.image = i
			return out
		case isVariableOption(arg):
			i = out.variable(args, i)
		default:
			n := containerOption(args[i:])
			if n == 0 {
				name, _, _ := strings.Cut(arg, "=")
				out.refused = clip(name)
				return out
			}
			i += n - 1
		}
	}
	return out
}

// containerOption is the number of arguments that an allowed option takes, or 0
// for any other.
func containerOption(args []string) int {
	name, value, joined := strings.Cut(args[0], "=")
	pattern := containerValues[name]
	switch {
	case pattern != nil && joined && pattern.MatchString(value):
		return 1
	case pattern != nil && !joined && len(args) > 1 && pattern.MatchString(args[1]):
		return 2
	case slices.Contains(containerFlags, args[0]), shortFlags.MatchString(args[0]):
		return 1
	}
	return 0
}

// isVariableOption tells the option that gives a variable, alone or behind flags
// without a value.
func isVariableOption(arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return arg == "--env" || strings.HasPrefix(arg, "--env=")
	}
	return strings.HasPrefix(strings.TrimLeft(arg[1:], "itq"), "e")
}

// variable reads the variable whose option is argument i, and gives the last
// argument that it takes.
func (l *imageLine) variable(args []string, i int) int {
	arg, v := args[i], imageVariable{index: i, width: 1}
	text, joined := strings.CutPrefix(arg, "--env=")
	if !joined {
		_, text, _ = strings.Cut(arg, "e")
		text = strings.TrimPrefix(text, "=")
		if arg == "--env" || text == "" {
			if i+1 == len(args) {
				return i
			}
			v.index, v.width, text = i+1, 2, args[i+1]
		}
	}
	v.name, v.value, v.given = strings.Cut(text, "=")
	l.vars = append(l.vars, v)
	return v.index
}

// containerRefusal says why the command line of an image cannot be taken, or "".
func containerRefusal(s *normalize.Server) string {
	if s.Command != "docker" && s.Command != "podman" {
		return "a program that is no launcher of images"
	}
	line := readImageLine(s.Args)
	switch {
	case line.refused != "":
		return "the option " + line.refused + " of a container, which may open the machine to it or change what runs"
	case line.image < 0 || !imageSpec.MatchString(s.Args[line.image]) || s.Args[line.image] != s.Image:
		return "an image with what is no name or version"
	case slices.ContainsFunc(line.vars, func(v imageVariable) bool { return !envName.MatchString(v.name) }):
		return "a container's variable without a name"
	}
	return ""
}
