package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// NewHTTP returns a peer that posts requests to url, until ctx ends. The caller
// ends its session, if any, by ending the server.
func NewHTTP(ctx context.Context, url string, id Identity) *Peer {
	c := &connection{ctx: ctx, url: url}
	return New(c, c, id)
}

// connection carries lines over streamable HTTP: each line written is one post,
// the lines read are the messages that came back.
type connection struct {
	ctx     context.Context //nolint:containedctx // io.Writer has no room for it
	url     string
	session string
	replies bytes.Buffer
}

// Read reads what has come back. There is nothing to wait for after Write.
func (c *connection) Read(p []byte) (int, error) { return c.replies.Read(p) }

// Write posts one message and keeps the reply.
func (c *connection) Write(line []byte) (int, error) {
	request, err := c.request(line)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, err
	}
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	switch response.Header.Get("Content-Type") {
	case "text/event-stream":
		for event := range strings.Lines(string(body)) {
			if data, ok := strings.CutPrefix(event, "data: "); ok {
				c.replies.WriteString(data)
			}
		}
	case "application/json":
		c.replies.Write(append(body, '\n'))
	default:
		if response.StatusCode >= http.StatusBadRequest {
			return 0, fmt.Errorf("%s: %.200s", response.Status, body)
		}
	}
	return len(line), nil
}

// request gives a message the headers that its protocol asks for.
func (c *connection) request(line []byte) (*http.Request, error) {
	var message struct {
		Method string
		Params struct {
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
			Name, URI string
		}
	}
	if err := json.Unmarshal(line, &message); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.url, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	switch params := message.Params; {
	case params.Meta.Version != "":
		request.Header.Set("Mcp-Protocol-Version", params.Meta.Version)
		request.Header.Set("Mcp-Method", message.Method)
		if name := params.Name + params.URI; name != "" {
			request.Header.Set("Mcp-Name", name)
		}
	case c.session != "":
		request.Header.Set("Mcp-Protocol-Version", sessionVersion)
		request.Header.Set("Mcp-Session-Id", c.session)
	}
	return request, nil
}
