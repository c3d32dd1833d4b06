package mcpkit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

type waitArgs struct {
	Milliseconds int  `json:"milliseconds" jsonschema:"how long to wait"`
	Ask          bool `json:"ask,omitempty" jsonschema:"ask the client"`
}

type waited struct {
	Done bool `json:"done"`
}

// waiter is a server with a tool that takes its time, or asks the client.
func waiter(t *testing.T) *mcp.Server {
	t.Helper()
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil, mcpkit.Tool[waitArgs, waited]{
		Name: "wait", Description: "Wait.", Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, in waitArgs) (waited, error) {
			if in.Ask {
				_, err := mcpkit.Request(ctx).Session.Elicit(ctx, &mcp.ElicitParams{Message: "Go on?", RequestedSchema: &jsonschema.Schema{Type: "object"}})
				return waited{}, err
			}
			select {
			case <-time.After(time.Duration(in.Milliseconds) * time.Millisecond):
				return waited{Done: true}, nil
			case <-ctx.Done():
				return waited{}, ctx.Err()
			}
		},
	}.Install)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

const (
	handshakeLines = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	drainMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// What was written before the input ended is answered, as a shell's pipe expects.
func TestStdioAnswersBeforeItEnds(t *testing.T) {
	const calls = 20
	call := func(id int, meta, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s"name":"wait","arguments":{%s}}}`+"\n", id, meta, args)
	}
	var handshake, stateless strings.Builder
	handshake.WriteString(handshakeLines)
	for id := range calls {
		handshake.WriteString(call(id, "", `"milliseconds":100`))
		stateless.WriteString(call(id, drainMeta+",", `"milliseconds":100`))
	}
	listen := `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{` + drainMeta + `,"notifications":{"toolsListChanged":true}}}` + "\n"
	tests := []struct {
		name, input string
		most        time.Duration
	}{
		{"handshake", handshake.String(), time.Second},
		{"stateless", stateless.String(), time.Second},
		{"beside a subscription", listen + stateless.String(), time.Second},
		{"without the last line end", strings.TrimSuffix(stateless.String(), "\n"), time.Second},
		{"a call that never ends", handshake.String() + call(100, "", `"milliseconds":10000000`), time.Minute},
		{"a call that waits for the client", handshake.String() + call(100, "", `"milliseconds":0,"ask":true`), -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out openBuffer
				start := time.Now()
				err := waiter(t).Run(t.Context(), &mcpkit.StdioTransport{Reader: io.NopCloser(strings.NewReader(test.input)), Writer: &out})
				if err != nil && !errors.Is(err, io.EOF) {
					t.Errorf("ended with %v", err)
				}
				if took := time.Since(start); test.most >= 0 && took > test.most || test.most < 0 && took > time.Second {
					t.Errorf("took %v, want at most %v", took, test.most)
				}
				if test.most < 0 {
					return // given up, as the client can answer no more
				}
				for id := range calls {
					if want := fmt.Sprintf(`"id":%d,`, id); strings.Count(out.String(), want) != 1 {
						t.Errorf("no reply, or several, to call %d", id)
					}
				}
				if n := strings.Count(out.String(), `\"done\":true`); n != calls {
					t.Errorf("%d calls done, want %d: %s", n, calls, out.String())
				}
			})
		})
	}
}

// openBuffer is a lockedBuffer to be closed.
type openBuffer struct{ lockedBuffer }

func (*openBuffer) Close() error { return nil }
