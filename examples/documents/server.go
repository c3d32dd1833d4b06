package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/examples/internal/project"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/documents"
	"github.com/mcpcontract/mcpcontract/mcpkit/templates"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

// instructions tell clients how to use the server, whose tools have that prefix.
func instructions(prefix string) string {
	return fmt.Sprintf(`One project of documents. Read before you propose: %[1]ssearch, %[1]sget_node, %[1]sget_context.
Call %[1]sproject_status once at the start, and %[1]svalidate_project before the last step. Present complete proposals before any change:
a changeset is shown to a person with %[1]spreview_changeset and is never applied here; the project's plan is the source of truth.
Candidates: one %[1]scandidate_apply command when authority exists; otherwise use its token only after a human decision.`, prefix)
}

// served is an open project with what the server writes.
type served struct {
	root      string
	file      *project.File
	documents *docgraph.Project
	store     *changeset.Store
	area      *stage.Area
	files     *rootfs.Root
	tokens    *token.Store      // nil: reading only
	writer    *changeset.Writer // nil: reading only
	templates *templates.Set    // nil: none
	closers   []func() error
}

// open opens the project in the folder root, for a writer if the name is not
// empty. Without one nothing is written.
func open(root, writer string) (s *served, err error) {
	// The command that approves is typed in any folder.
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	file, err := project.Load(root)
	if err != nil {
		return nil, err
	}
	s = &served{root: root, file: file}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()
	if s.documents, err = docgraph.Open(root, &docgraph.Options{Project: file.ID, Docs: file.Docs, Identity: file.Source}); err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.documents.Close)
	s.store, err = changeset.Open(root, s.documents, &changeset.Options{
		Docs: file.Docs, Changesets: file.Changesets, Previews: file.Previews, Views: file.Views, Outputs: file.Outputs, Policy: &file.Proposals,
	})
	if err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.store.Close)
	if s.area, err = stage.Open(root, &stage.Options{Dir: s.file.State(), Allow: file.Allow, Protect: file.Protected()}); err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.area.Close)
	files, err := rootfs.Open(root, nil)
	if err != nil {
		return s, err
	}
	s.closers = append(s.closers, files.Close)
	if err := s.loadTemplates(files); err != nil {
		return s, err
	}
	if writer != "" {
		if s.writer, err = s.store.Bind(writer, file.Proposals); err != nil {
			return s, err
		}
	}
	s.files = files
	if writer == "" {
		return s, nil
	}
	if cli.Visible(writer) != writer {
		return s, fmt.Errorf("the name of the writer, %q, has characters that cannot be shown", writer)
	}
	if err := files.MkdirAll(s.tokensDir(), 0o700); err != nil { // refuses a link
		return s, err
	}
	if s.tokens, err = s.openTokens(); err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.tokens.Close)
	return s, nil
}

// tokensDir is where the approvals are.
func (s *served) tokensDir() string { return s.file.State() + "/tokens" }

// loadTemplates reads the templates once.
func (s *served) loadTemplates(root *rootfs.Root) error {
	if s.file.Templates == "" {
		return nil
	}
	if _, err := root.ReadDir(s.file.Templates, maxTemplates); err != nil { // refuses a link
		return fmt.Errorf("open templates: %w", err)
	}
	dir, err := os.OpenRoot(filepath.Join(root.Dir(), filepath.FromSlash(s.file.Templates)))
	if err != nil {
		return fmt.Errorf("open templates: %w", err)
	}
	if s.templates, err = templates.Load(dir.FS(), nil); err != nil {
		err = fmt.Errorf("templates in %s: %w", s.file.Templates, err)
	}
	return errors.Join(err, dir.Close())
}

// maxTemplates is how many entries the folder of templates may have.
const maxTemplates = 4096

// openTokens opens the store of approvals, nil if there is none yet.
func (s *served) openTokens() (*token.Store, error) {
	dir := s.tokensDir()
	if _, err := s.files.Stat(dir); rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	tokens, err := token.Open(filepath.Join(s.files.Dir(), filepath.FromSlash(dir)), nil)
	if err != nil {
		return nil, err
	}
	// The store opens the folder by its name. What somebody put in its place in
	// between is refused before anything is asked of it.
	if _, err := s.files.Stat(dir); err != nil {
		return nil, errors.Join(err, tokens.Close())
	}
	return tokens, nil
}

func (s *served) close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// approvals is how candidates are approved.
func (s *served) approvals(by mcpkit.Approver) *mcpkit.Approvals {
	return &mcpkit.Approvals{
		Store: s.tokens, Project: s.file.ID, By: by,
		Command: "documents --project-root " + shellQuote(s.root) + " approve",
	}
}

// candidates says what the project file does of candidates.
func (s *served) candidates() *candidates.Options {
	return &candidates.Options{Authorized: s.file.Authorized, Allow: append([]string{}, s.file.Allow...), Hint: s.hint()}
}

// hint says what lets candidates go somewhere where nothing is allowed.
func (s *served) hint() string {
	if s.file.Docs == "." {
		return "candidates need documents in a folder of their own: the operator sets docs and candidates.allow in " + project.Name
	}
	return "the operator names paths as candidates.allow in " + project.Name
}

// shellQuote writes a path as one word of a shell.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// server is all that it takes to serve a project.
func (s *served) server(c *config) (*mcp.Server, error) {
	others := []string{"candidate_prepare", "candidate_inspect", "candidate_apply", "candidate_discard", "operation_recover", "operation_abort", "diagnostic_read"}
	area := s.area
	if s.writer == nil {
		area = nil
	}
	features := []mcpkit.Feature{nil, candidates.Feature(area, s.approvals(c.approve), s.candidates())}
	if s.templates != nil {
		others = append(others, "template_get_many")
		features = append(features, s.templates.Install)
	}
	features[0] = documents.Feature(s.documents, &documents.Options{
		Title: s.file.Title, Store: s.store, Writer: s.writer, Status: s.status,
		Contract: documents.Contract{
			Policy: s.file.Proposals, Views: s.file.Views, Outputs: s.file.Outputs, Tools: others, Roots: s.roots(),
			Candidates: &documents.CandidatePaths{Allow: s.file.Allow, Authorized: s.file.Authorized, Hint: s.hint()},
			Limits:     map[string]int{"operationsPerChangeset": 200, "changesets": 256, "documentBytes": 4 << 20, "candidateFiles": 4096},
		},
	})
	return mcpkit.NewServer(
		&mcp.Implementation{Name: "mcpcontract-documents", Title: "Documents", Version: cli.Version()},
		&mcpkit.Options{
			Instructions: instructions(c.prefix),
			Principal:    c.writer,
			ToolPrefix:   c.prefix,
			Result:       &result.Options{Provenance: documents.Provenance(s.documents, "")},
		},
		features...)
}

// roots are the folders that clients may know of.
func (s *served) roots() map[string]string {
	roots := map[string]string{
		"docs": s.file.Docs, "changesets": s.file.Changesets, "previews": s.file.Previews, "stage": path.Join(s.file.State(), "stage"),
	}
	if s.file.Templates != "" {
		roots["templates"] = s.file.Templates
	}
	return roots
}

// status tells what is under way outside of changesets.
func (s *served) status(ctx context.Context) (documents.Status, error) {
	var status documents.Status
	var err error
	if status.Candidates, err = s.area.Candidates(ctx); err != nil {
		return status, err
	}
	unfinished, err := s.area.Unfinished()
	if err != nil {
		return status, err
	}
	if unfinished != "" {
		status.Unfinished = 1
	}
	status.Pending = s.pending(ctx)
	return status, nil
}

// pending counts the approvals that wait, -1 if that cannot be read now. A server
// without a writer has no store open: it must work where nothing can be locked.
func (s *served) pending(ctx context.Context) int {
	tokens := s.tokens
	if tokens == nil {
		var err error
		if tokens, err = s.openTokens(); tokens == nil {
			if err != nil {
				return -1
			}
			return 0
		}
		defer func() { _ = tokens.Close() }() // it was only read
	}
	records, err := tokens.Pending(ctx)
	if err != nil {
		return -1
	}
	n := 0
	for _, rec := range records {
		if rec.Claim.Project == s.file.ID {
			n++
		}
	}
	return n
}
