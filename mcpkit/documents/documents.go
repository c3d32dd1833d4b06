package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/token"
)

// Codes of this package. Those of documents are in package docgraph, those of
// changesets in package changeset, those of calls in package result.
const (
	// CodeDisabled answers every tool that would change a changeset, on a server
	// without a writer.
	CodeDisabled = "proposal_access_disabled"
	// CodeSourceFailed: the source could not read the project, and its error has no
	// code of its own. Only the server's log and callers in Go see it.
	CodeSourceFailed = string(changeset.CodeSource)
	// CodeSnapshotChanged: what a cursor leads through changed since the page
	// before. Start again without a cursor.
	CodeSnapshotChanged = paging.CodeSnapshotChanged
)

// Source is the canonical project that the tools read. A *docgraph.Project is
// one; [docgraph.Mirror] makes one of any [changeset.Source].
type Source interface {
	// Graph returns the project as it is now. It should be cheap when nothing
	// changed. It is called concurrently.
	Graph(ctx context.Context) (*docgraph.Graph, error)
}

// Options say what a server serves besides reading. The zero value is a server
// that only reads.
type Options struct {
	// Title is the project's name for people. Empty means its id.
	Title string
	// Adapter is the name and version of the source in the provenance of each
	// reply. Empty means "docgraph/1".
	Adapter string

	// Store keeps the changesets of the project. Without it there are no tools
	// for changesets.
	Store *changeset.Store
	// Writer, one of Store, makes all changes of changesets, and is bound once.
	// Without it the tools that would change one answer CodeDisabled; those
	// that read, validate and show them work.
	Writer *changeset.Writer

	// Contract is what get_contract tells of the server around this feature.
	Contract Contract

	// Context, if not nil, answers get_context in place of
	// [docgraph.Graph.Context]: a project's own choice of what belongs to a
	// read. It keeps the rules of that method.
	Context func(ctx context.Context, g *docgraph.Graph, r docgraph.ContextRequest) (*docgraph.Context, error)

	// Status adds to project_status what is under way outside of changesets.
	// It must not be slow. nil adds nothing.
	Status func(ctx context.Context) (Status, error)

	// MaxPage bounds one reply on the wire, in bytes after all escaping, where
	// the reply has pages. 0 means 10,000. Less than 4,000 is refused, as what is
	// said of one node may take that much.
	MaxPage int
}

// Contract is what get_contract tells beyond what the feature knows itself. It
// binds nobody: the store, its writer and the other features do.
type Contract struct {
	// Policy is what the writer may propose.
	Policy changeset.Policy
	// Candidates says where candidates may go; nil says that there are none.
	Candidates *CandidatePaths
	// Roots name the folders that the server reads and writes, by what they are
	// for, relative to the project.
	Roots map[string]string
	// Limits are further limits, by name.
	Limits map[string]int
	// Tools are the names of the server's other tools, without prefix.
	Tools []string
	// Views and Outputs are the pages that the project declares.
	Views   []changeset.View
	Outputs []changeset.Output
}

// CandidatePaths are the paths that candidates may be promoted to. The zero value
// says that there are none.
type CandidatePaths struct {
	// Allow has the patterns of stage.Options, and Authorized those of
	// candidates.Options.
	Allow, Authorized []string
	// Hint says how the operator allows a path, for who finds that Allow is empty.
	// It is not told where Allow has a pattern.
	Hint string
}

// Status is what is under way outside of changesets.
type Status struct {
	// Candidates are the ids of the candidates that are staged, sorted.
	Candidates []string
	// Pending is how many approvals wait for a person, -1 if that cannot be told
	// now.
	Pending int
	// Unfinished is how many operations a crash interrupted.
	Unfinished int
}

// Feature adds the read tools of the project behind src and, if there is a
// store, the tools for changesets; the package documentation lists them. src
// must not be nil; opts may be.
func Feature(src Source, opts *Options) mcpkit.Feature {
	return func(in *mcpkit.Installer) error {
		d, err := newDocuments(src, opts, in)
		if err != nil {
			return fmt.Errorf("documents: %w", err)
		}
		return d.install(in)
	}
}

// documents is one installed feature. It is read only after install.
type documents struct {
	source   Source
	opts     Options
	pager    *paging.Pager
	retained *token.Retained
	tools    []string // full names, sorted
}

// leastPage is the smallest Options.MaxPage.
const leastPage = 4_000

func newDocuments(src Source, opts *Options, in *mcpkit.Installer) (*documents, error) {
	d := &documents{source: src, retained: &token.Retained{}}
	if opts != nil {
		d.opts = *opts
	}
	switch {
	case src == nil:
		return nil, errors.New("a source is required")
	case d.opts.Writer != nil && d.opts.Store == nil:
		return nil, errors.New("a writer needs the store it was bound to")
	}
	d.opts.Adapter = cmp.Or(d.opts.Adapter, defaultAdapter)
	d.opts.MaxPage = cmp.Or(d.opts.MaxPage, 10_000)
	if d.opts.MaxPage < leastPage {
		return nil, fmt.Errorf("MaxPage is %d, the least is %d", d.opts.MaxPage, leastPage)
	}
	var err error
	d.pager, err = paging.New(in.Sealer(), "documents", d.opts.MaxPage)
	return d, err
}

func (d *documents) install(in *mcpkit.Installer) error {
	features := d.readTools(in)
	if d.opts.Store != nil {
		features = append(features, d.changesetTools(in)...)
		features = append(features, d.writeTools(in)...)
	}
	d.tools = d.toolNames(in)
	for _, install := range features {
		if err := install(in); err != nil {
			return err
		}
	}
	return nil
}

// graph returns the project as it is now. What a source of somebody else's says
// of its failure may hold anything, so clients get it only with a code.
func (d *documents) graph(ctx context.Context) (*docgraph.Graph, error) {
	g, err := d.source.Graph(ctx)
	var coded interface{ ErrorCode() string }
	switch {
	case err == nil || errors.As(err, &coded):
		return g, err
	case ctx.Err() != nil:
		return nil, ctx.Err() // and no more of what the source says of it
	}
	return nil, &result.Error{Code: CodeSourceFailed, Message: "the project cannot be read; ask the operator", Err: err}
}

// disabled is the error of a server without a writer.
func (d *documents) disabled() error {
	if d.opts.Writer != nil {
		return nil
	}
	return &result.Error{
		Code:    CodeDisabled,
		Message: "this server was started without a writer: it shows changesets and changes none; ask the operator to name one",
	}
}
