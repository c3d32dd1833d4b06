package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/normalize/internal/risk"
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

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
		if risk.DangerousEnv(v.name) {
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

// minSecret is the length from which a literal counts as a secret.
const minSecret = 8

// checkSecret notes a secret that stands in the paste in clear: no reference,
// no command, no placeholder.
func (e *draft) checkSecret(f fieldPath, name string, v val) {
	if !secrets.Noted(name) || v.own || len(v.text) < minSecret || holdsRef(v.text) || isPlaceholder(v.text, e.d.id) {
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
		if value != "" && secrets.NotedParameter(name) {
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
