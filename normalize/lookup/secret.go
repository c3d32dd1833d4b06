package lookup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/normalize/internal/risk"
)

var (
	// onlyReferences tells a value that holds nothing of its own but the scheme of a
	// header: references without defaults.
	onlyReferences = regexp.MustCompile(`^(?:[Bb]earer |[Bb]asic |[Tt]oken )?(?:\$\{(?:input:)?[^{}:]+\})+$`)
	parameters     = regexp.MustCompile(`[?&#][^=&#?\s]+=[^&#\s]*`)
	defaults       = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*:-[^{}]*\}`)
	plainReference = regexp.MustCompile(`\$\{(?:input:)?[^{}:]+\}`)
	schemeName     = regexp.MustCompile(`^(?i:bearer|basic)$`)
	schemeWord     = regexp.MustCompile(`^[A-Za-z]{1,16}$`)
	addresses      = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
)

// isSecret tells whether a value is or holds a secret, by its name or its shape, or
// stands where one has to be filled in.
func isSecret(name, value string) bool {
	found := isFilled(name, value) || addresses.MatchString(value) && strings.Contains(value, "@")
	secrets.Replace(value, func(_, piece string) string {
		found = true
		return piece
	})
	return found
}

// isFilled is isSecret for a value that is no more than that.
func isFilled(name, value string) bool {
	value = strings.TrimSpace(value)
	return secrets.Is(name, value) || secrets.Noted(name) && secrets.StandsIn(value)
}

// cutPair cuts NAME=value, Name: value and --option=value. The name of an option
// that holds such a pair is a part of the name.
func cutPair(arg string) (name, value, sep string) {
	i := strings.IndexAny(arg, "=:")
	if i <= 0 || strings.HasPrefix(arg[i:], "://") || !pairName.MatchString(arg[:i]) {
		return arg, "", ""
	}
	if j := strings.IndexAny(arg[i+1:], "=:"); j > 0 && !isFilled(arg[:i], arg[i+1:]) && pairName.MatchString(arg[i+1:i+1+j]) {
		if inner := i + 1 + j; !strings.HasPrefix(arg[inner:], "://") {
			return arg[:inner], arg[inner+1:], arg[inner : inner+1]
		}
	}
	return arg[:i], arg[i+1:], arg[i : i+1]
}

var pairName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// lastName is the name at the end of an option that may hold a pair.
func lastName(option string) string { return option[strings.LastIndexAny(option, "=:")+1:] }

// refName makes the name of a reference of the name of an option, a header or a
// variable.
func refName(name string) string {
	if envName.MatchString(name) {
		return name
	}
	out := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, strings.Trim(name, "-"))
	out = cmp.Or(out[:min(len(out), maxRefName)], "SECRET")
	if out[0] >= '0' && out[0] <= '9' {
		out = "_" + out
	}
	return out
}

// maxRefName bounds the names that are made here.
const maxRefName = 64

// machineEnv are variables beside those of package risk that say where programs
// fetch from, what they trust, or which service they talk to.
var machineEnv = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY", "VERIFY_SSL", "SSL_VERIFY", "GIT_SSL_NO_VERIFY", "GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR",
	"GOPROXY", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GOINSECURE", "GOENV", "GOTOOLCHAIN", "DENO_CERT", "DENO_DIR", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "EDITOR", "VISUAL", "PAGER",
}

// machinePrefixes begin the names of variables that configure launchers.
var machinePrefixes = []string{"NPM_CONFIG_", "PNPM_CONFIG_", "YARN_", "BUN_CONFIG_", "COREPACK_", "PIP_", "UV_", "PIPX_", "DOCKER_", "CONTAINER_", "GIT_CONFIG", "DOTNET_", "NUGET_"}

// isDangerous tells whether a variable changes what is loaded, run or reached.
func isDangerous(name string) bool {
	upper := strings.ToUpper(name)
	return risk.DangerousEnv(name) || slices.Contains(machineEnv, upper) ||
		slices.ContainsFunc(machinePrefixes, func(p string) bool { return strings.HasPrefix(upper, p) })
}
