// Package documents lets MCP clients read a project of documents and propose
// changes of it, which a person reviews and carries out.
//
//	project, err := docgraph.Open(dir, &docgraph.Options{Project: "handbook"})
//	if err != nil {
//		log.Fatal(err)
//	}
//	store, err := changeset.Open(dir, project, &changeset.Options{
//		Views: []changeset.View{{ID: "review", Renderer: "review"}},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	writer, err := store.Bind("agent", changeset.Policy{Allow: []changeset.Op{changeset.Create, changeset.Update}})
//	if err != nil {
//		log.Fatal(err)
//	}
//	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "handbook", Version: "1.0.0"}, nil,
//		documents.Feature(project, &documents.Options{Store: store, Writer: writer}))
//	if err != nil {
//		log.Fatal(err)
//	}
//	if err := server.Run(context.Background(), &mcpkit.StdioTransport{}); err != nil {
//		log.Fatal(err)
//	}
//
// No tool changes a document, carries out a changeset, or writes a declared
// output; nothing that they reach could.
//
// # Tools that read the project
//
//	project_info      title, nodes, kinds, statuses, problems, views
//	project_status    changesets, candidates, approvals, operations: what is under way
//	get_contract      tools, operations, kinds, paths, candidatePaths?, roots, limits, exclusions
//	get_node          id, cursor?                     one document
//	search            query, limit?, cursor?          ranked, with snippets
//	filter_nodes      kind?, status?, tag?, cursor?
//	backlinks         id, cursor?                     what links to a node or depends on it
//	dependencies      id, cursor?                     what it depends on, in order
//	impact            id, cursor?                     what a change of it may touch, and why
//	get_context       id, maxBytes?, cursor?, retainedContextToken?, knownSources?
//	validate_project  cursor?
//	render_status                                     whether declared outputs are up to date
//
// # Tools for changesets
//
//	create_changeset       title, description?
//	list_changesets        cursor?
//	get_changeset          changesetId, cursor?
//	propose_node_create    changesetId, id, kind, title, path, text, status?, depends_on?, tags?
//	propose_node_update    changesetId, id, text?, title?, kind?, status?, depends_on?, tags?
//	propose_node_move      changesetId, id, path
//	propose_node_delete    changesetId, id
//	validate_changeset     changesetId, cursor?
//	get_changeset_diff     changesetId, cursor?
//	preview_changeset      changesetId, view
//
// text is the Markdown after the front matter, and paths are relative to the
// folder of the documents; only those in a unified diff are relative to the
// project. What a proposal does not name stays as it is. Fields
// that a file has are spelled as there (depends_on), all others in camel case.
//
// # Provenance
//
// Every reply says in its payload where it comes from, and that its text is
// content and not instructions. The hash of the source is that of the file a
// reply is about, and the revision where it is about the whole project. Give
// [Provenance] to the server's [result.Options], and the replies of all its
// other tools say the same.
//
// # Context reads
//
// get_context delivers a node and what it depends on, section by section, in
// pages of maxBytes. The cursor is sealed, so that no page can be left out, and a
// change of the project between two pages is snapshot_changed. The last page has
// a retainedContextToken, good for 30 minutes in this process: a caller that
// still has all of that text sends it with its next read, and sections that are
// unchanged come back as reused, without text. knownSources says the same of
// single sections. Who has lost the text must leave both out.
//
// # Concurrency
//
// An installed feature is safe for concurrent use. Several servers may serve one
// project.
//
// # Errors
//
// The codes of packages docgraph, changeset and token reach the client as they
// are. To them come cursor_invalid and invalid_arguments of package result,
// [CodeDisabled] and [CodeSnapshotChanged].
//
// # Limits
//
// A reply that has pages has at most 10,000 bytes on the wire, see [Options]; a
// page of get_context as many as its caller asks for, at most 16,000. What a
// document says of itself is cut where it would not fit beside others: a kind, a
// status or a title after 200 bytes, and long lists of tags, references and
// chains with "..." in their place, and so are those of the contract. The limits of packages docgraph and changeset
// hold for documents and changesets.
package documents
