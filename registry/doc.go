// Package registry reads, generates and checks workspace registries: files that declare, for each repo of a
// workspace, what may be read there and who has authority, so that nobody has to guess by trying.
//
//	reg, err := registry.Load("workspace-registry.yaml", nil)
//	if err != nil {
//		return err // lists everything that is wrong, each with file, line and column
//	}
//	if repo, ok := reg.Lookup("billing"); ok {
//		fmt.Println(repo.ManifestPath, repo.Entrypoints)
//	}
//
// # The file
//
// A registry is YAML, JSON or TOML; the three are read into one model by one set of rules.
//
//	schema_version: "1.0"        # text, not a number
//	kind: workspace_registry
//	workspace_root: .            # where repo paths start, relative to this file
//	defaults:                    # for the fields that an entry does not state
//	  owner: platform-team
//	  lifecycle: active
//	repos:                       # always a list
//	  - repo_id: billing
//	    manifest_source: repo    # it has a manifest, which is loaded
//	    manifest_path: docs/agent/manifest.yaml
//	    entrypoints: [README.md]
//	    resource_roots: {docs: docs, adr: [docs/adr, docs/decisions]}
//	  - repo_id: legacy-tools
//	    path: tools/legacy
//	    manifest_source: generated   # it has none; this entry is all there is
//	    entrypoints: [README.md, docs/index.md]
//
// The fields of an entry are those of [Repo], in snake_case; the class is called repo_class. Every entry
// needs a repo_id and, of its own or by default, a manifest_source. A field that is absent or null takes the
// default as it is: an entry's list or mapping replaces that of the defaults, they are not merged. The
// default manifest_path is taken only by entries whose manifest_source is repo. What is particular to one
// repo cannot have a default. Fields that are not part of the format are refused, with the name that was
// probably meant; names that start with x- are yours, and kept. [JSONSchema] describes all files to editors.
//
// A later minor version, such as "1.3", is read too: fields that this package does not know are then warnings.
// Another major version is refused.
//
// # Several files
//
// A registry may be kept in several files, each with schema_version and kind. The field include of one lists
// others, relative to its folder and below that of the first file: a file, a folder, which stands for all
// registry files directly in it, or a pattern as in package path, such as teams/*.yaml. A file or folder must
// be there, a pattern may match nothing. There is no order between files that could let one win: the same id
// twice is a problem that names both places. Included files may have defaults of their own; what those do
// not give is taken from the defaults of the first file. Only the first file has a workspace_root.
//
// A file of kind workspace_overlay changes what other files say, with three lists:
//
//	schema_version: "1.0"
//	kind: workspace_overlay
//	add:                         # whole entries
//	  - {repo_id: sandbox, manifest_source: generated, entrypoints: [README.md]}
//	extend:                      # fields that replace those of an entry that is there
//	  - {repo_id: billing, owner: payments}
//	remove: [legacy-tools]       # ids of entries that are there
//
// Overlays are included too, and take effect in the order of include, after all registry files. At last comes
// the overlay for one machine, if there is one: beside workspace-registry.yaml that is the file
// workspace-registry.local.yaml, best kept out of version control. It may say where the workspace and its
// repos are on this machine, as absolute paths, without a warning. [Load], [Watch] and [Generate] read all
// files; [Parse] refuses a text with include, as it opens no file.
//
// # Paths
//
// Paths have forward slashes and are relative: of a repo to the workspace, of anything in a repo to that
// repo. They are clean and lead nowhere else; drive letters, network shares and backslashes are refused on
// every system. A path of a folder may end in a slash. Only path, manifest_path and workspace_root may be
// absolute, for one machine: the first two must lead into the workspace and the repo, they are made relative,
// and there is a warning.
//
// # Manifests
//
// A repo may describe itself in a manifest, which [ParseManifest] reads, by convention docs/agent/manifest.yaml
// in the repo. All fields but schema_version and kind may be left out, and paths are relative to the repo. The
// page FORMAT.md beside this package goes through every field, with an example of each kind of file:
//
//	schema_version: "1.0"
//	kind: repo_manifest
//	repo_id: billing                    # as in the registry, whose id counts
//	repo_class: service
//	owner: payments
//	authority_order: [contracts, docs]  # what counts when two documents disagree, first wins
//	entrypoints:                        # what to read first, in this order
//	  - docs/agent/start-here.md
//	  - README.md
//	resource_roots:                     # folders that may be listed and read, by type
//	  docs: docs/context
//	  adr: [docs/adr]
//	views: {start-here: docs/agent/start-here.md}
//
// The fields are those of [Manifest]. What a manifest declares outside the entrypoints and resource roots of
// its registry entry is not served. A registry is written by one team and read strictly: one fault, and the
// file is not used. Manifests are written by many, so a faulty entry of a manifest is left out and reported.
//
// # Writing and checking
//
// [Generate] writes a registry from what is on disk, with its evidence beside each signal. Given a file, it
// brings that up to date and leaves everything else in it byte for byte: comments, layout, fields of your own.
// The field fingerprint records what was generated, so what somebody changed since is known, and stays. [Check] says where
// a registry and the disk have come apart; it changes nothing. [Diff] says how two registries differ.
//
// # Keeping up to date
//
// [Watch] gives a [Watcher]: it loads the file again when it has changed, and keeps the last good one in force
// while the file is not good. A reader never waits, and never gets anything else than a whole registry.
//
// # Errors
//
// Loading gives an [*Error] with every [Problem] at once, sorted by place: file, line, column, field path, the
// repo it belongs to, a stable [Code] and a [Severity]. Text that is not well formed ends reading there, with
// what was found before. Problems that leave a file usable are in [Registry.Warnings].
//
// # Limits
//
// YAML and TOML files have at most 8 MiB and a million values, JSON files 90 MiB, manifests 1 MiB; see
// [ParseOptions]. There are at most 250,000 repos, 50,000 values in an entry, 10,000 items in a list, 4,096 keys
// in a mapping, 32 levels, and 64 KiB in a text. Names, owners and the like have at most 200 bytes. At most
// 1,000 problems of a file are listed, and reading ends after as many that count. A registry has at most 1,000
// files, included through 8 others, together as large as one JSON file, and a pattern is compared with at most
// 10,000 names of a folder. JSON is read as quickly as
// encoding/json does, YAML takes about six times as long: above a few thousand repos, keep JSON.
//
// # Concurrency
//
// All functions may be called at the same time. A [Registry] never changes, and is safe for concurrent use as
// long as nobody changes the slices and maps it gives out.
package registry
