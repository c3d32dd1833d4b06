package changeset

import "time"

// A Changeset is what one writer proposes to change, for a person to look at
// and carry out. It belongs to its writer; everybody may read it.
type Changeset struct {
	// ID matches ^cs-[a-z2-7]{26}$ and cannot be guessed.
	ID string `json:"id"`
	// Title says in one line what the changeset is for.
	Title string `json:"title"`
	// Description says why, in as many lines as the writer likes.
	Description string `json:"description,omitempty"`
	// Writer is the name that [Store.Bind] was given.
	Writer string `json:"writer"`
	// Created is when the changeset was created, in UTC and whole seconds.
	Created time.Time `json:"created,omitzero"`
	// Updated is when a proposal last changed it.
	Updated time.Time `json:"updated,omitzero"`
	// Revision is that of the project when the changeset was created.
	Revision string `json:"revision"`
	// Digest is a SHA-256 over all of the changeset, in lower-case hexadecimal
	// digits: every proposed byte, and every field but this one.
	Digest string `json:"digest,omitempty"`
	// Operations has at most one per node, in the order in which the nodes were
	// first named.
	Operations []Operation `json:"operations"`
	// Damaged is true if the file of the changeset cannot be read. Then only ID
	// is set, and Operations is empty. [Store.List] alone returns such a
	// changeset.
	Damaged bool `json:"damaged,omitempty"`
}

// An Operation is all that a changeset does to one node.
type Operation struct {
	// Op is what happens to the node.
	Op Op `json:"op"`
	// ID is the node's id before, for a new node the one it gets.
	ID string `json:"id"`
	// NewID is the node's id afterwards where it differs: the id of a file
	// whose front matter has none comes from its path, and so moves with it.
	NewID string `json:"newId,omitempty"`
	// Kind is that of the node afterwards, of a deleted node the one it had.
	Kind string `json:"kind"`
	// Title is that of the node afterwards, of a deleted node the one it had.
	Title string `json:"title"`
	// OldPath is where the file was, "" for a new node.
	OldPath string `json:"oldPath,omitempty"`
	// NewPath is where the file will be, "" for a deleted node.
	NewPath string `json:"newPath,omitempty"`
	// BaseHash is the SHA-256 of the file that the operation was proposed on,
	// in lower-case hexadecimal digits, "" for a new node.
	BaseHash string `json:"baseHash,omitempty"`
	// NewHash is the SHA-256 of the file as proposed, "" for a deleted node.
	NewHash string `json:"newHash,omitempty"`
	// OldSize is the number of bytes before, 0 for a new node.
	OldSize int64 `json:"oldSize"`
	// NewSize is the number of bytes afterwards, 0 for a deleted node.
	NewSize int64 `json:"newSize"`
}

// An Op is a kind of operation.
type Op string

// The operations there are.
const (
	Create Op = "create" // a new node
	Update Op = "update" // other content at the same path
	Move   Op = "move"   // another path, and perhaps other content
	Delete Op = "delete" // the node goes
)

// NewNode is a node to be created.
type NewNode struct {
	// ID is its id: at most 200 bytes without [, ], |, #, control or invisible
	// characters, and without a space at either end.
	ID string
	// Kind is at most 64 bytes on one line, and not empty.
	Kind string
	// Title is at most 200 bytes on one line, and not empty.
	Title string
	// Path is where the file goes, relative to the docs folder, ending in .md.
	Path string
	// Text is the Markdown text after the front matter; it has none of its own.
	Text string
	// Status is at most 64 bytes on one line; "" leaves it out.
	Status string
	// DependsOn and Tags are at most 256 ids and 64 tags of 64 bytes.
	DependsOn, Tags []string
}

// NodeEdit changes parts of a node. A nil field stays as it is, byte for byte;
// the limits are those of [NewNode]. An id cannot be changed, since others may
// refer to it: propose a new node and delete the old one.
type NodeEdit struct {
	// Text is the Markdown text after the front matter; it has none of its own.
	Text *string
	// Kind, Title and Status are fields of the front matter.
	Kind, Title, Status *string
	// DependsOn and Tags replace the whole list.
	DependsOn, Tags *[]string
}

// A Validation says whether a changeset can be carried out as it is.
type Validation struct {
	// Valid is true if no problem is an error.
	Valid bool `json:"valid"`
	// Problems has errors first, then in the order of ids and codes.
	Problems []Problem `json:"problems"`
}

// A NodeDiff shows what an operation does to its file.
type NodeDiff struct {
	// Op is that of the operation.
	Op Op `json:"op"`
	// ID is that of the operation.
	ID string `json:"id"`
	// OldPath is where the file was, "" for a new node.
	OldPath string `json:"oldPath,omitempty"`
	// NewPath is where it will be, "" for a deleted node. Both differ if the
	// node moves.
	NewPath string `json:"newPath,omitempty"`
	// Added is how many lines are new; a changed line is an old and a new one.
	Added int `json:"added"`
	// Removed is how many lines go.
	Removed int `json:"removed"`
	// Unified is the change in the unified format with the headers of git, whose
	// paths are relative to the root, unlike the two above: for a file that only
	// moves, no more than these.
	Unified string `json:"unified"`
}

// A Preview is a page that was written for a person to look at.
type Preview struct {
	// Path is where the page is, relative to the root and in slash form.
	Path string `json:"path"`
	// SHA256 is that of its bytes in lower-case hexadecimal digits.
	SHA256 string `json:"sha256"`
}

// An OutputStatus compares a declared output with what it should be.
type OutputStatus struct {
	// Path is where the file is, relative to the root.
	Path string `json:"path"`
	// View is the id of the view it is made from.
	View string `json:"view"`
	// Expected is the SHA-256 of what the view gives now.
	Expected string `json:"expected"`
	// Actual is the SHA-256 of the file, "" if it is missing or unreadable.
	Actual string `json:"actual,omitempty"`
	// State is current, stale, missing or unreadable.
	State string `json:"state"`
}
