// Package mcpkit makes MCP servers whose tools keep the promises of this library: typed and closed schemas, truthful
// annotations, one representation of each result, coded errors, and bounds on everything.
//
// A server with one tool:
//
//	type addArgs struct {
//		A int `json:"a" jsonschema:"first summand"`
//		B int `json:"b" jsonschema:"second summand"`
//	}
//	type sum struct {
//		Sum int `json:"sum"`
//	}
//
//	func main() {
//		add := mcpkit.Tool[addArgs, sum]{
//			Name:        "add",
//			Description: "Add two numbers.",
//			Effect:      mcpkit.ReadOnly,
//			Run: func(_ context.Context, in addArgs) (sum, error) {
//				return sum{in.A + in.B}, nil // a client reads the text of an error: see Errors
//			},
//		}
//		server, err := mcpkit.NewServer(&mcp.Implementation{Name: "adder", Version: "1.0.0"}, nil, add.Install)
//		if err != nil {
//			log.Fatal(err)
//		}
//		if err := server.Run(context.Background(), &mcpkit.StdioTransport{}); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// # Features
//
// A [Feature] adds something to a server. The sub-packages of mcpkit hold ready ones; the Install methods of [Tool] and
// [ResourceTemplate] make one of a team's own code. [NewServer] makes a server of features, [Install] adds them to a
// server that exists. Both also install package
// [github.com/mcpcontract/mcpcontract/result], which shapes every result and error of the server, whoever wrote the
// tool. A feature that is not installed leaves no trace: no tool, no schema and, since each lives in a package of its
// own, no code in the program.
//
// # Schemas
//
// The schemas of a [Tool] are made from its two structs, as encoding/json sees them:
//
//   - Both roots are objects with properties, also when there is none. Objects are closed, nothing is a $ref, nothing may
//     be null. A recursive type, or one that encodes itself by a MarshalJSON method, is refused by Install, except those
//     of package [github.com/mcpcontract/mcpcontract/result]. Types with a MarshalText method are strings, as are []byte
//     (base64) and time.Time (RFC 3339, with a pattern).
//   - A field is required unless its json tag says omitempty or omitzero. A jsonschema tag is its description; arguments
//     must have one. Embedded structs are flattened.
//   - In a result, nil slices and maps become [] and {}. A pointer needs omitempty or omitzero.
//   - A schema tag adds constraints, separated by spaces: kind=id, kind=sha256, kind=time, enum=a|b|c, minLength=, maxLength=,
//     minimum=, maximum=, minItems=, maxItems=, and pattern=, which comes last and takes the rest of the tag. On a list or
//     a map everything but minItems and maxItems is said of its values.
//   - [Tool].Schema may change both schemas before they are checked.
//
// For example:
//
//	type listArgs struct {
//		Lifecycle string `json:"lifecycle,omitempty" jsonschema:"only repos in this state" schema:"enum=active|archived"`
//		Limit     int    `json:"limit,omitempty" jsonschema:"most items to return, 50 if absent" schema:"minimum=1 maximum=200"`
//		RepoIDs   []string `json:"repo_ids,omitempty" jsonschema:"only these repos" schema:"maxItems=20 kind=id"`
//	}
//
// # Commands
//
// A [Command] is a tool that changes something only after somebody agreed: it computes a proposal, and carries it out in a
// second call that brings a token for it, if it is still the same. [Approvals] say who agrees, an [Approver]:
//
//   - [Token], the default, trusts the host, which asks its user before each call of such a tool.
//   - [Elicit] trusts the client program to show a dialog. A model cannot answer it.
//   - [OutOfBand] trusts whoever can run programs as the user of the server: a command in a terminal approves.
//
// No argument of any tool approves anything. A command whose effect must survive a crash gives a [Transaction]; package
// candidates does so for files.
//
// # HTTP
//
// [NewHTTPHandler] makes a handler that serves clients of both protocol eras on one URL. Without options it serves this
// machine only; [HTTPOptions] open it to other hosts, to web pages and to users with tokens, whom [Principal] then names
// to the handlers. [HTTPHandler.Serve] runs it and stops in good order:
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	l, err := net.Listen("tcp", "127.0.0.1:8080")
//	...
//	h, err := mcpkit.NewHTTPHandler(server, nil)
//	...
//	err = h.Serve(ctx, l)
//
// # Concurrency
//
// Set-up happens in one goroutine, before the server takes requests. After that, handlers are called concurrently, and
// everything this package keeps for a server is read only.
//
// # Errors
//
// What a handler returns as an error is read by the client. Give it a code, with an Error of package result or a type with
// its methods: then only the message of that error is sent, not what wraps it. The text of an error without a code is sent
// under the code internal, unless it holds an error of the operating system: then the client reads a fixed sentence, and
// [Options.Logger] gets the text. [Tool].Run has the whole rule, which holds for tools, commands, resource templates and
// completions.
//
// Mistakes in a declaration are errors of [Install] and [NewServer], never of a call. Arguments that do not match the
// schema are refused before the handler runs, with the code invalid_arguments and a message that names the field, the
// fault and what is allowed; it repeats no value. A result that does not match its schema is the server's mistake and is
// not sent: the code is internal, and the message names the field.
//
// # Limits
//
//	tool name with prefix    64 bytes, prefix 32 bytes
//	nesting of arguments     64 levels
//	faults told in a message 5, of each name 60 bytes
//	completions in a reply   100, for at most 1,024 bytes typed
//
// The size of a request is bounded by its transport: 16 MiB a line on stdio, and [HTTPOptions] for HTTP.
package mcpkit
