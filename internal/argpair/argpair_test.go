package argpair_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/argpair"
)

func isToken(name string) bool { return strings.HasSuffix(strings.ToLower(name), "token") }

func ExampleCut() {
	name, value, sep := argpair.Cut("--header=X-Token: abc", isToken)
	fmt.Printf("%q %q %q\n", name, value, sep)
	// Output: "--header=X-Token" " abc" ":"
}

func TestCut(t *testing.T) {
	for arg, want := range map[string][3]string{
		"":                     {"", "", ""},
		"--verbose":            {"--verbose", "", ""},
		"https://example.com":  {"https://example.com", "", ""},
		"NAME=value":           {"NAME", "value", "="},
		"Name: value":          {"Name", " value", ":"},
		"--token=a:b=c":        {"--token", "a:b=c", "="},
		"-e=API_TOKEN=abc":     {"-e=API_TOKEN", "abc", "="},
		"--url=https://a.test": {"--url", "https://a.test", "="},
		"--empty=":             {"--empty", "", "="},
		"a=b=c=d=e":            {"a=b=c", "d=e", "="},
	} {
		name, value, sep := argpair.Cut(arg, isToken)
		if got := [3]string{name, value, sep}; got != want {
			t.Errorf("Cut(%q) = %q, want %q", arg, got, want)
		}
	}
}
