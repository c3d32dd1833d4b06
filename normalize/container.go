package normalize

import (
	"strings"
)

// dockerFlags are the options of docker run, long and short, that take no
// value. All others take one.
var dockerFlags = map[string]bool{
	"--rm": true, "--init": true, "--interactive": true, "--tty": true, "--detach": true, "--privileged": true,
	"--read-only": true, "--publish-all": true, "--no-healthcheck": true, "--oom-kill-disable": true,
	"--quiet": true, "--sig-proxy": true, "--help": true, "--disable-content-trust": true, "--replace": true,
}

// dockerRun reads the arguments of docker run: the index of the image, or -1,
// and the names of the variables that the container gets from docker's own
// environment.
func dockerRun(command string, args []string) (image int, env []string) {
	i := afterRun(command, args)
	if i < 0 {
		return -1, nil
	}
	for ; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "--"; i++ {
		arg := args[i]
		value, next := dockerValue(arg)
		if next && i+1 < len(args) {
			i++
			value = args[i]
		}
		if isEnvOption(arg) && nameLen(value) == len(value) && value != "" {
			env = append(env, value)
		}
	}
	if i < len(args) && args[i] == "--" {
		i++
	}
	if i >= len(args) {
		return -1, env
	}
	return i, env
}

// afterRun is the index of the argument after "run" of a container program, or
// -1.
func afterRun(command string, args []string) int {
	if name := programName(command); name != "docker" && name != "podman" {
		return -1
	}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "run":
			return i + 1
		case arg == "--context" || arg == "-c" || arg == "--host" || arg == "-H" || arg == "--config":
			i++
		case arg != "container" && !strings.HasPrefix(arg, "-"):
			return -1
		}
	}
	return -1
}

// dockerValue gives the value that stands in an option itself, or says that it
// is the next argument.
func dockerValue(arg string) (value string, next bool) {
	if strings.HasPrefix(arg, "--") {
		if _, value, ok := strings.Cut(arg, "="); ok {
			return value, false
		}
		return "", !dockerFlags[arg]
	}
	for i := 1; i < len(arg); i++ {
		if strings.IndexByte("itdPq", arg[i]) >= 0 {
			continue
		}
		return strings.TrimPrefix(arg[i+1:], "="), i+1 == len(arg)
	}
	return "", false
}

func isEnvOption(arg string) bool {
	return arg == "--env" || strings.HasPrefix(arg, "--env=") ||
		strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasPrefix(strings.TrimLeft(arg[1:], "itdPq"), "e")
}

// checkContainer finds the image of a container.
func (e *draft) checkContainer() {
	if i, _ := dockerRun(e.s.Command, e.s.Args); i >= 0 {
		e.s.Image = e.s.Args[i]
	}
}
