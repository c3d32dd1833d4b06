// Package candidates lets MCP clients stage files for a project, and promotes them exactly as a person approved them.
//
//	area, err := stage.Open(root, &stage.Options{Allow: []string{"docs/**"}})
//	if err != nil {
//		log.Fatal(err)
//	}
//	store, err := token.Open(filepath.Join(root, ".mcpcontract", "tokens"), nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	approvals := &mcpkit.Approvals{Store: store, Project: "acme"}
//	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "docs", Version: "1.0.0"}, nil,
//		candidates.Feature(area, approvals, nil))
//	if err != nil {
//		log.Fatal(err)
//	}
//	if err := server.Run(context.Background(), &mcpkit.StdioTransport{}); err != nil {
//		log.Fatal(err)
//	}
//
// A model declares a candidate, writes its files into the directory that it is told, with the file tools of its host, and
// asks for the promotion. The server reads the files itself: their content is in no call and in no reply.
//
// # Tools
//
//	candidate_prepare   candidateId, expectedFiles     candidateId, stagePath, retainedFiles, removedFiles
//	candidate_inspect   candidateId, cursor?           candidateId, fileCount, files {path, size, sha256}, digest, nextCursor?
//	candidate_apply     request                        commandStatus, and see below
//	candidate_discard   candidateId                    candidateId, removedFiles
//	operation_recover                                  outcome, operationId?, candidateId?, files, keptFiles
//	operation_abort     operationId                    the same
//
// candidate_inspect answers in pages of one digest. A list of another reply that does not fit has the first paths only;
// then retainedCount, removedCount, fileCount or keptCount beside it says how many there are.
//
// An outcome is none, finished or undone. candidate_apply is a [mcpkit.Command]: its request is {"op": "prepare",
// "candidateId"} or {"op": "apply", "proposalToken"}, its proposal {candidateId, digest, files {path, sha256, before}} and
// its receipt {operationId, digest, files}, where before is the SHA-256 of the file that is replaced, or null. Who approves
// is up to [mcpkit.Approvals].
//
// # What is approved
//
// The bytes and modes of all staged files, those that [Options.Generate] adds, the state of every file that is replaced,
// and what each [Validator] said: digest covers all of it. If any of it differs when the token comes back, the call fails
// with proposal_stale, names the files, and consumes nothing; a file more or less in the candidate fails with the error of
// candidate_inspect.
//
// A program in which a person decides, see [mcpkit.Approvals], says before the decision whether any of it differs, with
// [Recheck]:
//
//	approvals.Recheck = candidates.Recheck(area, nil) // with the options of the server
//	err := approvals.Decide(ctx, os.Stdout, os.Args[2:])
//
// # Crashes
//
// The approval is part of what package [stage] writes at the commit point of a promotion. A process that dies at any
// moment leaves a token that applies once, or answers with the receipt of what was done.
//
// # Concurrency
//
// An installed feature is safe for concurrent use, also by several servers on one project. One promotion runs at a time.
//
// # Errors
//
// The codes of the packages stage and token reach the client as they are, with the paths at fault, and path_not_allowed with
// what [Options] tells of those that are allowed. To them come
// [CodeRejected] and [CodeDisabled], and of pages cursor_invalid and snapshot_changed.
//
// # Limits
//
// Those of the area, and of a claim of package token: 2,048 files in one proposal. What a reply may have decides earlier:
// with the default of 20,000 bytes a proposal of about 80 files is refused with result_too_large, before anything is
// changed. All other replies stay below 10,000 bytes on the wire, however many files there are, so that none is refused
// for its size after the fact. A server whose own limit for results is lower than that loses this.
package candidates
