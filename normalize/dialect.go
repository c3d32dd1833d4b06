package normalize

// Dialect is the id of a client's configuration format, or of another source
// of server entries.
type Dialect string

// The dialects: clients first, then formats that are no client's.
const (
	ClaudeCode       Dialect = "claude-code"
	ClaudeDesktop    Dialect = "claude-desktop"
	ClaudeSettings   Dialect = "claude-settings"
	Cursor           Dialect = "cursor"
	VSCode           Dialect = "vscode"
	VSCodeSettings   Dialect = "vscode-settings"
	VisualStudio     Dialect = "visual-studio"
	CopilotJetBrains Dialect = "copilot-jetbrains"
	CopilotCLI       Dialect = "copilot-cli"
	CopilotAgent     Dialect = "copilot-agent"
	Codex            Dialect = "codex"
	GeminiCLI        Dialect = "gemini-cli"
	GeminiExtension  Dialect = "gemini-extension"
	Qwen             Dialect = "qwen"
	Windsurf         Dialect = "windsurf"
	Antigravity      Dialect = "antigravity"
	Zed              Dialect = "zed"
	Cline            Dialect = "cline"
	Roo              Dialect = "roo"
	Kilo             Dialect = "kilo"
	Continue         Dialect = "continue"
	Goose            Dialect = "goose"
	OpenCode         Dialect = "opencode"
	AmazonQ          Dialect = "amazon-q"
	Kiro             Dialect = "kiro"
	JetBrains        Dialect = "jetbrains"
	LMStudio         Dialect = "lm-studio"
	Crush            Dialect = "crush"
	Warp             Dialect = "warp"
	Trae             Dialect = "trae"
	Amp              Dialect = "amp"
	Factory          Dialect = "factory"
	Kimi             Dialect = "kimi"
	Qoder            Dialect = "qoder"
	BoltAI           Dialect = "boltai"
	MistralVibe      Dialect = "mistral-vibe"
	LibreChat        Dialect = "librechat"
	OpenClaw         Dialect = "openclaw"
	Hermes           Dialect = "hermes"
	AnythingLLM      Dialect = "anythingllm"
	Augment          Dialect = "augment"
	CodeArts         Dialect = "codearts"
	MCPHubNvim       Dialect = "mcphub-nvim"

	DockerCatalog  Dialect = "docker-catalog"
	RegistryServer Dialect = "registry-server-json"
	MCPB           Dialect = "mcpb"
	Deeplink       Dialect = "deeplink"
	CLI            Dialect = "cli"
	Generic        Dialect = "generic"
)

// Dialects lists the ids of all dialects, clients first.
func Dialects() []Dialect {
	var ids []Dialect
	for i := range dialects {
		if n := len(ids); n == 0 || ids[n-1] != dialects[i].id {
			ids = append(ids, dialects[i].id)
		}
	}
	return ids
}

// A dialect is one client's configuration format as data. The reader and the
// writer both interpret it: a new client is a new row of [dialects] and no new
// code. A row says only what differs from the plain entry
//
//	NAME: {command, args, env} or NAME: {url, headers}
//
// in a JSON object under the wrapper.
type dialect struct {
	id Dialect
	// format is how the client's file is written.
	format fileFormat
	// wrappers are the paths of the object that holds the servers, the one to
	// write first. A path is a list of keys; one key may hold dots.
	wrappers [][]string
	// list is set where the wrapper holds a list of entries with a name.
	list bool
	// argv is set where command is a list that holds the arguments too.
	argv bool
	// fields are the client's own field names, those to write first. Plain
	// names need no mention where the plain role has no other name, except for
	// cwd, the off switch, tools and timeouts: a role that is not listed there
	// is one the client does not have.
	fields []field
	// types are the client's spellings of transports.
	types spellings
	// refs is how the client spells a reference to a variable.
	refs refStyle
	// noDefaults is set where ${NAME:-default} means nothing to the client.
	noDefaults bool
	// bare is where the client expands $NAME.
	bare bareScope
	// sendsText is set where the client expands no reference at all.
	sendsText bool
	// bracesForeign is set where ${NAME} is not the client's spelling although
	// it expands another one.
	bracesForeign bool
	// workspace is set where the client knows ${workspaceFolder} and its kin.
	workspace bool
	// untypedSSE is set where a url without a type means SSE.
	untypedSSE bool
	// urlWins is set where the url decides when command and url stand together.
	urlWins bool
	// nullUnsets is set where a null in env removes the variable.
	nullUnsets bool
	// needsTools is set where an entry without a list of tools is refused.
	needsTools bool
	// emptyAllowsAll is set where an empty list of allowed tools is none.
	emptyAllowsAll bool
	// kinds are the values of type that make an entry something else than an
	// MCP server.
	kinds []string
}

type fileFormat uint8

const (
	jsonFile  fileFormat = iota // strict
	jsoncFile                   // comments and trailing commas allowed
	tomlFile
	yamlFile
)

// A field gives one of a client's field names its role. Name is a path where
// the field stands inside an object, such as "requestInit.headers".
type field struct {
	name string
	role role
}

// A role is what a field means for the record.
type role uint8

const (
	roleNone       role = iota
	roleQuiet           // kept in Extra without a note
	roleName            // name of the server
	roleType            // transport, or an object with type, url and headers
	roleCommand         // program, or program and arguments
	roleArgs            // arguments
	roleEnv             // variables
	roleEnvFile         // path of a file of variables
	roleEnvFrom         // names of variables to forward
	roleEnvKeys         // names of secrets that become variables
	roleCwd             // working folder
	roleURL             // address
	roleHTTPURL         // address, Streamable HTTP
	roleWSURL           // address, WebSocket, that the client does not use
	roleHeaders         // static headers
	roleHeaderVars      // header to name of variable
	roleBearer          // token of the Authorization header
	roleBearerVar       // name of the variable with that token
	roleEnabled
	roleDisabled
	roleAllow
	roleDeny
	roleApprove     // tools to run without a question
	roleTrust       // all of them
	roleApproveMode // word: auto, prompt, approve
	roleToolTables  // tool to table with an approval_mode
	roleTimeout     // call timeout in the client's unit
	roleStartMS     // start timeout
	roleStartSec
	roleCallMS // call timeout
	roleCallSec
	roleOAuth // object, or boolean
	roleOAuthOn
	roleOAuthID
	roleOAuthSecret
	roleOAuthScopes // list, or text with blanks
	roleVerifyTLS   // boolean, kept in Extra
)

// spellings are a client's words for the transports: "" is not written, "-" is
// a transport that the client cannot speak.
type spellings struct{ stdio, http, sse, ws string }

// cannot stands in spellings for a transport that the client cannot speak.
const cannot = "-"

// of returns the spelling of t.
func (s *spellings) of(t Transport) string {
	switch t {
	case Stdio:
		return s.stdio
	case HTTP:
		return s.http
	case SSE:
		return s.sse
	case WS:
		return s.ws
	}
	return cannot
}

// refStyle is how a client spells a reference to the variable V.
type refStyle uint8

const (
	refBraced   refStyle = iota // ${V}
	refEnv                      // ${env:V}
	refCurly                    // {env:V}
	refSecret                   // ${{ secrets.V }}
	refDollar                   // $V
	refLiteral                  // the client knows no references
	refByName                   // fields that name a variable
	refTemplate                 // formats of their own that are not written
)

// bareScope is where a client expands $NAME.
type bareScope uint8

const (
	bareNowhere bareScope = iota
	bareHeaders
	bareEverywhere
)

// name returns the client's field for a role, and the plain one where the row
// does not mention the role. It is "" for a role the client does not have.
func (d *dialect) name(r role) string {
	for _, f := range d.fields {
		if f.role == r {
			return f.name
		}
	}
	switch r {
	case roleType:
		return "type"
	case roleCommand:
		return "command"
	case roleArgs:
		return "args"
	case roleEnv:
		return "env"
	case roleURL:
		return "url"
	case roleHeaders:
		return "headers"
	}
	return ""
}

// dialectOf returns the row for id; where a client has an older form too, the
// present one. It is nil for an unknown id.
func dialectOf(id Dialect) *dialect {
	for i := range dialects {
		if dialects[i].id == id {
			return &dialects[i]
		}
	}
	return nil
}
