package normalize

import (
	"encoding/json"
	"time"
)

// Transport is how a client talks to a server. The empty Transport stands in
// records that cannot run (see [Server.Err]).
type Transport string

// The transports.
const (
	Stdio Transport = "stdio" // a local process, JSON-RPC over its standard streams
	HTTP  Transport = "http"  // Streamable HTTP
	SSE   Transport = "sse"   // HTTP with server-sent events, the older form
	WS    Transport = "ws"    // WebSocket, which no published protocol version defines
)

// A Pair is one name with its value, such as an environment variable or an
// HTTP header. Lists of pairs keep the order of the paste and hold each name
// once.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Server is the normal record of one server of a paste. Strings hold
// references, never their values, in one spelling whatever the client's own
// was:
//
//   - ${NAME} and ${NAME:-default} for environment variables and secrets;
//   - ${input:id} for a value that a person is asked for (see [Input]);
//   - ${workspaceFolder}, ${workspaceFolderBasename}, ${userHome} and ${/}.
//
// All other text is literal. References stand in Command, Args, the values of
// Env and Headers, EnvFile, Cwd, URL, OAuth and the defaults of Inputs; text in
// any other field is never expanded.
//
// The zero Server is a valid empty record. A Server is plain data: copying it
// shares its slices, and it is safe for concurrent use while nobody writes to
// it. It marshals to JSON and back without loss, so a record can be stored.
type Server struct {
	// Name is the server's name as the paste wrote it, free text.
	Name string `json:"name"`
	// Dialect is the format the record was read from.
	Dialect Dialect `json:"dialect,omitempty"`
	// Scope tells where in a file of several scopes the record stood: "user",
	// or "local:" and a folder.
	Scope string `json:"scope,omitempty"`
	// Choice names this one of several ways to run the same server.
	Choice string `json:"choice,omitempty"`
	// Block is the number of the Markdown fence the record stood in, from 1;
	// 0 when there were no fences.
	Block int `json:"block,omitempty"`

	// Transport is empty if and only if Err is set.
	Transport Transport `json:"transport,omitempty"`
	// Command starts the server. A record with Command and URL is a program
	// that is started and then reached at the URL.
	Command string `json:"command,omitempty"`
	// Args are the arguments after Command.
	Args []string `json:"args,omitempty"`
	// Env is what the server's environment gets beyond the inherited one.
	Env []Pair `json:"env,omitempty"`
	// EnvUnset names variables to remove from the inherited environment.
	EnvUnset []string `json:"envUnset,omitempty"`
	// EnvFrom names variables forwarded from the host, whose values are never
	// part of a record.
	EnvFrom []string `json:"envFrom,omitempty"`
	// EnvFile is the path of a file of variables. Parse does not read it.
	EnvFile string `json:"envFile,omitempty"`
	// Cwd is the working folder; empty means the client's.
	Cwd string `json:"cwd,omitempty"`
	// URL is the address of a server that is not stdio.
	URL string `json:"url,omitempty"`
	// Headers go with every HTTP request.
	Headers []Pair `json:"headers,omitempty"`
	// OAuth is nil where the paste says nothing about it.
	OAuth *OAuth `json:"oauth,omitempty"`

	// Disabled is set where the paste switches the server off.
	Disabled bool `json:"disabled,omitempty"`
	// AllowTools are the only tools to offer. Nil means no restriction, empty
	// means no tool, and "*" alone means all.
	AllowTools []string `json:"allowTools,omitzero"`
	// DenyTools are taken away from what AllowTools leaves.
	DenyTools []string `json:"denyTools,omitempty"`
	// AutoApprove are the tools that the author of the paste wants to run
	// without a question, "*" alone meaning all. It is a request and not in
	// force: only a user can grant it.
	AutoApprove []string `json:"autoApprove,omitempty"`
	// StartTimeout bounds connecting, initializing and listing tools; 0 is
	// unsaid.
	StartTimeout time.Duration `json:"startTimeout,omitempty"`
	// CallTimeout bounds one request; 0 is unsaid.
	CallTimeout time.Duration `json:"callTimeout,omitempty"`

	// Inputs declares the prompts that ${input:id} references name.
	Inputs []Input `json:"inputs,omitempty"`
	// Image is the container image that a docker or podman command line runs.
	Image string `json:"image,omitempty"`
	// Equivalent is a simpler record for the same server: what a bridge such as
	// mcp-remote reaches, reached directly. It has no notes of its own.
	Equivalent *Server `json:"equivalent,omitempty"`
	// Extra is a JSON object of the entry's fields that have no place above,
	// in their order and with their number text, for an export back to Dialect.
	// Where Err is set and the fields above are empty, it is the whole entry.
	Extra json.RawMessage `json:"extra,omitempty"`

	// Notes say what was repaired, guessed, dropped or looks dangerous.
	Notes []Note `json:"notes,omitempty"`
	// Err says why this record cannot run; nil for one that can.
	Err *Error `json:"error,omitempty"`

	// unsent holds the paths of the fields whose references the client of
	// Dialect would have sent as text, for the note [WouldNotExpand].
	unsent []string
}

// OAuth is what a paste says about signing in. The zero value means "on, with
// the client's defaults".
type OAuth struct {
	Off          bool     `json:"off,omitempty"`          // the paste switches it off
	ClientID     string   `json:"clientId,omitempty"`     // registered client
	ClientSecret string   `json:"clientSecret,omitempty"` // usually a reference
	Scopes       []string `json:"scopes,omitempty"`       // what to ask for
}

// An Input is a prompt that a paste declares: a value that a person is asked
// for once, and that ${input:ID} then stands for.
type Input struct {
	// ID is the name in references; it is case-sensitive.
	ID string `json:"id"`
	// Kind is the prompt's own type, such as "promptString", "pickString" or
	// "command". A "command" is never run: its value is asked for.
	Kind string `json:"kind,omitempty"`
	// Description is the question to ask.
	Description string `json:"description,omitempty"`
	// Secret answers are not shown and belong in a vault.
	Secret bool `json:"secret,omitempty"`
	// Options are the answers to choose from; none means free text.
	Options []string `json:"options,omitempty"`
	// Default is the answer taken when none is given: nil for none, one text,
	// or with Multiple any number. It may hold references.
	Default []string `json:"default,omitzero"`
	// Multiple lets an argument that is nothing but ${input:ID} become one
	// argument for each answer.
	Multiple bool `json:"multiple,omitempty"`
}

// A Note is something a person should know about a paste or a record. Notes
// are not errors: the record beside them is as good as the paste allows.
type Note struct {
	// Code says what kind of note this is.
	Code Code `json:"code"`
	// Subject is what the code is about, where it needs a word: a field of the
	// record ("env.TOKEN", "args[2]"), a variable, a field of the paste. It
	// never holds a value of a secret field.
	Subject string `json:"subject,omitempty"`
	// Message is one lower-case sentence for people.
	Message string `json:"message,omitempty"`
	// Dropped is the text that was left out of the record, for the codes that
	// drop something. It may hold a secret, so it is never marshaled.
	Dropped string `json:"-"`
	// Line and Column are where in the text, from 1; 0 when it is about no
	// place.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// String gives the note's short form: the code, and after a colon the subject
// where there is one.
func (n Note) String() string {
	if n.Subject == "" {
		return string(n.Code)
	}
	return string(n.Code) + ":" + n.Subject
}

// A Paste is what [Parse] found in one text.
type Paste struct {
	// Format is the form of the text: "json", "toml", "yaml", "link", "command",
	// "markdown", or "word" for a word alone such as an address or a package;
	// "mixed" where parts of it differ, and "text" where it has none of these.
	Format string `json:"format"`
	// Dialect is the client whose file this is, as far as the text and the
	// hint tell; [Generic] when they do not.
	Dialect Dialect `json:"dialect"`
	// Servers are the records in the order of the text. A record whose Err is
	// set says what stood there and why it cannot run.
	Servers []Server `json:"servers"`
	// Notes are about the paste as a whole. Where Servers is empty, one of them
	// says why.
	Notes []Note `json:"notes,omitempty"`
}

// Vars looks a variable up. Origin says where the value came from, such as
// "env" or "vault:default", for people to read. Prompts are asked for under
// "input:" and their id. A Vars must be safe for the concurrency of its
// callers: this package calls it from the calling goroutine only. Nil knows
// nothing.
type Vars func(name string) (value, origin string, ok bool)

// A Launch is a [Server] with its references resolved: what can be run or
// connected to, and also what must not be stored or shown, since it holds
// secrets. Its text is literal and is never expanded again.
type Launch struct {
	Name      string    // as in the record
	Transport Transport // as in the record
	Command   string    // program to start, or empty
	Args      []string  // arguments after Command
	Env       []Pair    // variables to add to the inherited environment
	EnvUnset  []string  // variables to remove from it
	EnvFrom   []string  // variables to forward from the host by name
	EnvFile   string    // file of variables, not read
	Cwd       string    // working folder, or empty
	URL       string    // address, or empty
	Headers   []Pair    // HTTP headers
	OAuth     *OAuth    // resolved strings; nil where the record has none
	Image     string    // container image that Command runs, or empty
	// Equivalent is the resolved form of [Server.Equivalent], or nil.
	Equivalent *Launch
}
