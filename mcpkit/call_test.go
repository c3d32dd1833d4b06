package mcpkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

type sleepArgs struct {
	How    string `json:"how" jsonschema:"how it ends" schema:"enum=ok|coded|plain|panic|protocol|ask"`
	Secret string `json:"secret" jsonschema:"never logged"`
}

// sleepy takes three seconds and ends in every way that a call can end.
func sleepy() mcpkit.Feature {
	return func(in *mcpkit.Installer) error {
		in.Server().AddTool(&mcp.Tool{
			Name: "ask", Description: "Ask.", InputSchema: json.RawMessage(`{"type":"object"}`),
		}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "?"}}}, nil
		})
		return mcpkit.Tool[sleepArgs, nothing]{
			Name: "sleep", Description: "Sleep.", Effect: mcpkit.ReadOnly,
			Run: func(ctx context.Context, in sleepArgs) (nothing, error) {
				time.Sleep(3 * time.Second)
				if in.How == "ok" {
					return nothing{}, nil
				}
				_, err := fail(ctx, failArgs{How: in.How})
				return nothing{}, err
			},
		}.Install(in)
	}
}

func TestCallLog(t *testing.T) {
	tests := []struct {
		name, params string
		want         string // code, and the duration in seconds
	}{
		{"sleep", `{"name":"sleep","arguments":{"how":"ok","secret":"hunter2"}}`, "ok 3"},
		{"sleep", `{"name":"sleep","arguments":{"how":"coded","secret":"hunter2"}}`, "file_broken 3"},
		{"sleep", `{"name":"sleep","arguments":{"how":"plain","secret":"hunter2"}}`, "internal 3"},
		{"sleep", `{"name":"sleep","arguments":{"how":"panic","secret":"hunter2"}}`, "internal 3"},
		{"sleep", `{"name":"sleep","arguments":{"how":"hunter2","secret":"hunter2"}}`, "invalid_arguments 0"},
		{"hunter", `{"name":"hunter"}`, "-32602 0"},
		{strings.Repeat("x", 60) + "...", `{"name":"` + strings.Repeat("x", 5000) + `"}`, "-32602 0"},
	}
	for _, e := range eras {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			opts := &mcpkit.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))}
			p := dial(t, newServer(t, opts, sleepy()), e)
			for _, test := range tests {
				log.Reset()
				p.send(t, "tools/call", test.params)
				synctest.Wait()
				got := lastRecord(t, log.String())
				want := callRecord{Level: "INFO", Msg: "tool call", Tool: test.name}
				want.Client.Name, want.Client.Version = "codex-mcp-client", "1.2.3"
				want.Code, want.Duration = splitWant(t, test.want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.params, diff)
				}
				if strings.Contains(got.raw(t), "hunter2") || strings.Contains(log.String(), "secret") {
					t.Errorf("the log holds a secret: %s", log.String())
				}
			}
			log.Reset()
			p.send(t, "tools/list", `{}`)
			if log.Len() > 0 {
				t.Errorf("a list is logged: %s", log.String())
			}
			if e == stateless {
				p.send(t, "tools/call", `{"name":"ask"}`)
				if got := lastRecord(t, log.String()); got.Code != "input_required" {
					t.Errorf("ask: got code %q", got.Code)
				}
			}
		})
	}
}

type callRecord struct {
	Level, Msg, Tool, Code string
	Duration               time.Duration
	Client                 struct{ Name, Version string }
}

func (r callRecord) raw(t *testing.T) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// lastRecord decodes the last line, which is the call's: a panic has one of its own before it.
func lastRecord(t *testing.T, log string) callRecord {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(log), "\n")
	var r callRecord
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("log %q: %v", log, err)
	}
	return r
}

func splitWant(t *testing.T, want string) (code string, took time.Duration) {
	t.Helper()
	code, seconds, _ := strings.Cut(want, " ")
	took, err := time.ParseDuration(seconds + "s")
	if err != nil {
		t.Fatal(err)
	}
	return code, took
}

// Outside of a call there is no request and no principal.
func TestRequestOutside(t *testing.T) {
	if req := mcpkit.Request(t.Context()); req != nil {
		t.Errorf("Request: got %v", req)
	}
	if name := mcpkit.Principal(t.Context()); name != "" {
		t.Errorf("Principal: got %q", name)
	}
}

// The request and the principal reach every kind of handler.
func TestRequestInside(t *testing.T) {
	probe := tool[nothing, Base]()
	probe.Run = func(ctx context.Context, _ nothing) (Base, error) {
		return Base{ID: mcpkit.Request(ctx).Params.Name + "-" + mcpkit.Principal(ctx)}, nil
	}
	template := mcpkit.ResourceTemplate{
		URI: "x://{a}", Name: "x",
		Read: func(ctx context.Context, _ string) ([]*mcp.ResourceContents, error) {
			return []*mcp.ResourceContents{{Text: "read by " + mcpkit.Principal(ctx)}}, nil
		},
		Complete: func(ctx context.Context, _ string) ([]string, error) { return []string{mcpkit.Principal(ctx)}, nil },
	}
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			p := dial(t, newServer(t, &mcpkit.Options{Principal: "ann"}, probe.Install, template.Install), e)
			if got := p.callTool(t, "probe", `{}`); got != `{"id":"probe-ann"}` {
				t.Errorf("tool: got %s", got)
			}
			if got := string(p.send(t, "resources/read", `{"uri":"x://a"}`).Result); !strings.Contains(got, `"text":"read by ann"`) {
				t.Errorf("resource: got %s", got)
			}
			got := string(p.send(t, "completion/complete", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":""}}`).Result)
			if !strings.Contains(got, `"values":["ann"]`) {
				t.Errorf("completion: got %s", got)
			}
		})
	}
}
