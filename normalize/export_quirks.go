package normalize

import "time"

// quirks are what a client wants of those who write its file, beyond what its
// row of [dialects] says for readers and writers both.
type quirks struct {
	refFields  []string // fields in which references are expanded; nil means all
	braceEnds  bool     // a default ends at its first brace
	shell      bool     // values are given to a shell
	files      string   // opening of a reference to the content of a file
	prompts    string   // where prompts are declared: "" nowhere, "." at the top, else in that object
	names      nameRule // which names are taken
	head       []string // members that a file must begin with: name, value, ...
	plain      bool     // the plain names of cwd and disabled are understood
	needsArgs  bool     // a list of arguments must be there
	needsState bool     // the switch must be there
	needsName  bool     // the entry must repeat its name
	excludes   bool     // a list beside the servers holds those that are off
	fraction   bool     // the start timeout may be a fraction of a second
	minTime    time.Duration
	maxTime    time.Duration
	scopesText bool // scopes are one text with blanks
	oauthBool  bool // signing in with the client's defaults is a boolean
	oauthFalse bool // it is switched off by false in place of the object
}

// nameRule says which names of servers a client takes.
type nameRule uint8

const (
	anyName   nameRule = iota
	wordName           // letters, digits, underscore, hyphen
	printName          // printable, but for a closing brace
)

func (n nameRule) allows(r rune) bool {
	switch n {
	case wordName:
		return r < 0x80 && (isNameStart(byte(r)) || byte(r)-'0' <= 9 || r == '-')
	case printName:
		return r >= ' ' && r != 0x7f && r != '}'
	}
	return true
}

// Fields in which some clients expand references.
var (
	processAndRemote = []string{"command", "args", "env", "url", "headers"}
	envAndHeaders    = []string{"env", "headers"}
	envURLHeaders    = []string{"env", "url", "headers"}
)

// clientQuirks has the clients with quirks; most have none.
var clientQuirks = map[Dialect]quirks{
	ClaudeCode:     {refFields: processAndRemote, braceEnds: true, minTime: time.Second, scopesText: true},
	ClaudeSettings: {refFields: processAndRemote, braceEnds: true, minTime: time.Second, scopesText: true},
	Cursor:         {refFields: processAndRemote},
	VSCode:         {prompts: "."},
	VisualStudio:   {prompts: "."},
	VSCodeSettings: {prompts: "mcp"},
	CopilotCLI:     {refFields: envAndHeaders, names: printName},
	AmazonQ:        {refFields: envAndHeaders},
	Kiro:           {refFields: envAndHeaders},
	Hermes:         {refFields: envAndHeaders},
	OpenClaw:       {refFields: envURLHeaders},
	LibreChat:      {refFields: envURLHeaders},
	Codex:          {names: wordName, fraction: true},
	GeminiCLI:      {excludes: true},
	Qwen:           {excludes: true},
	Windsurf:       {refFields: processAndRemote, files: "${file:"},
	Zed:            {needsArgs: true},
	Cline:          {maxTime: time.Hour},
	Roo:            {maxTime: time.Hour},
	Continue:       {head: []string{"name", "MCP servers", "version", "1.0.0", "schema", "v1"}},
	Goose:          {refFields: []string{"headers"}, needsState: true, needsName: true},
	OpenCode:       {files: "{file:", scopesText: true, oauthFalse: true},
	Kilo:           {files: "{file:", scopesText: true, oauthFalse: true},
	Crush:          {refFields: []string{"command", "args", "env", "url", "headers", "oauth"}, shell: true, oauthBool: true},
	Generic:        {plain: true},
}
