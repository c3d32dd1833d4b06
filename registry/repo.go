package registry

import "encoding/json"

// ManifestSource says where what is known about a repo comes from.
type ManifestSource string

// The manifest sources.
const (
	SourceRepo      ManifestSource = "repo"      // the repo has a manifest of its own, at ManifestPath
	SourceGenerated ManifestSource = "generated" // it has none; the registry's entry is all there is
)

// Lifecycle is the stage of life a repo is in.
type Lifecycle string

// The lifecycles.
const (
	Active       Lifecycle = "active"
	Transitional Lifecycle = "transitional"
	Archived     Lifecycle = "archived" // still found, but not listed unless asked for
)

// EntrypointStatus is what was at a declared path when the registry was written.
type EntrypointStatus string

// The statuses of a declared path.
const (
	StatusPresent     EntrypointStatus = "present"
	StatusMissing     EntrypointStatus = "missing"      // nothing is there; it must not be opened
	StatusNotAFile    EntrypointStatus = "not-a-file"   // a folder, link, pipe or device
	StatusOutsideRoot EntrypointStatus = "outside-root" // it leads out of the repo
	StatusTooLarge    EntrypointStatus = "too-large"    // larger than what is served
	StatusUnreadable  EntrypointStatus = "unreadable"   // it cannot be read
)

// Repo is the entry of one repo, with the defaults of its registry filled in. Every path is relative to the
// repo unless its comment says otherwise, written with slashes, clean, and checked to stay inside: it may
// be opened below the repo's folder without another check. Whether anything is there was not looked at.
//
// Slices and maps may be shared between entries and must not be changed. Absent lists and maps are nil.
type Repo struct {
	// ID is the stable key: a letter or digit, then up to 99 of letters, digits, dot, underscore, hyphen.
	ID string
	// Path is the repo's folder relative to [Registry.Root]; "." when the workspace is the repo. An entry
	// without a path is in the folder named like its ID.
	Path string
	// FormerIDs are ids the repo had before; [Registry.Lookup] finds it by them too.
	FormerIDs []string
	// SupersededBy is the id of the repo to use instead, "" if there is none. It may be an unknown id,
	// which is a warning.
	SupersededBy string
	// ManifestSource is never empty.
	ManifestSource ManifestSource
	// ManifestPath is the manifest to load, "" if the repo has none.
	ManifestPath string
	// Entrypoints are the files to read first, best first.
	Entrypoints []string
	// ResourceRoots are the folders that may be listed, sorted by type.
	ResourceRoots []ResourceRoot
	// AuthorityOrder names what outranks what, highest first. The words are the workspace's own.
	AuthorityOrder []string
	// Class is the kind of repo, a word of the workspace's own; see ParseOptions.Classes.
	Class string
	// Lifecycle is Active where the file says nothing.
	Lifecycle Lifecycle
	// Views maps names such as start-here to files.
	Views map[string]string
	// Owner is the owning team, "" if not known.
	Owner string
	// Signals says what kinds of content the repo has.
	Signals Signals
	// Evidence maps a signal such as has_adr to what it was concluded from. It is for people.
	Evidence map[string]string
	// SafeToProbe allows [Check] and Generate to look at paths that are not declared.
	SafeToProbe bool
	// EntrypointStatus is what is known about declared paths.
	EntrypointStatus map[string]EntrypointStatus
	// Components are the parts of a repo that holds several.
	Components []Component
	// Origin says who wrote the entry: generated, manual or overridden; "" if not stated.
	Origin string
	// Locked lists the fields that a generator must not rewrite.
	Locked []string
	// Extensions holds the x- fields as JSON.
	Extensions map[string]json.RawMessage
}

// ResourceRoot is what may be listed under one type, such as adr.
type ResourceRoot struct {
	Type  string   // a word of the workspace's own
	Paths []string // folders in the order given, at least one
}

// Signals says what kinds of content a repo has.
type Signals struct {
	HasDocs    bool `json:"has_docs" yaml:"has_docs"`       // Markdown documentation
	HasMkdocs  bool `json:"has_mkdocs" yaml:"has_mkdocs"`   // a MkDocs site
	HasADR     bool `json:"has_adr" yaml:"has_adr"`         // architecture decision records
	HasIntents bool `json:"has_intents" yaml:"has_intents"` // intents or specifications of change
}

// Component is one part of a repo.
type Component struct {
	ID     string         // a name that is not empty
	Labels []string       // words of the workspace's own
	Roots  []ResourceRoot // its folders, sorted by type; the field is called paths in the file
}
