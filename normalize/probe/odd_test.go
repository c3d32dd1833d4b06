package probe_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

const discovered = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"medlar","version":"3"}}`

// TestOddAnswers has servers whose answers are JSON-RPC and yet not what the
// protocol wants.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		discover string // result; empty for an error
		initial  string
		list     string
		tools    int // in the report; -1 for an error
	}{
		{"all well", "", initialized, `{"tools":[` + stew + `]}`, 1},
		{"all well in the newer protocol", discovered, "", `{"resultType":"complete","tools":[` + stew + `]}`, 1},
		{"null instead of a tool", "", initialized, `{"tools":[null]}`, -1},
		{"null instead of tools", "", initialized, `{"tools":null}`, -1},
		{"no tools", "", initialized, `{}`, -1},
		{"null instead of a page", "", initialized, `null`, -1},
		{"a list instead of a page", "", initialized, `[]`, -1},
		{"a tool without anything", "", initialized, `{"tools":[{}]}`, -1},
		{"a tool whose name is a number", "", initialized, `{"tools":[{"name":5}]}`, -1},
		{"a tool without a schema", "", initialized, `{"tools":[{"name":"stew"}]}`, 1},
		{"a schema that is a text", "", initialized, `{"tools":[{"name":"stew","inputSchema":"any"}]}`, 1},
		{"a tool that the client would leave out", "", initialized, `{"tools":[` + stew + `,{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"a b"}}}}]}`, 2},
		{"a cursor that is a number", "", initialized, `{"tools":[],"nextCursor":7}`, -1},
		{"null instead of a session", "", `null`, ``, -1},
		{"a session without anything", "", `{}`, ``, -1},
		{"a text instead of a session", "", `"yes"`, ``, -1},
		{"a session of nobody", "", `{"protocolVersion":"2025-06-18"}`, `{"tools":[]}`, 0},
		{"a version of the future", "", `{"protocolVersion":"2031-01-01","capabilities":{}}`, `{"tools":[]}`, -1},
		{"null discovered", `null`, initialized, `{"tools":[]}`, 0},
		{"nothing discovered", `{}`, initialized, `{"tools":[]}`, 0},
		{"a list discovered", `[]`, initialized, `{"tools":[]}`, 0},
		{"input wanted for the list", discovered, "", `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"who?"}}}}`, -1},
		{"input wanted for the handshake", `{"resultType":"input_required","inputRequests":{}}`, initialized, `{"tools":[]}`, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			report, err := probe.Check(t.Context(), peer(t, "answers", test.discover, test.initial, test.list), &probe.Options{Timeout: 10 * time.Second})
			if e, ok := errors.AsType[*probe.Error](err); err != nil && (!ok || e.Code != probe.Failed || test.tools >= 0) {
				t.Errorf("error %v", err)
			}
			if err == nil && len(report.Tools) != test.tools {
				t.Errorf("report %+v, want %d tools", report, test.tools)
			}
			t.Log(report, err)
		})
	}
}
