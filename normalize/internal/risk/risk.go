// Package risk tells from a name whether a value is dangerous or a secret. It
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

// SecretName tells whether a variable or header of this name holds a secret.
func SecretName(name string) bool {
	for _, whole := range []string{"authorization", "proxy-authorization", "cookie"} {
		if strings.EqualFold(name, whole) {
			return true
		}
	}
	for _, end := range []string{"token", "secret", "password", "passwd", "key"} {
		if len(name) >= len(end) && strings.EqualFold(name[len(name)-len(end):], end) {
			return true
		}
	}
	return false
}

// secretParameters are names of query parameters that hold a secret although
// they do not end like one.
var secretParameters = map[string]bool{
	"auth": true, "authorization": true, "sig": true, "signature": true, "pwd": true, "pw": true, "credential": true,
	"credentials": true, "bearer": true, "jwt": true, "pat": true,
}

// SecretParameter tells whether a query parameter of this name holds a secret.
func SecretParameter(name string) bool {
	return SecretName(name) || secretParameters[strings.ToLower(name)]
}
