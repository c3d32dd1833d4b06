// Package normalize turns any MCP client configuration that a person pastes
// into one safe record per server, and writes records in any client's format.
//
//	paste, err := normalize.Parse(text, nil)
//	if err != nil {
//		return err // could not be read: line, column and a hint
//	}
//	for _, s := range paste.Servers {
//		fmt.Println(s.Name, s.Transport, s.Refs())
//		launch, notes, err := s.Expand(ctx, []normalize.Vars{environment, vault}, nil)
//		...
//	}
//	out, notes, err := normalize.Export(normalize.Codex, paste.Servers, nil)
//
// # Records and dialects
//
// A [Server] is the normal form of an entry of any client: what to run or where
// to connect, with references in one spelling and never their values. [Parse]
// reads it from JSON and its relatives, TOML, YAML, install links, command
// lines, Markdown, MCPB manifests, registry entries and Docker catalogs. A
// [Dialect] is the id of a client; each client is a row in one table, which
// Parse and [Export] both interpret. A field that has no place in the record
// stays in [Server.Extra] for an export back to the same client.
//
// # Notes
//
// Whatever was repaired, guessed, dropped or looks dangerous is a [Note] of the
// record, or of the [Paste] where it is about the whole text. Nothing is dropped
// without one, and one bad entry never takes the others along: it becomes a
// record whose Err is set, with the entry as it stood there in Extra.
//
// # References
//
// [Expand] is the one expander: ${NAME} and ${NAME:-default}, a single pass,
// values never looked at again. [Server.Refs] says what would be read, and
// [ExpandOptions.Allow] can refuse a name. What comes out is a [Launch], a type of its own
// because it holds secrets and must not be stored.
//
// # Safety
//
// The texts are strangers'. Nothing that a paste names is run; a file is read
// only through [ParseOptions.ReadFile]; tools to run without a question are
// reported and not in force.
//
// A secret in clear is noted and left where it is. [SecretInline] is for a literal
// of 8 characters or more under the name of a variable or header that ends in token,
// secret, password, passwd or key, in the headers Authorization,
// Proxy-Authorization and Cookie, and in the secret of OAuth; [SecretInURL] for the
// user with a password and the parameters of such names in the url, whatever the
// length and even for a reference. Nothing else is looked at: secrets in arguments,
// or under other names, get no note, and that there is none proves nothing.
// Package github.com/mcpcontract/mcpcontract/mcpkit/connections, which seals
// secrets, looks at all texts and by more than names.
//
// # Concurrency
//
// All functions may be called at the same time. Records are plain data.
//
// # Errors
//
// Errors are [*Error], with a stable [Code], a field or a place. They never hold
// the value of a variable.
//
// # Limits
//
// A text has at most 1 MiB ([ParseOptions.MaxBytes]), 1000 servers, 2000
// documents, 50,000 values and 64 levels; an entry's lists and objects have at
// most 2000 members each. An install link has at most 64 KiB; a record has at
// most 1000 notes, and command lines set at most 1000 variables for later ones.
// The time of Parse grows with the length of the text and no faster. The limits
// of the expander are those of [Expand].
package normalize
