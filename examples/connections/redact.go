package main

import (
	"regexp"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/argpair"
)

// hidden stands in the place of a secret.
const hidden = "***"

var (
	secretName  = regexp.MustCompile(`(?i)(token|secret|password|passwd|pwd|key|auth|authorization|credentials?|cookie|bearer|jwt|pat|sig|signature)$`)
	secretShape = regexp.MustCompile(`\b(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[a-z]|npm|AKIA)[-_A-Z0-9][-_A-Za-z0-9]{12,}`)
	addresses   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`)
	userinfo    = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)[^/?#]*@`)
)

// redactURL takes the user and secret parameters out of an address. References
// stay, since they are no secrets themselves.
func redactURL(address string) string {
	if m := userinfo.FindString(address); m != "" && !strings.Contains(m, "${") {
		address = userinfo.ReplaceAllString(address, "${1}"+hidden+"@")
	}
	head, query, found := strings.Cut(address, "?")
	if found {
		params := strings.Split(query, "&")
		for i, param := range params {
			if name, value, ok := strings.Cut(param, "="); ok && secretName.MatchString(name) {
				params[i] = name + "=" + redactValue(value)
			}
		}
		head += "?" + strings.Join(params, "&")
	}
	return secretShape.ReplaceAllString(head, hidden)
}

func redactValue(value string) string {
	if value == "" || strings.Contains(value, "${") {
		return value
	}
	return hidden
}

// redactArgs takes secrets out of arguments: what follows an option or a name
// of a secret, in the same argument or the next one, and parts of addresses.
func redactArgs(args []string) []string {
	out := make([]string, len(args))
	after := false // the argument before is the option of a secret
	for i, arg := range args {
		name, value, sep := argpair.Cut(arg, secretName.MatchString)
		named := sep != "" && secretName.MatchString(name)
		switch {
		case after && !strings.HasPrefix(arg, "-"):
			out[i] = redactValue(arg)
		case named:
			out[i] = name + sep + redactValue(value)
		default:
			out[i] = secretShape.ReplaceAllString(addresses.ReplaceAllStringFunc(arg, redactURL), hidden)
		}
		after = sep == "" && strings.HasPrefix(arg, "-") && secretName.MatchString(arg)
	}
	return out
}
