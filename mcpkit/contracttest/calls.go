package contracttest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpcontract/mcpcontract/result"
)

// toolResult is a result of tools/call.
type toolResult struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
	IsError           bool              `json:"isError"`
	InputRequests     json.RawMessage   `json:"inputRequests"`

	texts []string // of the text blocks
}

// checkCall makes one call of Options. It reports false when the session is over.
func (c *checker) checkCall(call rawCall, tools map[string]*tool) bool {
	t := tools[call.tool]
	if t == nil {
		c.broken("alive", call.tool, "Options.Calls names a tool that is not in tools/list", nil)
		return true
	}
	r, ok := c.ask(call.tool, "tools/call", map[string]any{"name": call.tool, "arguments": call.args})
	if !ok {
		return false
	}
	if r.Error != nil {
		c.broken("error-envelope", call.tool, "the call got a protocol error, which models do not see", r.raw)
		return true
	}
	res, fault := readResult(r.Result)
	switch {
	case fault != "":
		c.broken("one-representation", call.tool, fault, r.raw)
	case res.InputRequests != nil: // an intermediate question, not a result
	case call.fails && !res.IsError:
		c.broken("error-envelope", call.tool, "the call succeeds, and Options.Calls says it fails", r.raw)
	case res.IsError && !call.fails:
		c.broken("error-envelope", call.tool, "the call fails, and Options.Calls says it succeeds", r.raw)
	case res.IsError:
		c.checkError(call.tool, res, r)
	default:
		c.checkSuccess(t, res, r)
	}
	return true
}

// readResult reads a result; fault says why no client could.
func readResult(raw json.RawMessage) (res toolResult, fault string) {
	if raw == nil || string(raw) == "null" {
		return res, "the result is null"
	}
	res, err := decode[toolResult](raw)
	if err != nil {
		return res, "the result cannot be read: " + err.Error()
	}
	if res.Content == nil && res.InputRequests == nil {
		return res, "the result has no content, not even an empty list"
	}
	for _, b := range res.Content {
		block, err := decode[struct{ Type, Text string }](b)
		if err != nil {
			return res, "a content block cannot be read: " + err.Error()
		}
		if block.Type == "text" {
			res.texts = append(res.texts, block.Text)
		}
	}
	return res, ""
}

func (c *checker) checkSuccess(t *tool, res toolResult, r reply) {
	if len(r.Result) > softResult {
		c.doubtful("budget", t.Name, fmt.Sprintf("a result has %d bytes; clients cut from %d on", len(r.Result), softResult))
	}
	structured := res.StructuredContent != nil
	if fault := representationFault(res, c.reads()); fault != "" {
		c.broken("one-representation", t.Name, fault, r.raw)
		return
	}
	if !structured {
		if t.OutputSchema != nil {
			c.broken("schema", t.Name, "the client was shown an output schema, and gets no structuredContent: some refuse that", r.raw)
		}
		return
	}
	if t.output == nil {
		return
	}
	value, err := decode[any](res.StructuredContent)
	if err == nil {
		err = t.output.Validate(value)
	}
	if err != nil {
		c.broken("schema", t.Name, "the result does not match the output schema that the client was shown: "+cut(err.Error()), r.raw)
	}
}

// reads returns the shape that the client reads.
func (c *checker) reads() result.Shape {
	return (*result.Options)(nil).ShapeFor(result.Client{
		Name: c.client.Name, Version: c.client.Version, Protocol: c.protocol, PerRequest: c.protocol == modern,
	})
}

func representationFault(res toolResult, reads result.Shape) string {
	structured := res.StructuredContent != nil
	switch {
	case structured && !strings.HasPrefix(string(res.StructuredContent), "{"):
		return "structuredContent is no object"
	case structured && len(res.texts) > 0:
		return "both text and structuredContent"
	case structured && reads == result.Text:
		return "structuredContent for a client that reads text: its model sees nothing"
	case !structured && len(res.Content) == 0:
		return "an empty result"
	}
	return ""
}

var codePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkError checks the result of a call that failed.
func (c *checker) checkError(name string, res toolResult, r reply) {
	if len(r.Result) > maxError {
		c.broken("error-envelope", name, fmt.Sprintf("the error has %d bytes, more than %d", len(r.Result), maxError), r.raw)
	}
	if res.StructuredContent != nil {
		c.broken("error-envelope", name, "structuredContent beside an error hides its text from some clients", r.raw)
		return
	}
	if len(res.Content) != 1 || len(res.texts) != 1 {
		c.broken("error-envelope", name, "an error is exactly one text block", r.raw)
		return
	}
	env, err := decode[struct {
		Error *struct{ Code, Message string }
	}](json.RawMessage(res.texts[0]))
	switch {
	case err != nil || env.Error == nil:
		c.broken("error-envelope", name, `the text of the error is not {"error": {"code", "message"}}`, r.raw)
	case !codePattern.MatchString(env.Error.Code):
		c.broken("error-envelope", name, fmt.Sprintf("the code %q is not lower_snake_case", cut(env.Error.Code)), r.raw)
	case env.Error.Message == "":
		c.broken("error-envelope", name, "the error has no message", r.raw)
	}
}

// checkHostileCalls sends calls that no schema allows: to each tool once, many
// bad arguments from the first client and one from the others, because a server
// works hard to refuse many. It reports false when the session is over.
func (c *checker) checkHostileCalls(tools map[string]*tool) bool {
	r, ok := c.ask("", "tools/call", map[string]any{"name": strings.Repeat("x", 20_000), "arguments": map[string]any{}})
	if !ok {
		return false
	}
	c.checkShort("", "an unknown tool with a long name", r)
	count := 1
	if c.first {
		count = 1000
	}
	args, done := unknownArguments(count), map[string]bool{}
	for _, call := range c.calls {
		t := tools[call.tool]
		if t == nil || done[t.Name] || inputFault(t.InputSchema) != "" {
			continue // an open schema may allow these arguments
		}
		done[t.Name] = true
		r, ok := c.ask(t.Name, "tools/call", map[string]any{"name": t.Name, "arguments": args})
		if !ok {
			return false
		}
		res, fault := readResult(r.Result)
		if r.Error == nil && fault == "" && !res.IsError {
			c.broken("schema", t.Name, "arguments that the schema forbids are accepted", r.raw)
			continue
		}
		c.checkShort(t.Name, fmt.Sprintf("%d unknown arguments", count), r)
		if res.IsError {
			c.checkError(t.Name, res, r)
		}
	}
	return true
}

func unknownArguments(count int) map[string]string {
	args := map[string]string{}
	for i := range count {
		args[fmt.Sprintf("unknown_argument_%d", i)] = "some text that nobody asked for"
	}
	return args
}

func (c *checker) checkShort(name, what string, r reply) {
	if len(r.raw) > maxError {
		c.broken("no-echo", name, fmt.Sprintf("the answer to %s has %d bytes, more than %d", what, len(r.raw), maxError), r.raw)
	}
}

// checkResources reads every listed resource and some that cannot exist.
func (c *checker) checkResources() {
	r, ok := c.ask("", "resources/list", map[string]any{})
	if !ok || r.Error != nil {
		return
	}
	c.checkCache("resources/list", r)
	list, err := decode[struct {
		Resources []struct {
			URI string `json:"uri"`
		} `json:"resources"`
	}](r.Result)
	if err != nil {
		c.broken("alive", "", "resources/list cannot be read", r.raw)
		return
	}
	for _, res := range list.Resources {
		r, ok := c.ask("", "resources/read", map[string]any{"uri": res.URI})
		if !ok {
			return
		}
		c.checkCache("resources/read", r)
	}
	for _, hostile := range []struct{ what, uri string }{
		{"an unknown URI with control characters", "unknown://a\x01b\x7f"},
		{"a long unknown URI", "unknown://" + strings.Repeat("y", 20_000)},
	} {
		r, ok := c.ask("", "resources/read", map[string]any{"uri": hostile.uri})
		if !ok {
			return
		}
		c.checkShort("", hostile.what, r)
	}
}
