package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

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

// isDangerousEnv tells whether a variable changes what is loaded or run.
func isDangerousEnv(name string) bool {
	name = strings.ToUpper(name)
	return dangerousEnv[name] || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// checksTLS tells whether a variable with this value leaves certificates
// checked.
func checksTLS(name, value string) bool {
	switch strings.ToUpper(name) {
	case "NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY", "VERIFY_SSL", "SSL_VERIFY":
		return value != "0" && !strings.EqualFold(value, "false")
	case "GIT_SSL_NO_VERIFY":
		return value == "" || value == "0" || strings.EqualFold(value, "false")
	}
	return true
}

// checkEnv notes variables that are dangerous.
func (e *draft) checkEnv() {
	for _, v := range e.env {
		if isDangerousEnv(v.name) {
			e.note(DangerousEnv, v.name, v.off)
		}
		if !checksTLS(v.name, v.text) {
			e.note(TLSVerifyOff, "", v.off)
		}
	}
}

// checkTLS notes a field that leaves certificates unchecked.
func (e *entry) checkTLS() {
	for i := range e.hits {
		h := &e.hits[i]
		if h.role == roleVerifyTLS && h.node.Kind == syntax.Bool && h.node.True() == insecureName(h.name) {
			e.note(TLSVerifyOff, "", h.off)
		}
	}
}

// insecureName tells whether a field switches the check off when it is true.
func insecureName(name string) bool {
	name = squash(name[strings.LastIndexByte(name, '.')+1:])
	return strings.Contains(name, "insecure") || strings.Contains(name, "skip")
}

// secretName tells whether a variable or header of this name holds a secret.
func secretName(name string) bool {
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

// minSecret is the length from which a literal counts as a secret.
const minSecret = 8

// checkSecret notes a secret that stands in the paste in clear: no reference,
// no command, no placeholder.
func (e *draft) checkSecret(f fieldPath, name string, v val) {
	if !secretName(name) || v.own || len(v.text) < minSecret || holdsRef(v.text) || isPlaceholder(v.text, e.d.id) {
		return
	}
	e.note(SecretInline, f.String(), v.off)
}

// holdsRef tells whether a value holds anything that stands for another value.
func holdsRef(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '$':
			var r ref
			scanRef(s[i:], &r)
			if r.kind != refText && (r.kind != refBare || isUpper(r.name)) && r.size > 2 {
				return true
			}
			i += r.size - 1
		case '`':
			if n := strings.IndexByte(s[i+1:], '`'); n > 0 {
				return true
			}
		case '{':
			if strings.HasPrefix(s[i:], "{env:") || strings.HasPrefix(s[i:], "{file:") {
				return true
			}
		case '%':
			var r ref
			if scanPercent(s[i:], &r); r.kind == refPercent {
				return true
			}
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

// checkURL notes secrets in an address, and an address of another kind.
func (e *draft) checkURL() {
	address := e.s.URL
	if address == "" {
		return
	}
	scheme, rest, ok := strings.Cut(address, ":")
	switch low := strings.ToLower(scheme); {
	case !ok || !isScheme(low):
		if !strings.HasPrefix(address, "${") && !isPlaceholder(address, e.d.id) {
			e.note(URLSchemeNotHTTP, "none", e.url.off)
		}
	case low == "http" || low == "https" || low == "ws" || low == "wss":
	case strings.HasPrefix(rest, "/"):
		e.note(URLSchemeNotHTTP, low, e.url.off)
	default:
		e.note(URLSchemeNotHTTP, "none", e.url.off) // host:port
	}
	for _, part := range urlSecrets(address) {
		e.note(SecretInURL, part, e.url.off)
	}
	e.smitheryHost(address)
}

func isScheme(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && (i == 0 || strings.IndexByte("+-.", s[i]) < 0) {
			return false
		}
	}
	return s != ""
}

// urlSecrets names the parts of an address that are the places of secrets:
// "userinfo", and parameters.
func urlSecrets(address string) []string {
	var parts []string
	_, rest, _ := strings.Cut(address, ":")
	authority := strings.TrimPrefix(rest, "//")
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 && strings.Contains(authority[:i], ":") {
		parts = append(parts, "userinfo")
	}
	_, query, _ := strings.Cut(address, "?")
	query, _, _ = strings.Cut(query, "#")
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		if value != "" && (secretName(name) || secretParameters[strings.ToLower(name)]) {
			parts = append(parts, clip(name))
		}
	}
	return parts
}

// archived are the reference servers that are no longer kept, with their
// successors, or "" where none is known. Source: the README of
// modelcontextprotocol/servers.
var archived = map[string]string{
	"@modelcontextprotocol/server-aws-kb-retrieval": "",
	"@modelcontextprotocol/server-brave-search":     "brave/brave-search-mcp-server",
	"@modelcontextprotocol/server-everart":          "",
	"@modelcontextprotocol/server-github":           "github/github-mcp-server",
	"@modelcontextprotocol/server-gitlab":           "",
	"@modelcontextprotocol/server-gdrive":           "",
	"@modelcontextprotocol/server-google-maps":      "",
	"@modelcontextprotocol/server-postgres":         "",
	"@modelcontextprotocol/server-puppeteer":        "microsoft/playwright-mcp",
	"@modelcontextprotocol/server-redis":            "redis/mcp-redis",
	"@modelcontextprotocol/server-slack":            "zencoderai/slack-mcp-server",
	"mcp-server-sentry":                             "getsentry/sentry-mcp",
	"mcp-server-sqlite":                             "",
}

// invented are names that stand in public configurations and never existed.
var invented = map[string]bool{
	"@anthropic-ai/mcp-filesystem-server": true, "@anthropic/mcp-filesystem-server": true, "@anthropic/mcp-memory": true,
	"@modelcontextprotocol/server-git": true, "@modelcontextprotocol/server-fetch": true,
}

// checkPackage notes packages that should not be run.
func (e *draft) checkPackage() {
	pkg := packageName(packageOf(e.s.Command, e.s.Args))
	successor, old := archived[pkg]
	switch {
	case invented[pkg]:
		e.note(InventedPackage, pkg, e.command.off)
	case old:
		e.note(ArchivedPackage, pkg, e.command.off)
		message := "the package is archived and no longer mended"
		if successor != "" {
			message += "; its successor is " + successor
		}
		e.s.Notes[len(e.s.Notes)-1].Message = message
	}
}
