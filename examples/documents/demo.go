package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
	"github.com/mcpcontract/mcpcontract/examples/internal/transcript"
	"github.com/mcpcontract/mcpcontract/mcpkit"
)

//go:embed sample
var sample embed.FS

type args = map[string]any

// proposalSteps take a proposal from creation to the page that a person reviews.
func proposalSteps() []transcript.Step {
	id := &transcript.Held{Member: "changesetId"}
	return []transcript.Step{
		{Title: "What is under way, once at the start", Tool: "project_status"},
		{Title: "What the project is", Tool: "project_info"},
		{Title: "Find", Tool: "search", Args: args{"query": "lamp fails"}},
		{Title: "Read it with what it depends on", Tool: "get_context", Args: args{"id": "night-watch"}},
		{Title: "What a change of the lamp may touch", Tool: "impact", Args: args{"id": "lamp"}},
		{Title: "A proposal", Tool: "create_changeset", Args: args{"title": "Three bulbs in reserve", "description": "One broke in the last storm."}, Hold: id},
		{Title: "Other content for one document", Tool: "propose_node_update", Args: args{
			"changesetId": id, "id": "lamp",
			"text": "# The lamp\n\nThe lamp turns once in twelve seconds.\n\n## Bulbs\n\nThree bulbs are kept in reserve, one of them in the [[library]].\n",
		}},
		{Title: "A new document", Tool: "propose_node_create", Args: args{
			"changesetId": id, "id": "library", "kind": "page", "title": "The library", "path": "library.md", "text": "# The library\n\nCharts, and a spare bulb.\n",
		}},
		{Title: "Another place for a third", Tool: "propose_node_move", Args: args{"changesetId": id, "id": "logbook", "path": "logbook.md"}},
		{Title: "A refusal: the path is taken", Tool: "propose_node_move", Args: args{"changesetId": id, "id": "logbook", "path": "lamp.md"}},
		{Title: "Nothing stands in the way", Tool: "validate_changeset", Args: args{"changesetId": id}},
		{Title: "The difference", Tool: "get_changeset_diff", Args: args{"changesetId": id}},
		{Title: "A page for the person who reviews it; no tool carries it out", Tool: "preview_changeset", Args: args{"changesetId": id, "view": "review"}},
		{Title: "Declared outputs: a person renders them", Tool: "render_status"},
	}
}

// candidateSteps take a candidate from staging to approval to promotion.
func candidateSteps(dir string) []transcript.Step {
	stage, token := &transcript.Held{Member: "stagePath"}, &transcript.Held{Member: "proposalToken"}
	apply := args{"request": args{"op": "apply", "proposalToken": token}}
	return []transcript.Step{
		{Title: "A template, as a block of its own before the JSON", Tool: "template_get_many", Args: args{"ids": []string{"plan"}}},
		{Title: "A candidate is declared", Tool: "candidate_prepare", Args: args{"candidateId": "new-bulbs", "expectedFiles": []string{"plans/bulbs.md"}}, Hold: stage},
		{Title: "The host writes its file", Do: func(w io.Writer) error { return stageFile(w, dir, stage) }},
		{Title: "What is staged", Tool: "candidate_inspect", Args: args{"candidateId": "new-bulbs"}},
		{Title: "Propose to promote it", Tool: "candidate_apply", Args: args{"request": args{"op": "prepare", "candidateId": "new-bulbs"}}, Hold: token},
		{Title: "A person agreed: these bytes are promoted", Tool: "candidate_apply", Args: apply},
		{Title: "The same token again: the same receipt, nothing is done twice", Tool: "candidate_apply", Args: apply},
		{Title: "A refusal: the documents have no writer", Tool: "candidate_prepare", Args: args{"candidateId": "sly", "expectedFiles": []string{"docs/lamp.md"}}},
	}
}

// stageFile plays the host, whose file tools write what the model says.
func stageFile(w io.Writer, dir string, stage fmt.Stringer) error {
	name := filepath.Join(filepath.FromSlash(stage.String()), "plans", "bulbs.md")
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("# Plan: three bulbs\n\nBuy one before autumn.\n"), 0o600); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "   %s\n", filepath.ToSlash(name))
	return err
}

// demo shows the sample project to two built-in clients, in a new folder of the
// temporary directory. It leaves the folder there, and says so: a person is to
// look at the preview.
func demo(ctx context.Context, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "documents-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	files, err := fs.Sub(sample, "sample")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	p, err := open(dir, "demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	server, err := p.server(&config{root: dir, writer: "demo", approve: mcpkit.Token})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "A sample project of four documents, served to two clients: a proposal from creation to preview,\n"+
		"and a candidate from staging to promotion. Digests and cursors are cut.\n\n")
	if err := transcript.Play(ctx, w, server, peer.Identity{Name: "claude-code", Version: "2.1.332", PerRequest: true}, proposalSteps()); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := transcript.Play(ctx, w, server, peer.Identity{Name: "Zed", Version: "0.210.0"}, candidateSteps(dir)); err != nil {
		return err
	}
	previews, err := fs.Glob(os.DirFS(dir), p.file.Previews+"/*.html")
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, name := range previews {
		fmt.Fprintf(w, "The preview, for a browser: %s\n", filepath.Join(dir, filepath.FromSlash(name)))
	}
	_, err = fmt.Fprintf(w, "The project is left for you to look at; remove it when you are done: %s\n", dir)
	return err
}
