package templates

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

const (
	toolName = "template_get_many"
	modeText = "text"
	maxAsked = 32
)

type getArgs struct {
	IDs         []string `json:"ids" jsonschema:"logical ids of the templates, each once" schema:"minItems=1 maxItems=32 minLength=1 maxLength=64"`
	ContentMode string   `json:"contentMode,omitempty" jsonschema:"for clients that read text: how bodies are sent, embedded_resource if absent" schema:"enum=embedded_resource|text"`
}

type getResult struct {
	Items []descriptor `json:"items"`
}

// descriptor is what clients learn of one template.
type descriptor struct {
	ID           string  `json:"id"`
	URI          string  `json:"uri"`
	ArtifactPath string  `json:"artifactPath"`
	MediaType    string  `json:"mediaType"`
	SHA256       string  `json:"sha256" schema:"kind=sha256"`
	Size         int     `json:"size"`
	Content      *string `json:"content,omitempty"` // absent where a block has it; an empty template is not absent
}

// Install adds the resources and the tool to a server. The method value s.Install is a feature. A server has one set.
//
// Its error says that the server has a tool of that name already.
func (s *Set) Install(in *mcpkit.Installer) error {
	tool := mcpkit.Tool[getArgs, getResult]{
		Name:        toolName,
		Title:       "Get templates",
		Description: "Get the bodies of templates by logical id, with the path and hash of each. Templates never change. Set " + s.name + " has " + s.known() + ".",
		Effect:      mcpkit.ReadOnly,
		Schema: func(input, _ *jsonschema.Schema) {
			input.Properties["ids"].UniqueItems = true
		},
		Run:    s.getMany,
		Blocks: s.blocks,
	}
	if err := tool.Install(in); err != nil {
		return err
	}
	for _, t := range s.items {
		in.Server().AddResource(&mcp.Resource{
			URI:         t.uri,
			Name:        t.id,
			Description: "Template for " + t.artifact,
			MIMEType:    t.media,
			Size:        int64(len(t.text)),
		}, t.read)
	}
	return nil
}

// known names the ids, as far as a description has room.
func (s *Set) known() string {
	const room = 2000
	var b strings.Builder
	for i, t := range s.items {
		if b.Len()+len(t.id) > room {
			fmt.Fprintf(&b, " and %d more; list the resources to see all", len(s.items)-i)
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.id)
	}
	return b.String()
}

func (s *Set) getMany(_ context.Context, in getArgs) (getResult, error) {
	var unknown []string
	res := getResult{Items: make([]descriptor, 0, len(in.IDs))}
	for _, id := range in.IDs {
		i, ok := s.byID[id]
		if !ok {
			unknown = append(unknown, fmt.Sprintf("%q", id))
			continue
		}
		t := &s.items[i]
		res.Items = append(res.Items, descriptor{
			ID: t.id, URI: t.uri, ArtifactPath: t.artifact, MediaType: t.media, SHA256: t.sum, Size: len(t.text), Content: &t.text,
		})
	}
	if unknown != nil {
		return getResult{}, &Error{Code: CodeUnknown, Detail: "set " + s.name + " has no template " + strings.Join(unknown, ", ") + "; it has " + s.known()}
	}
	return res, nil
}

// blocks puts the bodies into blocks, in the order of the descriptors.
func (s *Set) blocks(_ context.Context, in getArgs, out getResult) ([]mcp.Content, getResult) {
	blocks := make([]mcp.Content, 0, len(out.Items))
	for i := range out.Items {
		d := &out.Items[i]
		if in.ContentMode == modeText {
			blocks = append(blocks, &mcp.TextContent{Text: *d.Content})
		} else {
			blocks = append(blocks, &mcp.EmbeddedResource{Resource: contents(d.URI, d.MediaType, *d.Content)})
		}
		d.Content = nil
	}
	return blocks, out
}

// read is the resource handler of one template.
func (t template) read(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents(t.uri, t.media, t.text)}}, nil
}

// contents is the text of a template as the protocol has it. The SDK leaves out
// an empty text, but contents need a text or a blob: then there is an empty one.
func contents(uri, media, text string) *mcp.ResourceContents {
	c := &mcp.ResourceContents{URI: uri, MIMEType: media, Text: text}
	if text == "" {
		c.Blob = []byte{}
	}
	return c
}
