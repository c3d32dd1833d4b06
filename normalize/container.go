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
	if name := programName(command); name != "docker" && name != "podman" {
		return -1, nil
	}
	i := 0
	for i < len(args) && (args[i] == "container" || strings.HasPrefix(args[i], "-")) {
		i++
	}
	if i == len(args) || args[i] != "run" {
		return -1, nil
	}
	for i++; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			return i, env
		}
		if arg == "--" {
			if i+1 < len(args) {
				return i + 1, env
			}
			return -1, env
		}
		value, own := dockerValue(arg)
		if own && i+1 < len(args) {
			i++
			value = args[i]
		}
		if isEnvOption(arg) && value != "" && !strings.Contains(value, "=") {
			env = append(env, value)
		}
	}
	return -1, env
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
