package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tooLarge replaces a success that is over its budget.
func (sh *shaper) tooLarge(c Client, r *mcp.CallToolResult, size, limit int) *mcp.CallToolResult {
	whole := textOf(r.Content)
	sample := []byte(whole)
	if raw, ok := r.StructuredContent.(json.RawMessage); ok {
		whole, sample = tidy(string(raw)), raw
	}
	e := &Error{
		Code:    CodeResultTooLarge,
		Message: fmt.Sprintf("the result has %d bytes and at most %d are sent: ask for less", size, limit),
	}
	b := sh.cut(bodyOf(e), whole, sample)
	e.Details = b.Details
	return sh.errorResult(c, e, mustEncode(envelope{b}), nil)
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// middle returns the head and the tail of a long text.
func middle(s string, head, tail int) string {
	if len(s) <= head+tail {
		return s
	}
	end := s[len(s)-tail:]
	for end != "" && end[0]&0xC0 == 0x80 { // the rest of a character
		end = end[1:]
	}
	return short(s, head) + end
}
