// Package token issues opaque approval tokens that are used once, or not at
// all.
//
// A server that is asked for a change computes a proposal, and gives the
// caller a token for it. When the token comes back the server computes the
// proposal again, and carries it out only if it is still what was approved:
//
//	store, err := token.Open(filepath.Join(root, ".acme", "tokens"), nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
//	claim := token.Claim{
//		Project: "handbook", Kind: "publish", Subject: "ann", Tool: "page_publish",
//		Manifest: digestOfWhatWouldBeWritten,
//		Approved: true, // the host asks its user when the token is used
//	}
//
//	// The first call: nothing is changed.
//	tok, err := store.Issue(ctx, claim)
//	if err != nil {
//		return err
//	}
//	reply(tok.Reveal(), tok.Expires())
//
//	// The second call, in this process or another, brings the text.
//	lease, err := store.Begin(ctx, text, claimNow)
//	if err != nil {
//		return err // approval_invalid, approval_pending, proposal_stale, ...
//	}
//	defer lease.Release()
//	receipt, err := apply()
//	if err != nil {
//		return err
//	}
//	return lease.Commit(ctx, receipt)
//
// # Claims
//
// A token is bound to its [Claim]: the project, the subject who asks, the tool,
// the kind of decision, the arguments, a digest of all that would be written,
// and the state of all that the decision rests on. A call that brings nothing
// but the token gets its arguments back from [Store.Lookup]:
//
//	rec, err := store.Lookup(ctx, text, scope)
//	if err != nil {
//		return err
//	}
//	if rec.State == token.StateUsed {
//		return reply(rec.Receipt) // the reply was lost; this is the same one
//	}
//	claim, err := propose(rec.Claim.Input)
//
// # States
//
// A token is pending until a person decides, then approved or declined,
// applying while its action is carried out, and used. [Claim.Approved] lets it
// start as approved. [Store.Pending] lists what waits, by the hashes of the
// tokens, and [Store.Approve] and [Store.Decline] decide; no text of a token is
// needed or shown. Nothing but Approve and Claim.Approved makes a token approved.
//
// [Store.Begin] makes the step to applying durable before it returns, so that
// no crash lets an action happen twice. After a crash between Begin and
// [Lease.Commit] nobody can know from the token alone whether the action
// happened: Begin then answers approval_busy. A caller that can know, because
// it keeps [Lease.Hash] in its own journal and holds a lock around all of it,
// uses [Store.Resume]. For files, package
// [github.com/mcpcontract/mcpcontract/stage] is such a journal; the example of
// its Area.Lock joins the two.
//
// # Errors
//
// Every failure is an [*Error] with a [Code]. Whatever is wrong with a token
// is approval_invalid, always with the same text, so that a caller cannot find
// out which tokens exist; the reason goes to [Options].Logger. Only who has a
// valid token for the very same call learns that it is stale, pending, declined,
// busy or used. Besides what its comment says, every method of a [Store] may fail with
// store_closed, store_locked, store_damaged, store_exposed or store_io.
//
// # Time
//
// A token expires 30 minutes after its issue, unless it was begun. Within a
// process time passes at least as fast as the monotonic clock says, whatever
// is done to the wall clock; a wall clock that is set forward is followed. If
// it is set back by more than 60 seconds, all tokens that were not begun are
// void, because nobody can say how old they are. A store that was closed
// meanwhile notices by records from the future.
//
// # Storage
//
// The records are in an append-only log, approvals.log in the directory given
// to [Open], mode 0600, which all processes on the machine share; it holds the
// SHA-256 of tokens, never tokens, and never the content of files. A change
// takes one sync, two when the log is written anew, which happens when it has
// more than doubled. What a crash tears off the end is cut by the next writer.
// Any other byte that differs makes the store refuse all work with
// store_damaged, because a lost line could make a used token usable again;
// remove the file to void all tokens. Only local file systems are supported:
// locks over a network are not to be trusted. A [Backend] takes the place of
// the log where several machines share the tokens.
//
// # Other tokens
//
// A [Signer] seals what a client keeps for a server: cursors, and the state of
// a request that goes over several calls. A [Retained] knows which text a
// client still has.
//
// # Limits
//
// 1,024 records or 16 MiB, 64 records for one subject; 64 KiB of arguments,
// 4,096 paths and 512 KiB of them in a claim, 256 KiB in a receipt. The oldest
// records make room for new ones, never one that is being applied, except as the
// last and 30 minutes after it was begun, so that crashes cannot block a
// subject for long. A begun record is kept for 24 hours.
//
// # Concurrency
//
// All types are safe for concurrent use. The package starts no goroutines.
//
// A change waits for the lock of the directory, which another process may hold
// and a stopped one holds for good: it ends with store_locked at the deadline of
// its context, or after [Options].LockTimeout if that has none. [Open],
// [Store.Lookup] and [Store.Pending] read without the lock and wait for nobody,
// as long as the clock did not go back.
package token
