package probe_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// TestPartsOfValues has launches in which a secret is a part of something, and
// programs that tell the part alone.
func TestPartsOfValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		env    normalize.Pair
		args   []string
		secret string
	}{
		{"after a scheme", normalize.Pair{Name: "AUTH_HEADER", Value: "Bearer tok-Zq81xLmP"}, nil, "tok-Zq81xLmP"},
		{"in a text", normalize.Pair{Name: "X", Value: "use Bearer plumjam here"}, nil, "plumjam"},
		{"with a user", normalize.Pair{Name: "CREDS", Value: "admin:plumplumjam"}, nil, "plumplumjam"},
		{"before a host", normalize.Pair{Name: "X", Value: "pip:Plum2Plumjam@tcp(orchard)/pears"}, nil, "Plum2Plumjam"},
		{"in an address", normalize.Pair{Name: "REDIS_URL", Value: "redis://:pl%40um@orchard/0"}, nil, "pl@um"},
		{"in a list", normalize.Pair{Name: "API_TOKENS", Value: "plum-one-aa,plum-two-bb"}, nil, "plum-two-bb"},
		{"a pair of several", normalize.Pair{Name: "X", Value: "a=1,token=plumplumjam"}, nil, "plumplumjam"},
		{"a line of several", normalize.Pair{Name: "X", Value: "mode: y\ntoken: plumplumjam\n"}, nil, "plumplumjam"},
		{"a line with escapes", normalize.Pair{Name: "PEM_KEY", Value: `-----BEGIN\nMIIEvQIBADANBg\n-----END`}, nil, "MIIEvQIBADANBg"},
		{"a line in JSON", normalize.Pair{Name: "X", Value: `{"private_key":"-----BEGIN\nMIIEvQIBADANBg\n-----END"}`}, nil, "MIIEvQIBADANBg"},
		{"a pair in JSON", normalize.Pair{Name: "X", Value: `[{"name":"api_key","value":"plum-jam"}]`}, nil, "plum-jam"},
		{"in a connection string", normalize.Pair{}, []string{"Server=db;Pwd=plm;Database=y"}, "plm"},
		{"in braces", normalize.Pair{}, []string{"Server=db;Password={Zq81;xLmP77};Database=y"}, "Zq81;xLmP77"},
		{"a variable in an option", normalize.Pair{}, []string{"-eAPI_KEY=plum"}, "plum"},
		{"an option in one word", normalize.Pair{}, []string{"--accessTokenValue=plumjam"}, "plumjam"},
		{"a header with another scheme", normalize.Pair{}, []string{"-H", "Authorization: Token plumjam"}, "plumjam"},
		{"a cookie", normalize.Pair{}, []string{"-H", "Cookie: sid=plumjam; x=y"}, "plumjam"},
		{"a shell's variable", normalize.Pair{}, []string{"-c", "export TOKEN=plumjam && run"}, "plumjam"},
		{"a part of a path", normalize.Pair{}, []string{"--url=https://orchard.example/s/Pl12um34Ja56mx78/mcp"}, "Pl12um34Ja56mx78"},
		{"a random argument", normalize.Pair{}, []string{"Zq7Vt2Lm9Rx4Kc8Wb3Nd6Hf1"}, "Zq7Vt2Lm9Rx4Kc8Wb3Nd6Hf1"},
		{"a prefix of a service", normalize.Pair{}, []string{"--note", "use SG.FAKEfake01.FAKEfake02 here"}, "SG.FAKEfake01.FAKEfake02"},
		{"a parameter", normalize.Pair{}, []string{"https://orchard.example/mcp?page=2&profile=red-Zq81xL"}, "red-Zq81xL"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			launch := peer(t, "says", append(test.args, "got", test.secret, "end")...)
			if test.env.Name != "" {
				launch.Env = append(launch.Env, test.env)
			}
			_, err := probe.Check(t.Context(), launch, nil)
			e, ok := errors.AsType[*probe.Error](err)
			if !ok || !strings.HasSuffix(e.Stderr, "got\n***\nend") {
				t.Errorf("error %v", err)
			}
		})
	}
}
