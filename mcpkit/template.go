package mcpkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ResourceTemplate is a family of resources whose URIs differ in one value, such as repo://{repo}/manifest.
//
// The value is what stands between the literal ends of the URI, byte for byte. Nothing is decoded, so there is one
// spelling of each resource: a value with a percent sign or a slash is simply not found.
type ResourceTemplate struct {
	// URI is the template, absolute, with exactly one variable in braces. Required.
	URI string

	// Name is a short name for programs. Required.
	Name string

	// Title is the name that a client may show to people. Empty means none.
	Title string

	// Description says what the resources hold. Empty means none.
	Description string

	// MIMEType is the type of the contents that do not say their own. Empty means unknown.
	MIMEType string

	// Pattern is the regular expression, in the syntax of package regexp, that a whole value has to match. Empty means
	// ^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$.
	Pattern string

	// Read returns the contents of one resource. It is called concurrently, with values that match Pattern. For a
	// resource that does not exist it returns nothing and no error. Its errors reach the client by the rule of [Tool].Run.
	// Required.
	Read func(ctx context.Context, value string) ([]*mcp.ResourceContents, error)

	// Complete, if not nil, returns the values that a client may offer for what its user has typed so far; see
	// [Installer.Complete].
	Complete func(ctx context.Context, typed string) ([]string, error)
}

// Install adds the template to a server. The method value t.Install is a [Feature].
//
// Its error says what is wrong with the declaration: a missing field, a template that does not have one variable, a bad
// pattern, or a URI that was installed before.
func (t ResourceTemplate) Install(in *Installer) error {
	p, err := t.parse()
	if err == nil && in.templates[t.URI] {
		err = errors.New("the template is installed already")
	}
	if err == nil && t.Complete != nil {
		err = in.Complete(t.URI, p.variable, t.Complete)
	}
	if err != nil {
		return fmt.Errorf("resource template %q: %w", clip(t.URI), err)
	}
	in.templates[t.URI] = true
	in.plan(func(s *mcp.Server) {
		s.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: t.URI,
			Name:        t.Name,
			Title:       t.Title,
			Description: t.Description,
			MIMEType:    t.MIMEType,
		}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			value, ok := p.cut(req.Params.URI)
			if !ok {
				return nil, notFound(req.Params.URI)
			}
			contents, err := t.Read(ctx, value)
			if err != nil {
				return nil, in.withhold(ctx, t.URI, err)
			}
			if len(contents) == 0 {
				return nil, notFound(req.Params.URI)
			}
			return &mcp.ReadResourceResult{Contents: contents}, nil
		})
	})
	return nil
}

// oneVariable matches the templates that can be cut literally: no operators, modifiers or second variable.
var oneVariable = regexp.MustCompile(`^([a-z][a-z0-9+.-]*:[^{}]*)\{([A-Za-z_][A-Za-z0-9_]*)\}([^{}]*)$`)

// parsedTemplate is a template whose variable stands between two literals.
type parsedTemplate struct {
	prefix, variable, suffix string
	pattern                  *regexp.Regexp
}

func (t ResourceTemplate) parse() (*parsedTemplate, error) {
	switch {
	case t.Name == "":
		return nil, errors.New("the field Name is not set")
	case t.Read == nil:
		return nil, errors.New("the field Read is not set")
	}
	parts := oneVariable.FindStringSubmatch(t.URI)
	if parts == nil {
		return nil, errors.New("want an absolute URI with exactly one {variable}")
	}
	text := t.Pattern
	if text == "" {
		text, _ = kindPattern("id")
	}
	pattern, err := regexp.Compile(`^(?:` + text + `)$`)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return &parsedTemplate{prefix: parts[1], variable: parts[2], suffix: parts[3], pattern: pattern}, nil
}

// cut returns the value in uri. The SDK has matched the URI against the template by then, but percent-decoded and with
// room for what is no value here.
func (p *parsedTemplate) cut(uri string) (string, bool) {
	value, ok := strings.CutPrefix(uri, p.prefix)
	if !ok {
		return "", false
	}
	value, ok = strings.CutSuffix(value, p.suffix)
	return value, ok && p.pattern.MatchString(value)
}

// notFound is the SDK's error for a resource that does not exist, word for word; the SDK quotes the URI in a way that is not
// always JSON.
func notFound(uri string) error {
	data, err := json.Marshal(struct {
		URI string `json:"uri"`
	}{clip(uri)})
	if err != nil {
		data = nil // a string always encodes
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found", Data: data}
}
