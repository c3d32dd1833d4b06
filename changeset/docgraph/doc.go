// Package docgraph is a folder of Markdown files as the canonical project
// behind changesets: a graph of documents that can be searched, followed and
// read in pieces, and that nothing here can write to.
//
//	project, err := docgraph.Open(dir, &docgraph.Options{Project: "handbook"})
//	if err != nil {
//		return err
//	}
//	defer project.Close()
//	graph, err := project.Graph(ctx)
//	if err != nil {
//		return err
//	}
//	hits, total, err := graph.Search("restore backup", 0, 20)
//
// A [Project] is a [changeset.Source]; a [Mirror] makes graphs of any other.
//
// # Documents
//
// Every file below the docs folder whose name ends in ".md" is a node, with
// front matter or without; names that begin with a dot are left out. Front
// matter is YAML between two lines "---":
//
//	---
//	id: backup
//	kind: guide
//	title: Backups
//	status: draft
//	depends_on: [storage]
//	tags: [ops]
//	---
//
// All of it may be missing: the id is then the path without ".md", the kind
// "page", the title the first heading. The text refers to other nodes by
// [[id]], [[id|words]] and [[id#section]]; code does not. A section is named by
// its heading, as it is written or as [Section] has it: "Every night" and
// "every-night" are one. For the graph such a link is one to the node.
//
// A file that cannot be read or understood never keeps the others from being
// loaded. It is a [changeset.Problem], as are references that lead nowhere; see
// [Graph.Validate] for the codes.
//
// # Snapshots
//
// A [Graph] is the project at one moment and never changes. [Project.Graph]
// looks at the size, the times and the inode of every file, reads those that
// differ from what it read before, and returns the same Graph as long as none
// does. A file that was written in the moment it was read is read again. On
// Windows, which has only a time that can be set, the one change that goes
// unnoticed is of a file that keeps its size and is given its old time.
// The revision is a digest of the project's identity and of path and SHA-256 of
// every file, so it depends on nothing else.
//
// # Context reads
//
// [Graph.Context] delivers a node and what it depends on, section by section,
// within a number of bytes, and says where to go on. Nothing is left out: a
// section that does not fit begins the next page, and one that fits no page is
// delivered in parts. Sections that the caller says it holds are named and not
// sent again.
//
// # Concurrency and errors
//
// Projects and graphs are safe for concurrent use. Every failure is an
// [*Error] with a stable [Code], except for the errors of a context.
//
// # Limits
//
// Files, their sizes, their total and their depth are bounded, see [Options].
// A graph keeps all text in memory, and about as much again for the search.
package docgraph
