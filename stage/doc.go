// Package stage keeps candidate files apart from a project until they are
// approved, and then promotes exactly what was approved, as a whole or not at
// all.
//
//	area, err := stage.Open(root, &stage.Options{Allow: []string{"docs/**"}})
//	if err != nil {
//		return err
//	}
//	defer area.Close()
//
//	// Somebody writes the declared files below the directory it names.
//	prepared, err := area.Prepare(ctx, "new-plan", []string{"docs/plan.md"})
//	...
//	manifest, err := area.Inspect(ctx, "new-plan")
//	...
//	plan, err := area.Plan(ctx, manifest, nil, nil)
//	...
//	// A person approves plan.Changes(), known by plan.Digest().
//	receipt, err := area.Promote(ctx, plan)
//
// # Candidates
//
// A candidate is a directory of files below Options.Dir, with the paths they
// are to have in the project. [Area.Prepare] declares them, [Area.Inspect] says
// what is there, by hashes over the bytes, [Area.Discard] removes all. A
// candidate holds regular files with one name and nothing else; a link, a pipe
// or a file that was not declared makes it unusable, not partly usable. Modes
// count, and so does the spelling of names.
//
// # Plans
//
// A [Plan] is a manifest with all that a decision rests on: what is in the
// project in each place now, files generated from the candidate, such as an
// index, and files to be removed. Plan.Digest covers all of it. A plan is data:
// it is not kept here. Whoever asks a person keeps the digest, makes the plan
// again when the answer comes, and compares.
//
// # Promotion
//
// [Area.Promote] changes all files of a plan, or none. It refuses if the
// candidate is not what the plan says (stage_changed) or a file in the project
// is not (proposal_stale). Under a lock that all processes share it
//
//  1. finishes what a crash interrupted,
//  2. writes a journal of what it is about to make,
//  3. copies the staged files beside their targets under temporary names,
//     hashing the bytes it writes, and copies the files to be replaced; all of
//     it durably,
//  4. replaces the journal by the intent: the commit point,
//  5. renames, removes and syncs,
//  6. writes the receipt, and removes the copies and the journal.
//
// Before the commit point a crash leaves the project as it was; what was made
// is cleared away. After it the operation is finished, by the hashes of what is
// there. Others may see some files of a promotion before the rest, but not half
// of a file. If somebody edits a file in the middle of an interrupted
// promotion, nothing is overwritten: the operation waits (operation_conflict)
// until a person restores the file or calls [Area.Abort], which restores the
// state before.
//
// # Approvals
//
// [Plan].Approval is part of the intent and the name of the receipt, so that
// using up an approval and promoting are one commit. Who keeps approvals
// elsewhere joins the two under [Area.Lock]. With a token of package
// [github.com/mcpcontract/mcpcontract/token], whose record rec was looked up:
//
//	lock, err := area.Lock(ctx) // finishes what a crash interrupted
//	...
//	defer lock.Unlock()
//	receipt, done, err := area.Receipt(rec.Hash)
//	...
//	claim := rec.Claim
//	if !done {
//		plan, claim, err = propose(rec.Claim.Input) // what would be done now
//		...
//	}
//	lease, err := tokens.Resume(ctx, text, claim)
//	...
//	defer lease.Release() // without Commit, the next call resumes
//	if !done {
//		plan.Approval = lease.Hash()
//		receipt, err = lock.Promote(ctx, plan)
//		...
//	}
//	err = lease.Commit(ctx, reply(receipt))
//
// After a crash anywhere in it the same token carries the plan out, if that did
// not happen, or is answered with the receipt. The example of Area.Lock is the
// whole of it.
//
// # Storage
//
// Everything is in Options.Dir below the root, ".mcpcontract" unless set, with
// a .gitignore of its own:
//
//	stage/ID/...        the files of a candidate
//	stage/ID.files.json what was declared
//	journal, undo/      the operation under way
//	receipts/           what was promoted
//	lock
//
// It must be on the file system of the project. Who can write there can write
// candidates; the package trusts none of it more than a candidate, and checks
// every path again.
//
// # Errors
//
// Every failure is an [*Error] with a [Code] and the paths at fault. Whatever is
// refused is refused before the project is changed.
//
// # Concurrency
//
// An Area is safe for concurrent use, by several processes too: one promotion
// at a time, and none is lost or mixed with another. Prepare, Discard, Promote,
// Recover and Abort wait for the lock until their context ends or
// Options.LockTimeout is over (stage_locked); the others wait for nobody.
//
// # Limits
//
// 4,096 files, 16 MiB in one and 256 MiB in all, 64 candidates and 256
// receipts, unless Options say less or more. A path has at most as many bytes
// and parts as the rules for relative paths allow, less what the area's own
// directories take. On Windows a promotion is atomic, and durable as far as the
// system makes names so.
package stage
