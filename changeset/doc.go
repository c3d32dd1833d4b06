// Package changeset lets agents propose changes of documents that a person
// looks at and carries out. Nothing in it ever touches a canonical file.
//
//	project, err := docgraph.Open(root, nil)
//	if err != nil {
//		return err
//	}
//	defer project.Close()
//	store, err := changeset.Open(root, project, &changeset.Options{
//		Views: []changeset.View{{ID: "review", Renderer: "review"}},
//	})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	writer, err := store.Bind("ada", changeset.Policy{Allow: []changeset.Op{changeset.Update}})
//	if err != nil {
//		return err
//	}
//	c, err := writer.Create(ctx, "Clearer words", "The old ones confused readers.")
//	if err != nil {
//		return err
//	}
//	text := "# Set-up\n\nRun it.\n"
//	_, err = writer.ProposeUpdate(ctx, c.ID, "setup", changeset.NodeEdit{Text: &text})
//	if err != nil {
//		return err
//	}
//	page, err := store.Preview(ctx, c.ID, "review") // for a person to open
//
// # Who can do what
//
// The project is a [Source]: a revision, its nodes and their bytes, read only.
// A [Store] reads it and the changesets. Only a [Writer], which [Store.Bind]
// gives, can propose, and only within its [Policy], in changesets of its own
// name. There is no method that carries a changeset out, and no interface of an
// integration that could add one: a [Validator] adds problems, and cannot take
// any back. A store writes below Options.Changesets and Options.Previews and
// nowhere else; [Open] refuses folders that overlap the documents or the
// declared outputs, lead through a link, or leave the root.
//
// # Operations
//
// A changeset has one operation for each node it changes, however many steps
// led to it, as a reviewer sees one change for each file:
//
//   - an update or a move of a node that the changeset creates, updates or moves
//     becomes part of that operation; what an earlier update set and a later one
//     does not name stays,
//   - a move with other content is a move; one back to where the file was leaves
//     an update, or nothing,
//   - deleting a node that the changeset creates takes that creation out;
//     deleting another replaces what was proposed for it,
//   - a deletion is final: a later update, move or creation under the id is
//     refused as an operation_conflict.
//
// An id or a path that is taken is refused at once, whether the project or the
// changeset takes it, also in other case or composition. A path that the
// changeset vacates is free; an id is not, as it would name two nodes. A move
// keeps every byte, so the id of a file whose front matter states none changes
// with its path.
//
// An operation keeps the bytes it was proposed on and the bytes it proposes,
// with their hashes. What [Store.Diff] and [Store.Preview] show is therefore
// exactly what was proposed, whatever becomes of the project, and
// [Store.Validate] says whether it still fits.
//
// # Storage
//
// A changeset is one file below Options.Changesets, replaced as a whole, with a
// checksum over all of it. After a crash at any moment, a full disk or a failing
// one, it is what it was before a call or after it. A file that was changed by
// anything else is changeset_damaged and never read in part; it does not keep
// [Store.List] from listing the others. Removing the file is how a person ends a
// changeset. A folder that Git should not see has to be ignored by the project.
//
// # Concurrency
//
// Stores and writers are safe for concurrent use, by several processes too. One
// call writes at a time; the others wait until their context ends or
// Options.LockTimeout is over (changeset_locked). Reading waits for nobody.
//
// # Errors
//
// Every failure is an [*Error] with a stable [Code], except for the errors of a
// context. A code that describes a proposal is that of a [Problem] too.
//
// # Limits
//
// 256 changesets of 200 operations and 16 MiB each, and 4 MiB for a file before
// or afterwards, unless Options say less or more; at most 4,096, 10,000 and 256
// MiB. 64 views and outputs, 16 validators, 1,024 previews, 256 rules in each
// list of a policy, and 256 writers bound. A title has at most 200 bytes, a
// description 4,000, a writer's name 100, a node's id and title 200, its kind,
// its status and a tag 64; a node has at most 64 tags and 256 dependencies.
// Validate reports at most 1,000 problems, 100 of them from one validator, each
// with at most 500 bytes. A store remembers the diffs that were asked for last,
// up to 16 MiB of them.
package changeset
