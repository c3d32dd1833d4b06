// Package peer is a small MCP client on raw messages, for demonstrations and
// tests: nothing stands between its caller and what is on the wire.
//
//	p := peer.New(stdin, stdout, peer.Identity{Name: "Zed", Version: "0.1.0"})
//	if _, err := p.Start(); err != nil {
//		return err
//	}
//	reply, err := p.Call("list_repos", map[string]any{})
//
// # Concurrency
//
// A [Peer] sends one request at a time and is not safe for concurrent use.
//
// # Errors
//
// An error means that the connection or the server's JSON is broken. What the
// server refuses is in the [Reply].
package peer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
)

// The versions that a peer speaks: with a session, and without.
const (
	sessionVersion = "2025-11-25"
	requestVersion = "2026-07-28"
)

// Identity says who a peer claims to be and which protocol it speaks.
type Identity struct {
	// Name and Version are clientInfo.
	Name, Version string
	// PerRequest selects protocol 2026-07-28, where each request carries the
	// identity. Otherwise the peer opens a session with 2025-11-25.
	PerRequest bool
}

// Peer is one client. Its connection belongs to the caller, who closes it.
type Peer struct {
	w  io.Writer
	r  *bufio.Reader
	id Identity
	n  int
}

// New returns a peer that writes requests to w and reads replies from r, one
// message a line.
func New(w io.Writer, r io.Reader, id Identity) *Peer {
	return &Peer{w: w, r: bufio.NewReader(r), id: id}
}

// Reply is what came back for one request.
type Reply struct {
	// Result is the result, nil if there is an error.
	Result json.RawMessage `json:"result"`
	// Error is the protocol error, nil if there is none.
	Error *Error `json:"error"`
	// Bytes is the length of the whole reply.
	Bytes int `json:"-"`
}

// Error is a protocol error.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Start introduces the peer: initialize in a session, server/discover where
// there is none. Call it first.
func (p *Peer) Start() (Reply, error) {
	if p.id.PerRequest {
		return p.Send("server/discover", nil)
	}
	reply, err := p.Send("initialize", map[string]any{
		"protocolVersion": sessionVersion,
		"capabilities":    map[string]any{},
		"clientInfo":      p.clientInfo(),
	})
	if err != nil || reply.Error != nil {
		return reply, err
	}
	_, err = io.WriteString(p.w, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return reply, err
}

func (p *Peer) clientInfo() map[string]any {
	return map[string]any{"name": p.id.Name, "version": p.id.Version}
}

// Listen asks to be told when the list of resources changes, which servers without
// sessions want to be asked. It does not wait: what [Peer.Next] gives first is the
// server's word that it will. It is not for peers of [NewHTTP], whose posts end with
// the reply.
func (p *Peer) Listen() error {
	return p.send("subscriptions/listen", map[string]any{"notifications": map[string]any{"resourcesListChanged": true}})
}

// Next waits for a notification and returns its method.
func (p *Peer) Next() (method string, err error) {
	for {
		line, err := p.r.ReadBytes('\n')
		if err != nil {
			return "", fmt.Errorf("waiting for a notification: %w", err)
		}
		var message struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(line, &message); err != nil {
			return "", fmt.Errorf("waiting for a notification: %w", err)
		}
		if message.ID == nil {
			return message.Method, nil
		}
	}
}

// Send sends a request and waits for its reply; notifications in between are
// dropped. It adds to params what the protocol wants and leaves the map alone.
func (p *Peer) Send(method string, params map[string]any) (Reply, error) {
	if err := p.send(method, params); err != nil {
		return Reply{}, err
	}
	return p.receive(method)
}

func (p *Peer) send(method string, params map[string]any) error {
	p.n++
	request := map[string]any{"jsonrpc": "2.0", "id": p.n, "method": method, "params": p.complete(params)}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(request); err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	if _, err := p.w.Write(line.Bytes()); err != nil {
		return fmt.Errorf("sending %s: %w", method, err)
	}
	return nil
}

func (p *Peer) complete(params map[string]any) map[string]any {
	full := make(map[string]any, len(params)+1)
	if p.id.PerRequest {
		full["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    requestVersion,
			"io.modelcontextprotocol/clientInfo":         p.clientInfo(),
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	maps.Copy(full, params)
	return full
}

func (p *Peer) receive(method string) (Reply, error) {
	for {
		line, err := p.r.ReadBytes('\n')
		if err != nil {
			return Reply{}, fmt.Errorf("reply to %s: %w", method, err)
		}
		var message struct {
			ID *int `json:"id"`
			Reply
		}
		if err := json.Unmarshal(line, &message); err != nil {
			return Reply{}, fmt.Errorf("reply to %s: %w", method, err)
		}
		if message.ID != nil && *message.ID == p.n {
			message.Bytes = len(line)
			return message.Reply, nil
		}
	}
}

// Call calls a tool. args is its argument object, nil for none.
func (p *Peer) Call(tool string, args map[string]any) (Reply, error) {
	if args == nil {
		args = map[string]any{}
	}
	return p.Send("tools/call", map[string]any{"name": tool, "arguments": args})
}

// Payload takes the JSON out of a tool result: structuredContent if there is
// any, else the last text block, as the instructions of the servers say.
// structured tells which it was, failed whether the result is an error.
func (r Reply) Payload() (payload json.RawMessage, structured, failed bool) {
	var result struct {
		Content           []struct{ Text string } `json:"content"`
		StructuredContent json.RawMessage         `json:"structuredContent"`
		IsError           bool                    `json:"isError"`
	}
	if json.Unmarshal(r.Result, &result) != nil {
		return nil, false, false
	}
	if result.StructuredContent != nil {
		return result.StructuredContent, true, result.IsError
	}
	if len(result.Content) == 0 {
		return nil, false, result.IsError
	}
	return json.RawMessage(result.Content[len(result.Content)-1].Text), false, result.IsError
}
