// Package risk tells from the name of a variable whether a value is dangerous. It
// holds the one opinion on that which reading and looking up share.
package risk

import "strings"

// dangerousEnv are variables that change which code a program loads or runs.
var dangerousEnv = map[string]bool{
	"PATH": true, "PATHEXT": true, "COMSPEC": true, "SHELL": true, "IFS": true, "ENV": true, "BASH_ENV": true,
	"SHELLOPTS": true, "BASHOPTS": true, "PROMPT_COMMAND": true, "ZDOTDIR": true,
	"NODE_OPTIONS": true, "NODE_PATH": true, "NODE_EXTRA_CA_CERTS": true, "ELECTRON_RUN_AS_NODE": true,
	"NPM_CONFIG_REGISTRY": true, "NPM_CONFIG_USERCONFIG": true,
	"PYTHONPATH": true, "PYTHONHOME": true, "PYTHONSTARTUP": true, "PYTHONINSPECT": true, "PYTHONBREAKPOINT": true,
	"PERL5LIB": true, "PERL5OPT": true, "PERLLIB": true, "RUBYOPT": true, "RUBYLIB": true, "GEM_PATH": true, "GEM_HOME": true,
	"CLASSPATH": true, "JAVA_TOOL_OPTIONS": true, "_JAVA_OPTIONS": true, "JDK_JAVA_OPTIONS": true, "JAVA_OPTS": true,
	"GOFLAGS": true, "GOROOT": true, "DOTNET_STARTUP_HOOKS": true, "DOTNET_ADDITIONAL_DEPS": true, "APPINIT_DLLS": true,
	"GIT_SSH": true, "GIT_SSH_COMMAND": true, "GIT_EXEC_PATH": true, "GIT_EXTERNAL_DIFF": true, "GIT_ASKPASS": true,
	"UV_INDEX_URL": true, "UV_DEFAULT_INDEX": true, "PIP_INDEX_URL": true, "GCONV_PATH": true,
}

// DangerousEnv tells whether a variable changes what is loaded or run.
func DangerousEnv(name string) bool {
	name = strings.ToUpper(name)
	return dangerousEnv[name] || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}
