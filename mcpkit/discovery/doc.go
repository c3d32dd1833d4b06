// Package discovery serves the repositories of a workspace to MCP clients,
// registry first.
//
//	reg, err := registry.Load("workspace-registry.yaml", nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	resolver := resolve.New(resolve.Static(reg), nil)
//	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "workspace", Version: "1.0.0"}, nil,
//		discovery.Feature(resolver, nil))
//	if err != nil {
//		log.Fatal(err)
//	}
//	if err := server.Run(context.Background(), &mcpkit.StdioTransport{}); err != nil {
//		log.Fatal(err)
//	}
//
// The rules are those of package [resolve], and the server keeps them: every
// tool, resource and completion asks the resolver, and there is no other way to
// a file.
//
// # Tools
//
// All of them only read.
//
//	list_repos       lifecycle?, owner?, repo_class?, includeArchived?, cursor?
//	resolve_repo     repo_id
//	read_entrypoint  repo_id, path, cursor?
//	read_view        repo_id, view, cursor?
//	scan_root        repo_id, type, cursor?
//	check_registry   cursor?
//
// Names of fields that a registry file has are spelled as there, all others in
// camel case. Paths are relative to the repo, the root of a repo is relative to
// the workspace; no reply holds a path of the machine. Archived repos are listed
// only when asked for, and resolve with a notice.
//
// # Resources
//
// repo://index lists the repos. Each view is a template: repo://{repo}/manifest,
// start-here, capabilities, workflows and contracts, with completion of repo.
// The first content is the text, the second, of type application/json, its
// provenance. What cannot be had is the protocol's error -32602 with data.uri;
// its message gives the reason and what is declared instead. Where
// [Options.Changes] says that repos came or went, clients are told that the list
// of resources has changed, and those that subscribed to repo://index that it has.
//
// # Pages
//
// Lists end between two items, texts at the end of a line where one fits, and a
// whole result stays below [Options.MaxPage] on the wire, however its client
// reads it. A cursor belongs to one query and one snapshot: the content of the
// registry, of the folder or of the file. The pages of check_registry come from
// one check, of the moment of the first page, if they are read within a minute and
// nobody else starts a listing; otherwise each checks anew and compares. resolve_repo
// has no pages: what does not fit is left out at the ends of its lists, and a notice
// list_cut counts it.
//
// # Concurrency
//
// An installed feature is safe for concurrent use. But for the pages of
// check_registry it caches nothing: each call reads the registry in force and the
// files as they are.
//
// # Errors
//
// The codes of package [resolve] reach the client as they are, with their
// details. To them come cursor_invalid and invalid_arguments of package
// [result], [CodeSnapshotChanged] and [CodeWorkspaceUnreadable].
//
// # Limits
//
// A result has at most 10,000 bytes on the wire, a resource 256 KiB; see
// [Options]. The limits of package resolve hold for files, manifests and folders.
package discovery
