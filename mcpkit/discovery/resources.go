package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

const (
	indexURI       = "repo://index"
	jsonType       = "application/json"
	maxCompletions = 100
)

// view is one of the standard views, each a resource template of its own.
type view struct{ name, title, about string }

var views = [...]view{
	{"manifest", "Manifest", "The repo's own manifest"},
	{"start-here", "Start here", "What to know first about the repo"},
	{"capabilities", "Capabilities", "What the repo can do"},
	{"workflows", "Workflows", "How work in the repo is done"},
	{"contracts", "Contracts", "What the repo promises to others"},
}

func (v view) uri(repo string) string { return "repo://" + repo + "/" + v.name }

func (d *discovery) template(v view) mcpkit.ResourceTemplate {
	return mcpkit.ResourceTemplate{
		URI:         v.uri("{repo}"),
		Name:        v.name,
		Title:       v.title,
		Description: v.about + ", if the registry or the manifest declares it.",
		Read: func(ctx context.Context, id string) ([]*mcp.ResourceContents, error) {
			contents, err := d.readView(ctx, id, v)
			return contents, resourceError(v.uri(id), err)
		},
		Complete: func(_ context.Context, typed string) ([]string, error) {
			return d.complete(typed), nil
		},
	}
}

// readView gives the text of a view and, as a second content, its provenance.
func (d *discovery) readView(ctx context.Context, id string, v view) (contents []*mcp.ResourceContents, err error) {
	err = d.repo(ctx, id, func(repo *resolve.Repo) error {
		file, err := repo.View(ctx, v.name)
		if err != nil {
			return err
		}
		text, err := file.Text()
		if err != nil {
			return err
		}
		if len(text) > d.opts.MaxResource {
			return &resolve.Error{
				Code:    resolve.FileTooLarge,
				Message: fmt.Sprintf("the file has %d bytes, a resource at most %d; use the tool %s, which gives pages", len(text), d.opts.MaxResource, d.readTool),
			}
		}
		encoded, err := json.Marshal(provenanceOf(repo, file))
		contents = []*mcp.ResourceContents{
			{URI: v.uri(id), MIMEType: mimeType(file.Path), Text: text},
			{URI: v.uri(id) + "#provenance", MIMEType: jsonType, Text: string(encoded)},
		}
		return err
	})
	return contents, err
}

// complete returns the registered ids that start with what was typed. It opens no
// manifest to find out which views a repo has, so it offers a repo for every view.
// Archived repos have to be typed in full.
func (d *discovery) complete(typed string) []string {
	var ids []string
	for repo := range d.resolver.Registry().Repos() {
		if len(ids) == maxCompletions {
			break
		}
		if repo.Lifecycle != registry.Archived && strings.HasPrefix(strings.ToLower(repo.ID), strings.ToLower(typed)) {
			ids = append(ids, repo.ID)
		}
	}
	return ids
}

// addIndex adds the resource that lists the repos. It is bounded like every
// resource and says how many repos it leaves out.
func (d *discovery) addIndex(s *mcp.Server) {
	s.AddResource(&mcp.Resource{
		URI:         indexURI,
		Name:        "index",
		Title:       "Repositories",
		Description: "The repositories of the workspace with class, lifecycle and owner. Archived ones are left out.",
		MIMEType:    jsonType,
	}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text, err := d.indexText()
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: indexURI, MIMEType: jsonType, Text: text}}}, nil
	})
}

func (d *discovery) indexText() (string, error) {
	repos := selectRepos(d.resolver.Registry(), listArgs{})
	index := struct {
		Items   []listedRepo `json:"items"`
		Omitted int          `json:"omitted,omitempty"`
		Hint    string       `json:"hint,omitempty"`
	}{Items: []listedRepo{}}
	room := d.opts.MaxResource - paging.Envelope
	for i, repo := range repos {
		if room -= paging.Cost(repo); room < 0 {
			index.Omitted = len(repos) - i
			index.Hint = "use the tool " + d.listTool + " for the rest"
			break
		}
		index.Items = append(index.Items, repo)
	}
	text, err := json.Marshal(index)
	return string(text), err
}

// resourceError turns a coded error into the protocol's answer for a resource
// that cannot be had: invalid params with the URI, and the reason and the
// alternatives in the message, since many clients show nothing else. Any other
// error stays as it is.
func resourceError(uri string, err error) error {
	var coded *resolve.Error
	if !errors.As(err, &coded) {
		return err
	}
	data, encodeErr := json.Marshal(struct {
		URI     string          `json:"uri"`
		Code    string          `json:"code"`
		Details resolve.Details `json:"details"`
	}{uri, coded.ErrorCode(), coded.Details})
	if encodeErr != nil {
		return encodeErr
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: coded.Message, Data: data}
}

// mimeType is the type of the usual documents; anything else that was found to
// be text is plain text.
func mimeType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return "text/markdown"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".json":
		return jsonType
	case ".toml":
		return "application/toml"
	}
	return "text/plain"
}
