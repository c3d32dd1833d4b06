package main

import (
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
	"github.com/mcpcontract/mcpcontract/examples/internal/transcript"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

//go:embed sample
var sample embed.FS

type args = map[string]any

// For a client that reads structuredContent: the three discovery modes, a view,
// a refusal and an error.
var structuredSteps = []transcript.Step{
	{Title: "What is in the workspace (the archived repo is left out)", Tool: "list_repos"},
	{Title: "Discovery mode 1: the registry declares a manifest, and the manifest decides", Tool: "resolve_repo", Args: args{"repo_id": "ledger"}},
	{Title: "Discovery mode 2: no manifest, so the registry's own entrypoints; one is known to be missing", Tool: "resolve_repo", Args: args{"repo_id": "storefront"}},
	{Title: "Discovery mode 3: not in the registry, found by listing folders", Tool: "resolve_repo", Args: args{"repo_id": "notebook"}},
	{Title: "A view", Tool: "read_view", Args: args{"repo_id": "ledger", "view": "start-here"}},
	{Title: "A refusal: the path is not declared", Tool: "read_entrypoint", Args: args{"repo_id": "storefront", "path": "../ledger/README.md"}},
	{Title: "An error: there is no such repo", Tool: "read_entrypoint", Args: args{"repo_id": "ledgr", "path": "README.md"}},
}

// For a client that reads text: the same answers in its own representation, and
// the resources.
var textSteps = []transcript.Step{
	{Title: "A file below a resource root", Tool: "scan_root", Args: args{"repo_id": "ledger", "type": "adr"}},
	{Title: "Read it", Tool: "read_entrypoint", Args: args{"repo_id": "ledger", "path": "docs/adr/0001-whole-cents.md"}},
	{Title: "A file that the registry knows to be missing: nothing is opened", Tool: "read_entrypoint", Args: args{"repo_id": "storefront", "path": "CHANGES.md"}},
	{Title: "A view as a resource", Resource: "repo://ledger/capabilities"},
	{Title: "A view that the repo does not have", Resource: "repo://storefront/contracts"},
	{Title: "What is out of date", Tool: "check_registry"},
}

// demo serves the sample workspace to two built-in clients and writes what they
// say to each other.
func demo(ctx context.Context, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "workspace-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files, err := fs.Sub(sample, "sample")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	reg, err := registry.Load(filepath.Join(dir, "workspace-registry.yaml"), nil)
	if err != nil {
		return err
	}
	server, err := newServer(resolve.Static(reg), nil, nil)
	if err != nil {
		return err
	}
	const intro = "A sample workspace with four folders, three of them in its registry, served to two clients.\n" +
		"Digests and cursors are cut, everything else is what went over the wire.\n\n"
	if _, err := io.WriteString(w, intro); err != nil {
		return err
	}
	if err := transcript.Play(ctx, w, server, peer.Identity{Name: "claude-code", Version: "2.1.332", PerRequest: true}, structuredSteps); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return transcript.Play(ctx, w, server, peer.Identity{Name: "Zed", Version: "0.210.0"}, textSteps)
}
