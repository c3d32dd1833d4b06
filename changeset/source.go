package changeset

import "context"

// A Source is the canonical project: what changesets propose to change, and
// what nothing in this package can change. [docgraph] has one over a folder of
// Markdown files; an integration may bring its own.
//
// Both methods are called from several goroutines at once. An error, or a
// panic, of either becomes an [*Error] with code source_failed.
//
// A source whose documents are in a folder below the root of the store should
// have a method Docs() string too, which returns that folder as in Options.Docs:
// then [Open] keeps what is written out of it even if the options forget to.
//
// [docgraph]: https://pkg.go.dev/github.com/mcpcontract/mcpcontract/changeset/docgraph
type Source interface {
	// Snapshot returns the project as it is now. It should be cheap when
	// nothing changed. The snapshot and what it refers to must not be modified
	// afterwards; a Store reads it and never writes to it.
	Snapshot(ctx context.Context) (*Snapshot, error)

	// Read returns the bytes of the file of one node, by the path in its Node.
	// The caller may keep and modify them. A Store compares them with
	// Node.Hash, so a file that changes between the two calls is noticed.
	Read(ctx context.Context, path string) ([]byte, error)
}

// A Snapshot is a project at one moment.
type Snapshot struct {
	// Project is the id of the project.
	Project string `json:"project"`
	// Revision is a digest of all files. Two snapshots with one revision have
	// the same nodes.
	Revision string `json:"revision"`
	// Nodes are all nodes, sorted by the bytes of their ids.
	Nodes []Node `json:"nodes"`
	// Problems are the faults of the project itself, such as two files with
	// one id. No changeset is valid or invalid because of them.
	Problems []Problem `json:"problems"`
}

// A Node is one document of a project: a Markdown file, with front matter or
// without.
type Node struct {
	// ID names the node; no other node of the project has it.
	ID string `json:"id"`
	// Kind is what sort of document it is, in words of the project's own.
	Kind string `json:"kind"`
	// Title is for people.
	Title string `json:"title"`
	// Status is how far the document is, in words of the project's own; it may
	// be empty.
	Status string `json:"status,omitempty"`
	// Path is where the file is, in slash form and relative to the docs folder.
	Path string `json:"path"`
	// DependsOn has the ids that the front matter says the node depends on.
	DependsOn []string `json:"depends_on,omitempty"`
	// Tags are those of the front matter.
	Tags []string `json:"tags,omitempty"`
	// Links has the ids that the text links to, without duplicates.
	Links []string `json:"links,omitempty"`
	// Hash is the SHA-256 of the file's bytes in lower-case hexadecimal digits.
	Hash string `json:"hash"`
	// Size is the number of the file's bytes.
	Size int64 `json:"size"`
}

// A Problem is something a person should know about a project or a changeset.
type Problem struct {
	// Code says what it is in one stable word.
	Code string `json:"code"`
	// Severity is [SeverityError] or [SeverityWarning].
	Severity string `json:"severity"`
	// ID is the node it is about, if it is about one.
	ID string `json:"id,omitempty"`
	// Path is the file it is about, relative to the docs folder, if it is about
	// one.
	Path string `json:"path,omitempty"`
	// Message is a sentence for people.
	Message string `json:"message"`
}

// The severities of a [Problem].
const (
	SeverityError   = "error"   // a changeset that has one is not valid
	SeverityWarning = "warning" // worth a look
)
