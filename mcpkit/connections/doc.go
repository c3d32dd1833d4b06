// Package connections lets MCP clients turn whatever a person pastes into a server connection that is proven to work,
// sealed in a vault, and can be switched, exported and removed.
//
//	v, err := vault.Open(ctx, dir, vault.KeyFile(keyPath), nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer v.Close()
//	store, err := connections.New(v, vault.Default, &connections.Options{Lookup: lookup.New(nil)})
//	if err != nil {
//		log.Fatal(err)
//	}
//	tokens, err := token.Open(filepath.Join(dir, "tokens"), nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer tokens.Close()
//	approvals := &mcpkit.Approvals{Store: tokens, Project: "connections/default"}
//	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "connections", Version: "1.0.0"}, nil,
//		connections.Feature(store, approvals))
//	if err != nil {
//		log.Fatal(err)
//	}
//	if err := server.Run(ctx, &mcpkit.StdioTransport{}); err != nil {
//		log.Fatal(err)
//	}
//
// The vault is made once, with [vault.MakeKeyFile] and [vault.Create]. A [Store] is of use without a server, too:
// [Store.Launch] is what runs a connection.
//
// # Tools
//
//	normalize_config    text, dialect?, os?    format, dialect, notes, servers
//	resolve_reference   reference              server, evidence {step, source, outcome}
//	register_server     request                commandStatus, and see below
//	list_servers        cursor?                items {name, transport, target, enabled, profile, tools, verifiedAt,
//	                                           catalogDigest}, nextCursor?
//	set_enabled         name, enabled          the item
//	remove_server       request                commandStatus, and see below
//	probe_server        name                   the report of package probe, catalogChanged
//	export_config       dialect, names?        text, notes
//
// register_server and remove_server are each a [mcpkit.Command]. The request of the first is {"op": "prepare", "text" or
// "reference", "name"?, "replace"?} or {"op": "apply", "proposalToken"}, its proposal {name, transport, argv or url,
// envNames, refs, unresolved, notes}, and once it is applied the answer has server and probe. The request of the other has a
// name, its proposal is {name, transport, target, secrets}. A server is a [Record].
//
// # What happens when
//
// Running a stranger's command is the decision that needs a person. Preparing a registration reads the text, says what
// would be run, which variables it would get, which names it would read and which of them have no value, and runs nothing.
// Applying it computes all that again, fails with proposal_stale if any of it differs, and then runs the server once: it
// has to introduce itself and list its tools within 30 seconds. Only then is anything stored: the record, the secrets of
// the text, and the values of names that came from the environment, all in one save. If the server does not answer, the
// code says why (probe_failed, probe_timeout, spawn_failed), nothing is stored, and the token can be used again.
//
// A reference without a value stays as it is, and the probe decides; the note of the proposal says what a person types to
// give it one. Doing so before or between attempts changes nothing about the approval. [Options.Lookup] is asked when a registration is prepared; what it found is what is approved and run.
//
// A program in which a person decides shows what waits and whether it is still what would be done, with [Recheck]:
//
//	approvals.Recheck = connections.Recheck(store) // a store on the profile of the server
//	err := approvals.Decide(ctx, os.Stdout, os.Args[2:])
//
// # Secrets
//
// No tool returns the value of a secret. One that stands in a pasted text in clear is replaced by a reference before
// anything is shown, ${NAME}, under the name of its variable or one made from that of the server and the place, but never under one that
// means something to systems or programs, such as PATH or LD_PRELOAD. As a secret counts
//
//   - the value of a variable, header, option, parameter, or field whose name ends in token, secret, password, key,
//     authorization, cookie, credential, or the like, wherever such a pair stands: in arguments, in a script, in JSON
//     inside a text; a scheme such as Bearer stays
//   - the password of an address, and a long random part of its path
//   - what has the shape of a secret: the prefixes of the keys of well-known services, a JSON web token, a private key
//   - a long run of letters and digits that reads as nothing, as the value of a variable, header, option or argument
//   - the default of a question that asks for a secret, and the client secret of OAuth
//
// and any of these wherever else it stands in the record. What this takes for a secret and is none works as before; what it
// misses stays visible. References, placeholders and switches are none; nor are, except under the name of a password, counts
// such as that of MAX_TOKENS and paths of files.
//
// Between the two calls the text is kept in the vault, sealed, as the secret paste/ID/TIME of the profile; the store of the
// approvals gets only the id, which is a keyed digest. So a token can be applied after a restart, or by another process. At
// most 32 texts of 60 KiB are kept for at most a day, and the text goes when it has been applied; another proposal of the
// same text is proposal_stale from then on.
//
// The notes of a proposal are those of package normalize, at most 20 about the text as a whole before those about its
// server, and notes_omitted with the number of others, and three more, each with a name: sealed, a secret of the text that
// the vault would keep; captured, a variable that the environment has and the vault would keep; from_vault, a secret that is
// in the vault already, for whatever connection, and that this server would get. What is sealed is not warned of as a secret
// in clear, as normalize_config does of the text.
//
// Values are looked up in the environment first, then in the vault; but what a reference in place of a pasted secret stands
// for comes from the vault alone.
//
// # Changes behind one's back
//
// A connection keeps the digest of the catalog that was there when it was approved. [Store.Probe] and probe_server compare:
// while it is the same they renew verifiedAt; once it differs they say so until the connection is registered again.
//
// # Crashes
//
// What a registration or removal did is saved together with the hash of its token. A process that dies at any moment leaves
// a token that applies once, or answers with the receipt of what was done. Two calls with one token may both run the
// server; one of them stores it, and both get its receipt.
//
// # Concurrency
//
// A Store and an installed feature are safe for concurrent use, also by several servers on one vault.
//
// # Errors
//
// Errors of this package are [*result.Error] with one of the codes below. Those of the packages lookup, normalize, probe,
// token and vault reach the client as they are, without anything that a text or a server could smuggle a secret out with: what
// a failed server wrote has no secret of the text and no value of a reference, in the forms that package probe knows.
//
// # Limits
//
// A registration takes 60 KiB of text, a name 80 bytes. A server that has more than 100 different secrets in clear is refused
// with too_many_secrets, also by normalize_config and resolve_reference: put references in their places. What a reply may have decides on the rest: with the default of
// 20,000 bytes a text with some dozen servers is refused with result_too_large by normalize_config. The limits of the vault
// are in its documentation.
package connections
