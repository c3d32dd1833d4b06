// Package transcript runs a server against a built-in client and writes down
// what both said, for a person to read.
//
//	steps := []transcript.Step{{Title: "What is there", Tool: "list_repos"}}
//	err := transcript.Play(ctx, os.Stdout, server, peer.Identity{Name: "Zed", Version: "0.1.0"}, steps)
//
// # Concurrency
//
// Each call of [Play] is independent of others, if the server is.
//
// # Errors
//
// A refusal of the server is part of the transcript. An error means that the
// server cannot be talked to or the transcript cannot be written.
package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// Step is one request of a transcript.
type Step struct {
	// Title says what the step shows.
	Title string
	// Tool is the tool to call, with the arguments Args.
	Tool string
	Args map[string]any
	// Resource is the URI to read instead, where Tool is empty.
	Resource string
	// Do is what somebody does beside the server instead, where both are empty.
	// It writes down what it did.
	Do func(w io.Writer) error
	// Hold, if not nil, remembers a member of the reply for the arguments of
	// later steps.
	Hold *Held
}

// Held is a member of a reply that a later step sends, such as a token. Put it
// among the arguments of that step. It is not safe for concurrent use.
type Held struct {
	// Member is its name in the reply.
	Member string

	value json.RawMessage
}

// MarshalJSON writes the value, null if no reply had it yet.
func (h *Held) MarshalJSON() ([]byte, error) {
	if h.value == nil {
		return []byte("null"), nil
	}
	return h.value, nil
}

// String returns the value, of a text without its quotes.
func (h *Held) String() string {
	var text string
	if json.Unmarshal(h.value, &text) == nil {
		return text
	}
	return string(h.value)
}

// take remembers the member of a reply.
func (h *Held) take(payload json.RawMessage) {
	var members map[string]json.RawMessage
	if h != nil && json.Unmarshal(payload, &members) == nil && members[h.Member] != nil {
		h.value = members[h.Member]
	}
}

// Play connects a client of the given identity to the server, takes the steps
// one after the other and writes the transcript to w. It returns when the
// server has ended the session.
func Play(ctx context.Context, w io.Writer, server *mcp.Server, id peer.Identity, steps []Step) (err error) {
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		runErr := server.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut})
		_ = serverOut.Close() // releases a client that still waits for a reply
		ended <- runErr
	}()
	defer func() {
		_ = clientOut.Close()
		err = errors.Join(err, <-ended)
	}()
	p := peer.New(clientOut, clientIn, id)
	if _, err := p.Start(); err != nil {
		return err
	}
	how := "a session of protocol 2025-11-25"
	if id.PerRequest {
		how = "protocol 2026-07-28, without a session"
	}
	t := &writer{w: w}
	t.printf("######## %s %s, %s\n", id.Name, id.Version, how)
	for _, step := range steps {
		if err := t.step(p, step); err != nil {
			return err
		}
	}
	return t.err
}

// writer keeps the first error of writing.
type writer struct {
	w   io.Writer
	err error
	// provenance is the last one that was written: most replies repeat it.
	provenance json.RawMessage
}

func (t *writer) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

func (t *writer) step(p *peer.Peer, step Step) error {
	t.printf("\n== %s\n", step.Title)
	switch {
	case step.Do != nil:
		if t.err == nil {
			t.err = step.Do(t.w)
		}
		return t.err
	case step.Tool == "":
		return t.read(p, step.Resource)
	}
	args, err := json.Marshal(step.Args)
	if err != nil {
		return err
	}
	if step.Args == nil {
		args = []byte("{}")
	}
	t.printf("-> %s %s\n", step.Tool, args)
	reply, err := p.Call(step.Tool, step.Args)
	if err != nil {
		return err
	}
	payload, structured, failed := reply.Payload()
	switch {
	case reply.Error != nil:
		t.protocolError(reply.Error)
		return nil
	case failed:
		t.printf("<- an error, as text, %d bytes\n", reply.Bytes)
	case structured:
		t.printf("<- structuredContent, %d bytes\n", reply.Bytes)
	default:
		t.blocks(reply)
	}
	t.value(payload, "   ")
	step.Hold.take(payload)
	return nil
}

// blocks says how many blocks a reply has, of which the last is the payload, and
// shows what text the others hold.
func (t *writer) blocks(reply peer.Reply) {
	var result struct {
		Content []struct {
			Type, Text string
			Resource   struct{ URI, Text string }
		}
	}
	if err := json.Unmarshal(reply.Result, &result); err != nil || len(result.Content) < 2 {
		t.printf("<- one text block of JSON, %d bytes\n", reply.Bytes)
		return
	}
	last := len(result.Content) - 1
	t.printf("<- one text block of JSON after %d of content, %d bytes\n", last, reply.Bytes)
	for _, b := range result.Content[:last] {
		t.printf("   %s %s\n", b.Type, b.Resource.URI)
		t.block(b.Text+b.Resource.Text, "   ")
	}
}

func (t *writer) read(p *peer.Peer, uri string) error {
	t.printf("-> resources/read %s\n", uri)
	reply, err := p.Send("resources/read", map[string]any{"uri": uri})
	if err != nil {
		return err
	}
	if reply.Error != nil {
		t.protocolError(reply.Error)
		return nil
	}
	var result struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	if err := json.Unmarshal(reply.Result, &result); err != nil {
		return err
	}
	for _, c := range result.Contents {
		t.printf("<- %s, %s\n", c.URI, c.MIMEType)
		if c.MIMEType == "application/json" {
			t.value(json.RawMessage(c.Text), "   ")
		} else {
			t.block(c.Text, "   ")
		}
	}
	return nil
}

func (t *writer) protocolError(e *peer.Error) {
	t.printf("<- protocol error %d\n   message: %s\n", e.Code, e.Message)
	if e.Data != nil {
		t.member("data", e.Data, "   ")
	}
}
