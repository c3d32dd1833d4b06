package secrets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

func TestInArgs(t *testing.T) {
	const issued = "ghp_0a1b2c3d4e5f6g7h8i9j"
	tests := []struct {
		name string
		args []string
		want map[int]string
	}{
		{"none", nil, nil},
		{"after an option", []string{"--token", "plum-jam"}, map[int]string{1: "plum-jam"}},
		{"after an option that holds a value", []string{"--token=plum-jam", "pear"}, map[int]string{0: "plum-jam"}},
		{"after an option of something else", []string{"--name", "plum-jam"}, nil},
		{"after a word", []string{"token", "plum-jam"}, nil},
		{"an option after an option", []string{"--token", "--verbose"}, nil},
		{"a dashed value", []string{"--token", "-plum7jam9"}, map[int]string{1: "-plum7jam9"}},
		{"a reference", []string{"--token", "${TOKEN}", "--token=$TOKEN"}, nil},
		{"a pair", []string{"-e", "API_KEY=plum"}, map[int]string{1: "plum"}},
		{"a pair in an option", []string{"--env=API_KEY=plum"}, map[int]string{0: "plum"}},
		{"a header", []string{"--header", "Authorization: Bearer plum-jam"}, map[int]string{1: "plum-jam"}},
		{"a header in an option", []string{"--header=X-Api-Key:plum-jam"}, map[int]string{0: "plum-jam"}},
		{"a short tag", []string{"my-token:latest"}, nil},
		{"a tag in a registry", []string{"ghcr.io/acme/token:2024.01-build"}, nil},
		{"a path in a container", []string{"/etc/token:/run/secrets/acme"}, nil},
		{"a sentence", []string{"print each token=value pair, please"}, map[int]string{0: "value"}},
		{"a shape", []string{"-y", issued}, map[int]string{1: issued}},
		{"a shape in a word", []string{"-y", "a/" + issued}, map[int]string{1: issued}},
		{"a shape under a name", []string{"FOO=" + issued}, map[int]string{0: issued}},
		{"an address", []string{"postgres://app:plum@db.example.com/x"}, map[int]string{0: "plum"}},
		{"an address in an option", []string{"--dsn=postgres://app:plum@db.example.com/x"}, map[int]string{0: "plum"}},
		{"a script", []string{"-c", "TOKEN=plum-jam exec acme"}, map[int]string{1: "plum-jam exec acme"}},
		{"a count", []string{"--max-tokens", "4096", "--tokens=100"}, nil},
		{"a file", []string{"--token-file", "/run/secrets/acme", "--key=./acme.pem"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got map[int]string
			secrets.InArgs(tt.args, func(i int, value string) {
				if got == nil {
					got = map[int]string{}
				}
				got[i] = value
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("secrets of %q (-want +got):\n%s", tt.args, diff)
			}
		})
	}
}

// TestIssuedAfterOtherRuns checks that what spares a text the long expression does
// not spare one that holds a secret.
func TestIssuedAfterOtherRuns(t *testing.T) {
	for _, secret := range []string{
		"sk-0aaaaaaaaaaa", "sk_live_Abcdefghij", "xoxb-abcdefgh1-x", "AKIAABCDEFGHIJ12", "SG.abcdefg1.abcdefgh", "ya29.a-b.c-d_abcdefg1",
		"123456789:AAabcdefghijabcdefghijabcdefghij", "eyJhbGci1iIs.eyJz.", "patAbcdefghijklmn.abcdefghij0123456789",
	} {
		text := "see café and a-long-name.example.com/path?x, it is " + secret + " é"
		var found []string
		secrets.Replace(text, func(_, value string) string {
			found = append(found, value)
			return "${X}"
		})
		if len(found) != 1 || found[0] == "" {
			t.Errorf("in %q were found %q", text, found)
		}
	}
}
