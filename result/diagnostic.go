package result

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of the kept texts and of their pages.
const (
	keepFor      = 30 * time.Minute
	keepEntries  = 64
	keepBytes    = 16 << 20
	defaultPage  = 8000
	maxPage      = 16000
	pageOverhead = 256 // the rest of a page's JSON
)

// A store keeps whole texts of what was cut, bounded in time, number and
// bytes; the oldest go first.
type store struct {
	mu      sync.Mutex
	entries []entry // oldest first
	bytes   int
}

type entry struct {
	id, text string
	expires  time.Time
}

// put keeps text and returns its id, empty for a text that is larger than the
// whole store.
func (s *store) put(text string) string {
	if len(text) > keepBytes {
		return ""
	}
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	for len(s.entries) > 0 && (len(s.entries) >= keepEntries || s.bytes+len(text) > keepBytes) {
		s.dropOldest()
	}
	s.entries = append(s.entries, entry{id, text, time.Now().Add(keepFor)})
	s.bytes += len(text)
	return id
}

func (s *store) get(id string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	for _, e := range s.entries {
		if e.id == id {
			return e.text, true
		}
	}
	return "", false
}

func (s *store) expire() {
	now := time.Now()
	for len(s.entries) > 0 && !now.Before(s.entries[0].expires) {
		s.dropOldest()
	}
}

func (s *store) dropOldest() {
	s.bytes -= len(s.entries[0].text)
	s.entries[0] = entry{} // the array behind the slice must not hold the text
	s.entries = s.entries[1:]
}

type diagnosticInput struct {
	DiagnosticID string `json:"diagnosticId" jsonschema:"id from details.diagnosticId of an error"`
	Offset       int    `json:"offset,omitempty" jsonschema:"byte offset to start at: nextOffset of the page before"`
	MaxBytes     int    `json:"maxBytes,omitempty" jsonschema:"most bytes of this page, counted as JSON; at most 16000, 8000 if left out"`
}

type diagnosticOutput struct {
	Content    string `json:"content" jsonschema:"this page of the text"`
	Offset     int    `json:"offset" jsonschema:"byte offset of this page"`
	NextOffset int    `json:"nextOffset,omitempty" jsonschema:"byte offset of the next page, left out on the last"`
	TotalBytes int    `json:"totalBytes" jsonschema:"bytes of the whole text"`
}

// diagnosticAbout names the fields of the reply, since most clients show a
// model no output schema.
const diagnosticAbout = "Read, page by page, the whole text of an error or result that was cut to fit. " +
	"The reply has content, offset, totalBytes and, unless it is the last page, nextOffset. " +
	"Ids live 30 minutes in this server process."

func (sh *shaper) addDiagnosticTool(s *mcp.Server) {
	input, err := jsonschema.For[diagnosticInput](nil)
	if err != nil {
		panic(err) // unreachable: the type is ours
	}
	least, first, no := 1.0, 0.0, false
	input.Properties["diagnosticId"].Pattern = "^[A-Z2-7]{26}$"
	input.Properties["offset"].Minimum = &first
	input.Properties["maxBytes"].Minimum = &least
	mcp.AddTool(s, &mcp.Tool{
		Name:        sh.opts.diagnosticTool(),
		Title:       "Read a diagnostic",
		Description: diagnosticAbout,
		InputSchema: input,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}, sh.readDiagnostic)
}

func (sh *shaper) readDiagnostic(_ context.Context, _ *mcp.CallToolRequest, in diagnosticInput) (*mcp.CallToolResult, diagnosticOutput, error) {
	text, ok := sh.kept.get(in.DiagnosticID)
	if !ok {
		return nil, diagnosticOutput{}, &Error{
			Code:    CodeDiagnosticUnknown,
			Message: "this process keeps no diagnostic with that id: it is older than 30 minutes, was displaced by newer ones, or another replica has it; repeat the call that failed",
		}
	}
	if in.Offset > len(text) || in.Offset < len(text) && !utf8.RuneStart(text[in.Offset]) {
		return nil, diagnosticOutput{}, &Error{
			Code:    CodeInvalidArguments,
			Message: fmt.Sprintf("offset %d is not the start of a page of this %d-byte text: use nextOffset of the page before", in.Offset, len(text)),
		}
	}
	page := pageOf(text[in.Offset:], sh.pageSize(in.MaxBytes))
	out := diagnosticOutput{Content: page, Offset: in.Offset, TotalBytes: len(text)}
	if next := in.Offset + len(page); next < len(text) {
		out.NextOffset = next
	}
	return nil, out, nil
}

// pageSize keeps a page below the limits that would cut it again.
func (sh *shaper) pageSize(asked int) int {
	size := maxPage
	if limit := sh.opts.maxResult(); limit > 0 {
		size = min(size, limit-pageOverhead)
	}
	if asked == 0 {
		asked = defaultPage
	}
	return min(size, asked)
}

// pageOf returns the whole characters of text that take at most size bytes as
// a JSON string, and at least one.
func pageOf(text string, size int) string {
	used := 0
	for i, r := range text {
		if used += jsonSize(r); used > size && i > 0 {
			return text[:i]
		}
	}
	return text
}

func jsonSize(r rune) int {
	switch r {
	case '"', '\\', '\n', '\r', '\t', '\b', '\f':
		return 2
	case '<', '>', '&', '\u2028', '\u2029':
		return 6
	}
	if r < ' ' {
		return 6
	}
	return utf8.RuneLen(r)
}
