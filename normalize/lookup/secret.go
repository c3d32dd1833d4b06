package lookup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/internal/risk"
)

var (
	// onlyReferences tells a value that holds nothing of its own but the scheme of a
	// header: references without defaults.
	onlyReferences = regexp.MustCompile(`^(?:[Bb]earer |[Bb]asic |[Tt]oken )?(?:\$\{(?:input:)?[^{}:]+\})+$`)
	defaults       = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*:-[^{}]*\}`)
	// settings are pairs in a longer text, such as the settings of a database.
	settings       = regexp.MustCompile(`(?i)\b[a-z0-9_-]*(?:token|secret|password|passwd|pwd|key)=[^;&\s"'#]+`)
	plainReference = regexp.MustCompile(`\$\{(?:input:)?[^{}:]+\}`)
	schemeName     = regexp.MustCompile(`^(?i:bearer|basic)$`)
	schemeWord     = regexp.MustCompile(`^[A-Za-z]{1,16}$`)
	addresses      = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	parameters     = regexp.MustCompile(`[?&#][^=&#?\s]+=[^&#\s]*`)
	secretWord     = regexp.MustCompile(`(?i)(?:token|secret|password|passwd|passphrase|pwd|key|auth|authorization|credentials?|cookie|bearer|jwt|pat|signature|dsn)$`)
	weakWord       = regexp.MustCompile(`(?i)(?:auth|pat|^-+no-.*)$`) // also ends options that take no secret
	secretShape    = regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|ghs|ghu|ghr|github_pat|glpat|xox[a-z]|npm|AKIA|eyJ)[-_A-Za-z0-9][-_.A-Za-z0-9]{11,}|[-_A-Za-z0-9]{32,}`)
)

// isShape tells whether a piece that is long enough can be a secret: words have no
// digits, and numbers nothing else.
func isShape(piece string) bool {
	return strings.ContainsAny(piece, "0123456789") && strings.ContainsFunc(piece, func(r rune) bool { return r < '0' || r > '9' })
}

// isSecret tells whether a value is a secret, by its name or its shape.
func isSecret(name, value string) bool {
	if risk.SecretParameter(name) || secretWord.MatchString(name) {
		return true
	}
	return slices.ContainsFunc(secretShape.FindAllString(value, -1), isShape) || addresses.MatchString(value) && strings.Contains(value, "@")
}

// cutPair cuts NAME=value, Name: value and --option=value. The name of an option
// that holds such a pair is a part of the name.
func cutPair(arg string) (name, value, sep string) {
	i := strings.IndexAny(arg, "=:")
	if i <= 0 || strings.HasPrefix(arg[i:], "://") || !pairName.MatchString(arg[:i]) {
		return arg, "", ""
	}
	if j := strings.IndexAny(arg[i+1:], "=:"); j > 0 && !secretWord.MatchString(arg[:i]) && pairName.MatchString(arg[i+1:i+1+j]) {
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

// masked takes secrets out of a text of the caller, such as a description, before
// others see it.
func masked(text string) string {
	c := cleaner{server: &normalize.Server{Args: strings.Fields(text)}}
	c.args()
	return strings.Join(c.server.Args, " ")
}

// minPathSecret is the length from which a part of a path can be a secret.
const minPathSecret = 12

// maskedPath hides the parts of an address's path that look like a secret.
func maskedPath(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		named := len(part) < 2*minPathSecret && strings.Contains(part, ".") // a file, or a version
		if i > 0 && len(part) >= minPathSecret && isShape(part) && !named && !strings.ContainsAny(part, "${}") {
			parts[i] = "***"
		}
	}
	return scheme + "://" + strings.Join(parts, "/")
}
