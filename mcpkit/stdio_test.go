package mcpkit_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// TestStdioOutlivesBadLines sends lines for which the SDK's own transport ends
// the session, each followed by a ping that has to be answered.
func TestStdioOutlivesBadLines(t *testing.T) {
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- server.Run(t.Context(), &mcpkit.StdioTransport{Reader: fromClient, Writer: toClient})
	}()
	replies := bufio.NewReader(fromServer)
	send := func(line string) { // the server reads only while its replies are read
		go func() { io.WriteString(toServer, line+"\n") }()
	}
	receive := func() string {
		t.Helper()
		line, err := replies.ReadString('\n')
		if err != nil {
			t.Fatalf("reading a reply: %v", err)
		}
		return line
	}
	send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	receive()

	deep := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + `}}`
	long := `{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"` + strings.Repeat("y", 17<<20) + `"}}`
	tests := []struct {
		name, line string
		wantID     string
		wantCode   int
	}{
		{"no JSON", "hello there", "null", -32700},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "null", -32700},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", -32700},
		{"nested deeper than JSON may be", strings.Repeat("[", 20_000), "null", -32600},
		{"null", "null", "null", -32600},
		{"number", "17", "null", -32600},
		{"empty batch", "[]", "null", -32600},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{"other version", `{"jsonrpc":"1.0","id":3,"method":"ping"}`, "3", -32600},
		{"id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{"id that is true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", -32600},
		{"id that is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "1.5", -32600},
		{"id that a float64 cannot hold", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", -32600},
		{"id below all of them", `{"jsonrpc":"2.0","id":-9007199254740993,"method":"ping"}`, "-9007199254740993", -32600},
		{"id over 64 bits", `{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}`, "18446744073709551616", -32600},
		{"id beside another in capitals", `{"jsonrpc":"2.0","id":9007199254740993,"ID":1,"method":"ping"}`, "9007199254740993", -32600},
		{"id with half a surrogate pair", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, `"\ud800"`, -32600},
		{"long id", `{"jsonrpc":"1.0","id":"` + strings.Repeat("i", 500) + `","method":"ping"}`, "null", -32600},
		{"no method", `{"jsonrpc":"2.0"}`, "null", -32600},
		{"deep arguments", deep, "7", -32600},
		{"long line", long, "null", -32600},
	}
	for _, test := range tests {
		send(test.line)
		var got struct {
			ID    json.RawMessage `json:"id"`
			Error struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		line := receive()
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: reply %q: %v", test.name, line, err)
		}
		if string(got.ID) != test.wantID || got.Error.Code != test.wantCode || got.Error.Message == "" || len(line) > 512 {
			t.Errorf("%s: got reply %s, want id %s and code %d", test.name, line, test.wantID, test.wantCode)
		}
		send("")
		send(`{"jsonrpc":"2.0","id":"still there","method":"ping","params":{}}`)
		want := `{"jsonrpc":"2.0","id":"still there","result":{}}` + "\n"
		if diff := cmp.Diff(want, receive()); diff != "" {
			t.Fatalf("%s: the session does not go on (-want +got):\n%s", test.name, diff)
		}
	}
	for _, id := range []string{"9007199254740992", "-9007199254740992", `""`, `"é 😀"`} {
		send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		if got, want := receive(), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`+"\n"; got != want {
			t.Errorf("id %s: got %s", id, got)
		}
	}
	toServer.Close()
	if err := <-done; err != nil {
		t.Errorf("the session ended with %v", err)
	}
	toClient.Close()
}
