package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// typeWords are the spellings of transports, squashed.
var typeWords = map[string]Transport{
	"stdio": Stdio, "local": Stdio, "command": Stdio, "process": Stdio,
	"http": HTTP, "https": HTTP, "streamablehttp": HTTP, "streamable": HTTP, "httpstream": HTTP,
	"streaminghttp": HTTP, "httpstreaming": HTTP, "remote": HTTP,
	"sse": SSE, "httpsse": SSE, "eventstream": SSE,
	"ws": WS, "websocket": WS,
}

// typeWord gives the transport that a word means in some client, or "".
func typeWord(s string) Transport { return typeWords[squash(strings.TrimSpace(s))] }

// usualType tells whether a spelling is one that clients document.
func usualType(s string) bool {
	switch s {
	case "stdio", "local", "http", "streamable-http", "streamableHttp", "streamable_http", "remote", "sse", "ws", "websocket":
		return true
	}
	return false
}

// takeType reads the transport that the entry names.
func (e *entry) takeType() {
	h := e.first(roleType)
	if h == nil {
		return
	}
	if h.node.Kind != syntax.String {
		e.keep(*h)
		return
	}
	if h.node.Text == "" {
		return
	}
	e.took(h)
	e.typ, e.transport = h.node.Text, typeWord(h.node.Text)
	switch {
	case e.transport == "":
		e.note(UnknownType, clip(e.typ), h.off)
	case !usualType(e.typ):
		e.note(TypeSpelling, "", h.off)
	}
	for i := range e.hits {
		o := &e.hits[i]
		if o.role == roleType && o.node != h.node && o.node.Kind == syntax.String && typeWord(o.node.Text) != e.transport {
			e.dropped(TypeConflict, o.name, o.node)
		}
	}
}

// takeURL reads the address.
func (e *entry) takeURL() {
	e.dropEmpty(roleHTTPURL, roleURL, roleWSURL)
	h := e.first(roleHTTPURL)
	if plainURL := e.first(roleURL); h == nil {
		h = plainURL
	} else if plainURL != nil && addressOf(plainURL.node) != addressOf(h.node) {
		e.dropped(AmbiguousTransport, "url_dropped", plainURL.node)
	}
	socket := e.first(roleWSURL)
	if socket != nil {
		e.dropped(ClientIgnores, socket.name, socket.node)
	}
	if h == nil {
		h = socket
	}
	if h == nil {
		return
	}
	if h != socket {
		e.took(h)
	}
	e.url = val{text: addressOf(h.node), off: h.node.Offset}
	e.urlRole = h.role
	for i := range e.hits {
		o := &e.hits[i]
		if o.role == h.role && o.node != h.node && addressOf(o.node) != e.url.text && o.node.Kind != syntax.Null {
			e.dropped(URLConflict, o.name, o.node)
		}
	}
}

// addressOf is the text of an address, which some files put into a list of one.
func addressOf(n *syntax.Node) string {
	if n.Kind == syntax.Array && len(n.Items) == 1 {
		n = n.Items[0]
	}
	if n.Kind != syntax.String {
		return ""
	}
	return n.Text
}

// dropEmpty takes out addresses without a text.
func (e *entry) dropEmpty(roles ...role) {
	for i := range e.hits {
		h := &e.hits[i]
		for _, r := range roles {
			if h.role != r || h.node.Kind == syntax.Null {
				continue
			}
			if strings.TrimSpace(addressOf(h.node)) == "" {
				if h.node.Kind == syntax.String {
					e.note(EmptyURLIgnored, "", h.off)
				} else {
					e.keep(*h)
				}
				h.role = roleQuiet
			}
		}
	}
}

// decideTransport settles what the entry is, and drops what does not belong to
// it.
func (e *entry) decideTransport() {
	local, remote := e.command.text != "", e.url.text != ""
	if local && remote {
		drop := e.transport != "" && e.transport != Stdio || e.transport == "" && e.d.urlWins
		if drop {
			e.dropCommand()
		} else {
			e.dropURL()
		}
		local, remote = !drop, drop
	}
	switch {
	case local:
		e.s.Transport = Stdio
		if e.transport != "" && e.transport != Stdio {
			e.note(TypeContradicts, e.typ, e.off)
		}
		e.dropHeaders()
	case remote:
		e.remoteTransport()
		e.noteIgnored()
	}
}

func (e *entry) dropURL() {
	e.note(AmbiguousTransport, "url_dropped", e.url.off)
	e.s.Notes[len(e.s.Notes)-1].Dropped = e.url.text
	e.url = val{}
}

func (e *entry) dropCommand() {
	e.note(AmbiguousTransport, "command_dropped", e.command.off)
	var b strings.Builder
	b.WriteString(e.command.text)
	for _, arg := range e.args {
		b.WriteString(" " + arg.text)
	}
	e.s.Notes[len(e.s.Notes)-1].Dropped = b.String()
	e.command, e.args = val{}, nil
}

func (e *entry) dropHeaders() {
	if len(e.headers) == 0 {
		return
	}
	e.note(HeadersOnStdioDropped, "", e.headers[0].off)
	var b strings.Builder
	for _, h := range e.headers {
		b.WriteString(h.name + ": " + h.text + "\n")
	}
	e.s.Notes[len(e.s.Notes)-1].Dropped = b.String()
	e.headers, e.headerAt = nil, places{}
}

// noteIgnored notes what a remote server has no use for.
func (e *entry) noteIgnored() {
	if len(e.env) > 0 && e.d.id != Goose { // Goose fills headers from it
		if h := e.first(roleEnv); h != nil {
			e.note(ClientIgnores, h.name, h.off)
		}
	}
	if len(e.args) > 0 {
		name := "args"
		if h := e.first(roleArgs); h != nil {
			name = h.name
		}
		e.note(ClientIgnores, name, e.args[0].off)
		e.args = nil
	}
}

// remoteTransport decides between the transports with an address.
func (e *entry) remoteTransport() {
	socket := isSocket(e.url.text)
	switch {
	case e.urlRole == roleHTTPURL:
		e.s.Transport = HTTP
		if e.transport != "" && e.transport != HTTP {
			e.note(TypeContradicts, e.typ, e.off)
		}
	case e.transport == Stdio || socket && e.transport != "" && e.transport != WS:
		e.note(TypeContradicts, e.typ, e.off)
		e.inferTransport(false)
	case e.transport != "":
		e.s.Transport = e.transport
	default:
		e.inferTransport(e.typ == "")
	}
}

func isSocket(address string) bool {
	return hasScheme(address, "ws") || hasScheme(address, "wss")
}

func hasScheme(address, scheme string) bool {
	return len(address) > len(scheme)+2 && strings.EqualFold(address[:len(scheme)], scheme) && address[len(scheme):len(scheme)+3] == "://"
}

// inferTransport guesses from the address, and says so where the format would
// have let the author say it.
func (e *draft) inferTransport(tell bool) {
	switch {
	case isSocket(e.url.text):
		e.s.Transport = WS
		return
	case endsInSSE(e.url.text):
		e.s.Transport = SSE
	case e.d.untypedSSE:
		e.s.Transport = SSE
		if tell && e.d.id == Cline {
			e.note(TransportUncertain, "", e.url.off)
		}
	default:
		e.s.Transport = HTTP
	}
	if tell && e.d.id != Codex {
		e.note(TypeInferred, string(e.s.Transport), e.url.off)
	}
}

// endsInSSE tells whether the path of an address ends in /sse.
func endsInSSE(address string) bool {
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		address = address[:i]
	}
	return strings.HasSuffix(strings.TrimRight(address, "/"), "/sse")
}

// isAddress tells whether a text is an address and not a command.
func isAddress(s string) bool {
	for _, scheme := range []string{"http", "https", "ws", "wss"} {
		if hasScheme(s, scheme) {
			return !strings.ContainsAny(s, " \t\n")
		}
	}
	return false
}
