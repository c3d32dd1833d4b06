package mcpkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

func TestResourceTemplate(t *testing.T) {
	long := strings.Repeat("a", 9000)
	tests := []struct{ uri, want string }{
		{"repo://alpha/manifest", "value alpha"},
		{"repo://A.b_c-9/manifest", "value A.b_c-9"},
		{"repo://" + strings.Repeat("a", 100) + "/manifest", "value " + strings.Repeat("a", 100)},
		{"repo://" + strings.Repeat("a", 101) + "/manifest", "not found"},
		{"repo://" + long + "/manifest", "not found"},
		{"repo://team%2Falpha/manifest", "not found"},
		{"repo://alpha%00/manifest", "not found"},
		{"repo://alpha%41/manifest", "not found"},
		{"repo://..%2f..%2fetc/manifest", "not found"},
		{"repo://../manifest", "not found"},
		{"repo://../alpha/manifest", "not found"},
		{"repo://./manifest", "not found"},
		{"repo://-alpha/manifest", "not found"},
		{"repo://a/b/manifest", "not found"},
		{"repo://alpha/manifest/", "not found"},
		{"repo://alpha/manifest?x", "not found"},
		{"repo://alpha/manifest#x", "not found"},
		{"REPO://alpha/manifest", "not found"},
		{"repo:///manifest", "not found"},
		{"repo://manifest", "not found"},
		{"repo://älpha/manifest", "not found"},
		{"repo://alpha\n/manifest", "not found"},
		{"repo://alpha\x01/manifest", "not found"},
		{"repo://missing/manifest", "not found"},
		{"repo://failing/manifest", "file_broken"},
		{"num://42", "value 42"},
		{"num://4x", "not found"},
		{"", "not found"},
	}
	read := func(_ context.Context, value string) ([]*mcp.ResourceContents, error) {
		switch value {
		case "missing":
			return nil, nil
		case "failing":
			return nil, &brokenError{"x"}
		}
		return []*mcp.ResourceContents{{Text: "value " + value}}, nil
	}
	repo := mcpkit.ResourceTemplate{URI: "repo://{repo}/manifest", Name: "manifest", Read: read}
	number := mcpkit.ResourceTemplate{URI: "num://{n}", Name: "number", Pattern: "[0-9]+|x", Read: read}
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			p := dial(t, newServer(t, nil, repo.Install, number.Install), e)
			for _, test := range tests {
				params, err := json.Marshal(map[string]string{"uri": test.uri})
				if err != nil {
					t.Fatal(err)
				}
				if got := readOutcome(t, p.send(t, "resources/read", string(params))); got != test.want {
					t.Errorf("%.60q: got %q, want %q", test.uri, got, test.want)
				}
			}
		})
	}
}

// readOutcome sums a reply to resources/read up.
func readOutcome(t *testing.T, r reply) string {
	t.Helper()
	if len(r.Error) > 1000 {
		t.Errorf("an error of %d bytes", len(r.Error))
	}
	switch {
	case strings.Contains(string(r.Error), `"Resource not found"`):
		return "not found"
	case strings.Contains(string(r.Error), `"code":"file_broken"`):
		return "file_broken"
	}
	var res struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(r.Result, &res); err != nil || len(res.Contents) != 1 {
		t.Fatalf("reply %s %s", r.Result, r.Error)
	}
	return res.Contents[0].Text
}

func TestComplete(t *testing.T) {
	many := mcpkit.ResourceTemplate{
		URI: "x://{a}", Name: "x", Read: readManifest,
		Complete: func(_ context.Context, typed string) ([]string, error) {
			switch typed {
			case "none":
				return nil, nil
			case "fail":
				return nil, errors.New("no store")
			}
			list := make([]string, 250)
			for i := range list {
				list[i] = fmt.Sprint(typed, i)
			}
			return list, nil
		},
	}
	tests := []struct{ name, params, want string }{
		{"none", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":"none"}}`, `"completion":{"values":[]}`},
		{"more than fit", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":"v"}}`, `"completion":{"hasMore":true,"total":250,"values":["v0",`},
		{"failure", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":"fail"}}`, `"message":"no store"`},
		{"long text", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":"` + strings.Repeat("x", 1025) + `"}}`, `"message":"argument.value is longer than 1024 bytes"`},
		{"text that just fits", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":"` + strings.Repeat("x", 1024) + `"}}`, `"total":250`},
		{"other argument", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"b","value":"v"}}`, `"code":-32602`},
		{"other template", `{"ref":{"type":"ref/resource","uri":"y://{a}"},"argument":{"name":"a","value":"v"}}`, `"code":-32602`},
		{"prompt", `{"ref":{"type":"ref/prompt","name":"x://{a}"},"argument":{"name":"a","value":"v"}}`, `"code":-32602`},
		{"no reference", `{"argument":{"name":"a","value":"v"}}`, `"code":-32602`},
	}
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			p := dial(t, newServer(t, nil, many.Install), e)
			for _, test := range tests {
				r := p.send(t, "completion/complete", test.params)
				if got := string(r.Result) + string(r.Error); !strings.Contains(got, test.want) || strings.Contains(got, `"v100"`) {
					t.Errorf("%s: got %.300s, want %s", test.name, got, test.want)
				}
			}
		})
	}
}

// The lists of a server may be kept for as long as the options say, and only by the client itself.
func TestCacheTTL(t *testing.T) {
	repo := mcpkit.ResourceTemplate{URI: "repo://{repo}/manifest", Name: "manifest", Read: readManifest}
	p := dial(t, newServer(t, &mcpkit.Options{CacheTTL: 90 * time.Second}, repo.Install), stateless)
	type hints struct {
		TTLMs      int
		CacheScope string
	}
	for method, params := range map[string]string{
		"server/discover": `{}`, "tools/list": `{}`, "resources/templates/list": `{}`, "resources/list": `{}`, "prompts/list": `{}`,
		"resources/read": `{"uri":"repo://alpha/manifest"}`,
	} {
		var got hints
		if err := json.Unmarshal(p.send(t, method, params).Result, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(hints{90_000, "private"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
	}
}
