// Package contracttest checks that a Go MCP server keeps the promises of this
// library towards every client that calls it. It works on any server of the
// official SDK, whatever it was built with, inside that server's own go test:
//
//	func TestContract(t *testing.T) {
//		contracttest.Run(t, newServer, &contracttest.Options{
//			Calls: []contracttest.Call{
//				{Tool: "add", Arguments: map[string]any{"a": 1, "b": 2}},
//				{Tool: "divide", Arguments: map[string]any{"a": 1, "b": 0}, Fails: true},
//			},
//		})
//	}
//
// # Promises
//
// Each fault names the promise, the tool, the client, the protocol and the
// transport, and quotes the bytes.
//
//   - alive: the server answers every request and outlives it. A panic, a nil
//     result and a result that cannot be encoded break this.
//   - one-representation: a success is text or structuredContent, never both,
//     never neither, never null; and a client that reads text gets text.
//   - error-envelope: a failed call is one text block with
//     {"error": {"code", "message"}}, without structuredContent, of at most
//     8,192 bytes.
//   - no-echo: bad arguments, unknown tools and unknown URIs get short answers,
//     however long they were.
//   - schema: input schemas are closed, inlined and object-rooted with
//     properties; output schemas are object-rooted; a structured result matches
//     the schema that its client was shown.
//   - annotations: every tool says whether it only reads, and otherwise whether
//     it destroys, and whether it reaches the outside world.
//   - uniform-list: on protocol 2026-07-28 tools/list is the same for everyone.
//   - cache: on protocol 2026-07-28 lists and reads say how long and for whom
//     they may be kept, and never by accident "public".
//   - budget: the catalog has at most 80 KiB. More than 24 KiB, and results of
//     more than 10,000 bytes, are logged.
//
// # How it runs
//
// The server is called as each of several clients, in the handshake protocols
// and in 2026-07-28, first over the standard input and output of a child
// process, then inside the test's own process. The child is the test program
// itself, started again for the calling test alone: Run then serves instead of
// testing. So what comes before Run in a test runs again in each child, and
// must not print to standard output. What it makes below the temporary
// directory is removed with the test.
//
// Tools are called only as [Options.Calls] says, and with arguments that no
// schema allows. Without Calls, results and the tools' own errors stay
// unchecked.
package contracttest
