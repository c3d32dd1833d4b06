package mcpkit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// serve serves over loopback for as long as the test, and returns the URL.
func serve(t *testing.T, server *mcp.Server, opts *mcpkit.HTTPOptions) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, server, opts)
	return "http://" + l.Addr().String() + "/"
}

// serveOn serves l until the returned function is called, at the latest when the test ends.
func serveOn(t *testing.T, l net.Listener, server *mcp.Server, opts *mcpkit.HTTPOptions) (stop func() error) {
	t.Helper()
	h, err := mcpkit.NewHTTPHandler(server, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return stop
}

// A poster is a client that posts raw messages.
type poster struct {
	url     string
	client  *http.Client // nil: the default
	session string       // of the handshake era
	version string       // likewise
	token   string
}

// post sends one message with the headers that its protocol version asks for, and returns the status and the message
// that came back.
func (p *poster) post(t *testing.T, message string) (status int, reply string) {
	t.Helper()
	resp := p.do(t, message)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reply to %.200s: %v", message, err)
	}
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		_, data, _ := strings.Cut(string(body), "data: ")
		return resp.StatusCode, strings.TrimSuffix(data, "\n")
	}
	return resp.StatusCode, strings.TrimSuffix(string(body), "\n") + "\n"
}

func (p *poster) do(t *testing.T, message string) *http.Response {
	t.Helper()
	resp, err := cmpOr(p.client).Do(p.request(t, message))
	if err != nil {
		t.Fatalf("post %.200s: %v", message, err)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	return resp
}

func (p *poster) request(t *testing.T, message string) *http.Request {
	t.Helper()
	var m struct {
		Method string
		Params struct {
			Meta            map[string]any `json:"_meta"`
			Name, URI       string
			ProtocolVersion string
		}
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if version, ok := m.Params.Meta[mcp.MetaKeyProtocolVersion].(string); ok {
		req.Header.Set("Mcp-Protocol-Version", version)
		req.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	} else if m.Method == "initialize" {
		p.version = m.Params.ProtocolVersion
	} else {
		req.Header.Set("Mcp-Protocol-Version", p.version)
		req.Header.Set("Mcp-Session-Id", p.session)
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	return req
}

func cmpOr(c *http.Client) *http.Client {
	if c == nil {
		return http.DefaultClient
	}
	return c
}

// openStream opens the stream on which a session hears from the server.
func openStream(t *testing.T, p *poster) *bufio.Reader {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", p.session)
	r.Header.Set("Mcp-Protocol-Version", p.version)
	resp, err := cmpOr(p.client).Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("stream: %v, %v", resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	reader := bufio.NewReader(resp.Body)
	if line, err := reader.ReadString('\n'); err != nil || line != ": ok\n" {
		t.Fatalf("stream: %q, %v", line, err)
	}
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return reader
}
