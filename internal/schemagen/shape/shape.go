// Package shape is the form of the files of package registry. The generator of that package writes these
// types, and package schemagen makes the editor schema of them, so that the two cannot disagree.
//
// The values are plain data; they may be copied and used at the same time.
package shape

// File is a whole registry file.
type File struct {
	Schema        string    `json:"$schema,omitempty" yaml:"$schema,omitempty" jsonschema_description:"Where editors find this schema. It is not read."`
	SchemaVersion string    `json:"schema_version" yaml:"schema_version" jsonschema:"pattern=^1\\.[0-9]+$" jsonschema_description:"Version of the format, as text: \"1.0\"."`
	Kind          string    `json:"kind" yaml:"kind" jsonschema:"enum=workspace_registry" jsonschema_description:"Tells a registry from the manifest of one repo."`
	Generator     string    `json:"generator,omitempty" yaml:"generator,omitempty" jsonschema_description:"The program that wrote the file. It is not read."`
	WorkspaceRoot string    `json:"workspace_root,omitempty" yaml:"workspace_root,omitempty" jsonschema:"default=." jsonschema_description:"The folder that the paths of repos start from, relative to this file."`
	Include       []string  `json:"include,omitempty" yaml:"include,omitempty" jsonschema_description:"More files of this registry, below the folder of this file: files, folders, or patterns such as teams/*.yaml."`
	Defaults      *Defaults `json:"defaults,omitempty" yaml:"defaults,omitempty" jsonschema_description:"Values for the fields that an entry does not state. A list or mapping in an entry replaces the default; the two are not merged."`
	Repos         []Repo    `json:"repos" yaml:"repos" jsonschema_description:"One entry per repo."`
}

// Overlay is a whole file that changes the entries of a registry that includes it.
type Overlay struct {
	Schema        string   `json:"$schema,omitempty" jsonschema_description:"Where editors find this schema. It is not read."`
	SchemaVersion string   `json:"schema_version" jsonschema:"pattern=^1\\.[0-9]+$" jsonschema_description:"Version of the format, as text: \"1.0\"."`
	Kind          string   `json:"kind" jsonschema:"enum=workspace_overlay" jsonschema_description:"Tells an overlay from a registry."`
	Generator     string   `json:"generator,omitempty" jsonschema_description:"The program that wrote the file. It is not read."`
	WorkspaceRoot string   `json:"workspace_root,omitempty" jsonschema_description:"Where the workspace is instead, relative to this file. In the overlay for one machine it may be absolute."`
	Add           []Repo   `json:"add,omitempty" jsonschema_description:"Whole entries of repos that no other file lists."`
	Extend        []Repo   `json:"extend,omitempty" jsonschema_description:"For entries that are there: the repo_id, and the fields to replace, each as a whole."`
	Remove        []string `json:"remove,omitempty" jsonschema_description:"The ids of entries that are there."`
}

// Manifest is a whole file by which a repo describes itself.
type Manifest struct {
	Schema         string              `json:"$schema,omitempty" jsonschema_description:"Where editors find this schema. It is not read."`
	SchemaVersion  string              `json:"schema_version" jsonschema:"pattern=^1\\.[0-9]+$" jsonschema_description:"Version of the format, as text: \"1.0\"."`
	Kind           string              `json:"kind" jsonschema:"enum=repo_manifest" jsonschema_description:"Tells the manifest of one repo from a registry."`
	RepoID         string              `json:"repo_id,omitempty" jsonschema:"pattern=^([A-Za-z0-9][A-Za-z0-9._-]*)?$,maxLength=100" jsonschema_description:"The id of the repo in the registry, whose word counts where they differ."`
	RepoClass      string              `json:"repo_class,omitempty" jsonschema_description:"The kind of repo, a word of the workspace's own."`
	Owner          string              `json:"owner,omitempty" jsonschema_description:"The owning team."`
	AuthorityOrder []string            `json:"authority_order,omitempty" jsonschema_description:"What outranks what where documents disagree, highest first."`
	Entrypoints    []string            `json:"entrypoints,omitempty" jsonschema_description:"The files to read first, best first, relative to the repo. Served is what the registry allows too."`
	ResourceRoots  map[string][]string `json:"resource_roots,omitempty" jsonschema_description:"The folders that may be listed, by type: adr: docs/adr. Served is what the registry allows too."`
	Views          map[string]string   `json:"views,omitempty" jsonschema_description:"Files by the name of a view: start-here, capabilities, workflows, contracts."`
	Components     []Component         `json:"components,omitempty" jsonschema_description:"The parts of a repo that holds several."`
	FrameworkRepo  string              `json:"framework_repo,omitempty" jsonschema:"pattern=^[A-Za-z0-9][A-Za-z0-9._-]*$,maxLength=100" jsonschema_description:"The id of the repo that this one builds on."`
	Notes          []string            `json:"notes,omitempty" jsonschema_description:"Texts for people."`
}

// Defaults holds the fields that entries may share.
type Defaults struct {
	Shared `yaml:",inline"`
}

// Shared holds the fields that may stand in an entry and in the defaults.
type Shared struct {
	ManifestSource string              `json:"manifest_source,omitempty" yaml:"manifest_source,omitempty" jsonschema:"enum=repo,enum=generated" jsonschema_description:"repo: the repo has a manifest at manifest_path. generated: it has none, and this entry is all there is. Every entry needs it, here or by default."`
	ManifestPath   string              `json:"manifest_path,omitempty" yaml:"manifest_path,omitempty" jsonschema_description:"The manifest, relative to the repo, such as docs/agent/manifest.yaml. A default is taken only by entries whose manifest_source is repo."`
	Entrypoints    []string            `json:"entrypoints,omitempty" yaml:"entrypoints,omitempty" jsonschema_description:"The files to read first, best first, relative to the repo."`
	ResourceRoots  map[string][]string `json:"resource_roots,omitempty" yaml:"resource_roots,omitempty" jsonschema_description:"The folders that may be listed, by type: adr: docs/adr."`
	AuthorityOrder []string            `json:"authority_order,omitempty" yaml:"authority_order,omitempty" jsonschema_description:"What outranks what, highest first, in words of your own."`
	RepoClass      string              `json:"repo_class,omitempty" yaml:"repo_class,omitempty" jsonschema_description:"The kind of repo, a word of your own."`
	Lifecycle      string              `json:"lifecycle,omitempty" yaml:"lifecycle,omitempty" jsonschema:"enum=active,enum=transitional,enum=archived,default=active" jsonschema_description:"An archived repo is found, but not listed unless asked for."`
	Views          map[string]string   `json:"views,omitempty" yaml:"views,omitempty" jsonschema_description:"Files by the name of a view, such as start-here, capabilities, workflows, contracts."`
	Owner          string              `json:"owner,omitempty" yaml:"owner,omitempty" jsonschema_description:"The owning team. A name ending in -tbd is a placeholder and is reported by the check."`
	Signals        *Signals            `json:"signals,omitempty" yaml:"signals,omitempty" jsonschema_description:"What kinds of content the repo has."`
	SafeToProbe    *bool               `json:"safe_to_probe,omitempty" yaml:"safe_to_probe,omitempty" jsonschema:"default=false" jsonschema_description:"Allows generator and check to look at paths that are not declared."`
	Origin         string              `json:"origin,omitempty" yaml:"origin,omitempty" jsonschema:"enum=generated,enum=manual,enum=overridden" jsonschema_description:"Who wrote the entry."`
}

// Repo is one entry.
type Repo struct {
	RepoID           string   `json:"repo_id" yaml:"repo_id" jsonschema:"pattern=^[A-Za-z0-9][A-Za-z0-9._-]*$,maxLength=100" jsonschema_description:"The stable key of the repo, unique whatever the case of its letters."`
	Path             string   `json:"path,omitempty" yaml:"path,omitempty" jsonschema_description:"The folder of the repo, relative to the workspace root. Default: the repo_id."`
	FormerIDs        []string `json:"former_ids,omitempty" yaml:"former_ids,omitempty" jsonschema_description:"Ids the repo had before; it is still found by them."`
	SupersededBy     string   `json:"superseded_by,omitempty" yaml:"superseded_by,omitempty" jsonschema_description:"The id of the repo to use instead."`
	Shared           `yaml:",inline"`
	EntrypointStatus map[string]string `json:"entrypoint_status,omitempty" yaml:"entrypoint_status,omitempty" jsonschema_description:"What was at a declared path when the file was written. What is missing is never opened."`
	Components       []Component       `json:"components,omitempty" yaml:"components,omitempty" jsonschema_description:"The parts of a repo that holds several."`
	Evidence         map[string]string `json:"evidence,omitempty" yaml:"evidence,omitempty" jsonschema_description:"What a signal was concluded from, for people."`
	Fingerprint      string            `json:"fingerprint,omitempty" yaml:"fingerprint,omitempty" jsonschema_description:"What the generator wrote, so that it can tell what was changed by hand. Leave it as it is."`
	Locked           []string          `json:"locked,omitempty" yaml:"locked,omitempty" jsonschema_description:"The fields that a generator must not rewrite."`
}

// Signals says what kinds of content a repo has.
type Signals struct {
	HasDocs    bool `json:"has_docs,omitempty" yaml:"has_docs,omitempty" jsonschema_description:"Markdown documentation."`
	HasMkdocs  bool `json:"has_mkdocs,omitempty" yaml:"has_mkdocs,omitempty" jsonschema_description:"A MkDocs site."`
	HasADR     bool `json:"has_adr,omitempty" yaml:"has_adr,omitempty" jsonschema_description:"Architecture decision records."`
	HasIntents bool `json:"has_intents,omitempty" yaml:"has_intents,omitempty" jsonschema_description:"Intents or specifications of change."`
}

// Component is one part of a repo.
type Component struct {
	ID     string              `json:"id" yaml:"id" jsonschema_description:"A name of your own."`
	Labels []string            `json:"labels,omitempty" yaml:"labels,omitempty" jsonschema_description:"Words of your own."`
	Paths  map[string][]string `json:"paths,omitempty" yaml:"paths,omitempty" jsonschema_description:"Its folders by type, relative to the repo."`
}
