package probe

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// The client decodes schemas to values in which a large number loses digits. So
// what is sent and received is looked at on its way, and the schemas of the last
// page are taken from its text.

const (
	// listMethod is what the catalog is asked for with.
	listMethod = "tools/list"
	// maxNested is how deep the SDK takes a message.
	maxNested = 1000
	// maxRequest is more than a request of this package has.
	maxRequest = 1 << 20
)

// asked notes a message to the server.
func (p *probe) asked(m jsonrpc.Message) {
	if req, ok := m.(*jsonrpc.Request); ok && req.Method == listMethod {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.listID, p.listed = req.ID, nil
	}
}

// heard notes a message from the server.
func (p *probe) heard(m jsonrpc.Message) {
	res, ok := m.(*jsonrpc.Response)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listID.IsValid() && res.ID == p.listID {
		p.listed = res.Result
	}
}

// tooDeep ends the probe if a text that could not be read is a message which is
// nested too deeply, and reports whether it is one.
func (p *probe) tooDeep(text []byte) bool {
	if nesting(text) <= maxNested {
		return false
	}
	p.fail(p.errorf(Failed, "the server sent a message that is nested more than %d levels deep", maxNested))
	return true
}

// nesting is how deep a JSON text is nested, 0 if it is no object or list.
func nesting(text []byte) int {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return 0
	}
	deepest, depth := 0, 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}

// askedOver notes the message of an HTTP request.
func (p *probe) askedOver(req *http.Request) {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return
	}
	body, err := req.GetBody()
	if err != nil {
		return // then it cannot be sent again either, and what is sent is not this package's
	}
	data, err := io.ReadAll(io.LimitReader(body, maxRequest))
	_ = body.Close() // in memory
	if m, decodeErr := jsonrpc.DecodeMessage(data); err == nil && decodeErr == nil {
		p.asked(m)
	}
}

// A listener notes the messages of an HTTP answer: one text, or a stream of
// events.
type listener struct {
	probe  *probe
	stream bool
	buf    []byte // of a text, or of an event's last line
	event  []byte // the data of an event so far
}

// write takes a part of the answer.
func (l *listener) write(part []byte) {
	if len(l.buf)+len(l.event)+len(part) > maxMessage+maxRequest {
		l.buf, l.event = nil, nil // the limits for messages end the probe
		return
	}
	l.buf = append(l.buf, part...)
	for l.stream {
		line, rest, ok := bytes.Cut(l.buf, []byte("\n"))
		if !ok {
			return
		}
		l.buf = rest
		l.line(bytes.TrimSuffix(line, []byte("\r")))
	}
}

// line takes a line of a stream. An empty one ends an event.
func (l *listener) line(line []byte) {
	if len(line) == 0 {
		l.message(l.event)
		l.event = nil
	} else if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		l.event = append(append(l.event, data...), '\n')
	}
}

// end takes the end of the answer.
func (l *listener) end() {
	if l.stream {
		l.line(l.buf)
		l.message(l.event)
	} else {
		l.message(l.buf)
	}
	l.buf, l.event = nil, nil
}

// message notes the messages of a text, if it holds some.
func (l *listener) message(text []byte) {
	if len(text) == 0 {
		return
	}
	messages, err := decode(text)
	if err != nil {
		l.probe.tooDeep(text)
	}
	for _, m := range messages {
		l.probe.heard(m)
	}
}

// exact gives the tools of a page with schemas in which the numbers are texts,
// from the answer that the page was decoded from.
func exact(answer json.RawMessage, tools []*mcp.Tool) []*mcp.Tool {
	var page map[string]json.RawMessage // as the client has it: no name matches in another case
	var list []map[string]json.RawMessage
	if json.Unmarshal(answer, &page) != nil || json.Unmarshal(page["tools"], &list) != nil || len(list) != len(tools) {
		return tools // not heard, which the transports of this package do not let happen
	}
	out := make([]*mcp.Tool, len(tools))
	for i, tool := range tools {
		t := *tool
		t.InputSchema, t.OutputSchema = withNumbers(list[i]["inputSchema"]), withNumbers(list[i]["outputSchema"])
		out[i] = &t
	}
	return out
}

// withNumbers decodes JSON and keeps the texts of numbers.
func withNumbers(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil // absent
	}
	return v
}

// toolNames gives the names of tools as they are shown, sorted, each once, and those
// that more than one tool has.
func (p *probe) toolNames(tools []*mcp.Tool) (names, duplicates []string) {
	names = make([]string, len(tools))
	for i, tool := range tools {
		names[i] = p.name(tool.Name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 && name == names[i-1] {
			duplicates = append(duplicates, name)
		}
	}
	return slices.Compact(names), slices.Compact(duplicates)
}

// described is what of a tool the digest is over: all that a model or a client
// decides by.
type described struct {
	Name         string               `json:"name"`
	Title        string               `json:"title"`
	Description  string               `json:"description"`
	InputSchema  any                  `json:"inputSchema"`
	OutputSchema any                  `json:"outputSchema"`
	Annotations  *mcp.ToolAnnotations `json:"annotations"`
}

// catalogDigest gives one digest for the same tools in any order.
func catalogDigest(tools []*mcp.Tool) (string, error) {
	forms := make([]string, 0, len(tools))
	for _, t := range tools {
		form, err := canon.Marshal(described{
			strings.ToValidUTF8(t.Name, "\uFFFD"), t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations,
		})
		if err != nil {
			return "", err
		}
		forms = append(forms, string(form))
	}
	slices.Sort(forms)
	parts := make([][]byte, len(forms))
	for i, form := range forms {
		parts[i] = []byte(form)
	}
	return canon.Digest(catalogDomain, parts...), nil
}
