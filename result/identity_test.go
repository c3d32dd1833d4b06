package result_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// identities are clients by what they say of themselves; no name means no
// clientInfo at all. Those marked are tried in handshakes too, which cost a
// connection each.
var identities = []struct {
	name, version string
	want          result.Shape
	handshake     bool
}{
	{"codex-mcp-client", "0.171.0", result.Structured, true},
	{"codex", "1.0.0", result.Structured, true},
	{"codex_cli_rs", "", result.Structured, false},
	{"codex_desktop", "dev", result.Structured, false},
	{"Codex-MCP-Client", "0.36.0", result.Structured, false},
	{"claude-code", "2.0.21", result.Structured, true},
	{"claude-code", "2.1.332", result.Structured, true},
	{"claude-code", "3.0.0", result.Structured, false},
	{"claude-code", "2.1.0 (Claude Code)", result.Structured, true},
	{"claude-code", "v2.0.21", result.Structured, true},
	{"claude-code", "2.0.22-beta.1", result.Structured, false},
	{"claude-code", "2.0.21+build.7", result.Structured, false},
	{"Claude-Code", "2.0.100", result.Structured, false},

	{"claude-code", "2.0.20", result.Text, true},
	{"claude-code", "1.99.99", result.Text, false},
	{"claude-code", "2.0.21-beta.1", result.Text, false}, // comes before 2.0.21
	{"claude-code", "2.1", result.Text, false},
	{"claude-code", "2.1.0.4", result.Text, false},
	{"claude-code", "02.1.0", result.Text, false},
	{"claude-code", "2.1.x", result.Text, false},
	{"claude-code", "2.1.0 ", result.Text, false},
	{"claude-code", "2.1.0 or so", result.Text, false},
	{"claude-code", "2.1.0 (via some-proxy 1.0)", result.Text, false},
	{"claude-code", "latest", result.Text, false},
	{"claude-code", "", result.Text, false},
	{"claude-code (via mcp-remote 0.15.1)", "2.1.332", result.Text, true},
	{"codex (via mcp-remote 0.15.1)", "1.0.0", result.Text, false},
	{" codex", "1.0.0", result.Text, false},
	{"codex-", "1.0.0", result.Text, false},
	{"Zed", "0.190.4", result.Text, true},
	{"cursor-vscode", "1.0.0", result.Text, true},
	{"Visual Studio Code", "1.111.0", result.Text, true},
	{"gemini-cli-mcp-client", "0.61.0", result.Text, true},
	{"", "", result.Text, true},
}

func TestShapeFor(t *testing.T) {
	for _, id := range identities {
		for _, protocol := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			c := result.Client{Name: id.name, Version: id.version, Protocol: protocol}
			if got := new(result.Options).ShapeFor(c); got != id.want {
				t.Errorf("%q %q, %s: got %v, want %v", id.name, id.version, protocol, got, id.want)
			}
		}
	}
}

// TestShapePolicy has the rules in their order, each against the next ones.
func TestShapePolicy(t *testing.T) {
	known := result.Client{Name: "codex", Protocol: "2025-11-25"}
	unknown := result.Client{Name: "Zed", Protocol: "2025-11-25"}
	with := func(c result.Client, protocol string, declared result.Shape) result.Client {
		c.Protocol, c.Declared = protocol, declared
		return c
	}
	for _, tt := range []struct {
		name   string
		opts   *result.Options
		client result.Client
		want   result.Shape
	}{
		{"nil options, known", nil, known, result.Structured},
		{"nil options, unknown", nil, unknown, result.Text},
		{"nobody", nil, result.Client{}, result.Text},
		{"override text", &result.Options{Override: result.Text}, with(known, "2026-07-28", result.Structured), result.Text},
		{"override structured", &result.Options{Override: result.Structured}, with(unknown, "2024-11-05", result.Text), result.Structured},
		{"old protocol", nil, with(known, "2025-03-26", result.Structured), result.Text},
		{"declared structured", nil, with(unknown, "2025-06-18", result.Structured), result.Structured},
		{"declared text", nil, with(known, "2025-06-18", result.Text), result.Text},
		{"no table", &result.Options{NoTable: true}, known, result.Text},
		{"no table, declared", &result.Options{NoTable: true}, with(known, "2025-06-18", result.Structured), result.Structured},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.opts.ShapeFor(tt.client); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// What every client of a shape must get, byte for byte.
const (
	asText       = `"content":[{"type":"text","text":"{\"title\":\"A \u003cb\u003ebold\u003c/b\u003e title \u0026 more\"}"}]`
	asStructured = `"content":[],"structuredContent":{"title":"A \u003cb\u003ebold\u003c/b\u003e title \u0026 more"}`
	asError      = `"content":[{"type":"text","text":"{\"error\":{\"code\":\"note_gone\",\"message\":\"the note is gone: list again\"}}"}],"isError":true`
	serverInfo   = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"v1.2.3"}},`
	listHead     = `"ttlMs":0,"cacheScope":"private","tools":[{"inputSchema":{"type":"object","additionalProperties":false},"name":"note"`
	listSchema   = `,"outputSchema":{"type":"object","properties":{"title":{"type":"string"},"tags":{"type":["null","array"],"items":{"type":"string"}}},"required":["title"],"additionalProperties":false}`
)

func TestIdentitiesHandshake(t *testing.T) {
	for _, tr := range transports {
		for _, id := range identities {
			if !id.handshake {
				continue
			}
			for _, protocol := range []string{"2025-06-18", "2025-11-25"} {
				if tr.name == "stdio" && protocol == "2025-06-18" {
					continue // a process each
				}
				t.Run(fmt.Sprintf("%s/%s %s/%s", tr.name, id.name, id.version, protocol), func(t *testing.T) {
					w := tr.open(t, serverConfig{Only: []string{"note"}})
					w.send(t, initialize(id.name, id.version, protocol))
					w.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
					body, schema := asText, ""
					if id.want == result.Structured {
						body, schema = asStructured, listSchema
					}
					exchange(t, w, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note"}}`,
						`{"jsonrpc":"2.0","id":2,"result":{`+body+`}}`)
					exchange(t, w, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fail-coded"}}`,
						`{"jsonrpc":"2.0","id":3,"result":{`+asError+`}}`)
					exchange(t, w, `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`,
						`{"jsonrpc":"2.0","id":4,"result":{`+listHead+schema+`}]}}`)
				})
			}
		}
	}
}

// TestIdentitiesPerRequest sends all identities over one connection, as a
// gateway does: none may leak into the next request.
func TestIdentitiesPerRequest(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			w := tr.open(t, serverConfig{Only: []string{"note"}})
			for _, id := range identities {
				t.Run(id.name+" "+id.version, func(t *testing.T) {
					body := asText
					if id.want == result.Structured {
						body = asStructured
					}
					meta := perRequest(id.name, id.version)
					exchange(t, w, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+meta+`,"name":"note"}}`,
						`{"jsonrpc":"2.0","id":2,"result":{`+serverInfo+body+`,"resultType":"complete"}}`)
					exchange(t, w, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{`+meta+`,"name":"fail-coded"}}`,
						`{"jsonrpc":"2.0","id":3,"result":{`+serverInfo+asError+`,"resultType":"complete"}}`)
					exchange(t, w, `{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{`+meta+`}}`,
						`{"jsonrpc":"2.0","id":4,"result":{"resultType":"complete",`+serverInfo+listHead+`}]}}`)
				})
			}
		})
	}
}

func exchange(t *testing.T, w wire, request, want string) {
	t.Helper()
	if got := w.send(t, request); got != want {
		t.Errorf("request %s\n got %s\nwant %s", request, got, want)
	}
}

func initialize(name, version, protocol string) string {
	info := ""
	if name != "" {
		info = `,"clientInfo":` + implementation(name, version)
	}
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + protocol + `","capabilities":{}` + info + `}}`
}

func perRequest(name, version string) string {
	info := ""
	if name != "" {
		info = `"` + mcp.MetaKeyClientInfo + `":` + implementation(name, version) + `,`
	}
	return `"_meta":{"` + mcp.MetaKeyProtocolVersion + `":"2026-07-28",` + info + `"` + mcp.MetaKeyClientCapabilities + `":{}}`
}

func implementation(name, version string) string {
	data, err := json.Marshal(map[string]string{"name": name, "version": version})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestShapeText(t *testing.T) {
	for _, s := range []result.Shape{result.Auto, result.Text, result.Structured} {
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got result.Shape
		if err := got.UnmarshalText(text); err != nil || got != s {
			t.Errorf("%v: got %v and error %v", s, got, err)
		}
	}
	var s result.Shape
	err := s.UnmarshalText([]byte(strings.Repeat("x", 1000)))
	if err == nil || len(err.Error()) > 120 {
		t.Errorf("got error %v, want a short one", err)
	}
	if got := result.Shape(7).String(); got != "Shape(7)" {
		t.Errorf("got %q", got)
	}
}
