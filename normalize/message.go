package normalize

import (
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// parseNote makes a note of the reader, with its sentence.
func parseNote(code Code, subject string) Note {
	if message, ok := ownMessages[Note{Code: code, Subject: subject}.String()]; ok {
		return Note{Code: code, Subject: subject, Message: message}
	}
	message, ok := messages[code]
	if !ok {
		return newNote(code, subject)
	}
	if subject == "1" {
		message = strings.Replace(message, "# blocks", "# block", 1)
	}
	if before, after, ok := strings.Cut(message, "%"); ok {
		message = before + strconv.Quote(clip(subject)) + after
	} else if before, after, ok := strings.Cut(message, "#"); ok {
		message = before + clip(subject) + after
	}
	return Note{Code: code, Subject: subject, Message: message}
}

// inForm gives a note the sentence that fits the syntax of its document, which
// is nil for a note about the paste: only JSON lets a key stand twice in one object.
func inForm(n Note, doc *syntax.Document) Note {
	if doc == nil || doc.Form != syntax.TOMLForm && doc.Form != syntax.YAMLForm {
		return n
	}
	name := "YAML"
	if doc.Form == syntax.TOMLForm {
		name = "TOML"
	}
	switch n.Code {
	case DuplicateKey:
		n.Message = "the key " + strconv.Quote(clip(n.Subject)) + " stands there twice, which " + name + " does not allow: clients refuse the whole file; take one out"
	case DuplicateKeptFirst:
		n.Message = "a later server has the same key, which " + name + " does not allow; take one out"
	}
	return n
}

// messages are the sentences of the reader's notes and errors; a percent sign
// stands for the subject in quotes, a number sign for one that is a number.
var messages = map[Code]string{
	BadValue:       "% holds what no process or request can take, such as a NUL byte or a line break",
	TooMany:        "there are too many of them; paste only what matters",
	EntryNull:      "the entry is null; write a command or a url, or take the entry out",
	NoCommandOrURL: "the entry says neither what to run nor where to connect",
	NotRunnable:    "this is %, which is no server that a client could start from here",
	NeedsLookup:    "% only names a server; look it up to learn how it is run",

	BOMStripped:           "a byte order mark at the start was skipped; some clients drop all servers over it",
	CommentsStripped:      "comments were skipped; clients that want strict JSON refuse them",
	TrailingCommasRemoved: "commas before a closing bracket were skipped; clients that want strict JSON refuse them",
	CommasAdded:           "commas were missing between values",
	SmartQuotesFixed:      "typographic quotes were read as plain ones",
	OddSpacesFixed:        "special blanks were read as plain ones",
	FullwidthFixed:        "full-width punctuation was read as plain one",
	ZeroWidthRemoved:      "invisible characters were skipped",
	JSON5Syntax:           "this is not strict JSON, as most clients want it",
	BracesAdded:           "the text is a part of an object; its outer braces were added",
	BraceBalanceFixed:     "brackets were missing or too many",
	BackslashesFixed:      "single backslashes of a path were kept; JSON wants them doubled",
	ProseSkipped:          "text around the configuration was skipped",
	MarkdownFences:        "the text is Markdown with # blocks of code",
	EllipsisRemoved:       "three dots that stand for more were skipped",
	Documents:             "the text holds # documents",
	DuplicateKey:          "the key % stands there twice; clients take the last one",
	ShellCommentSkipped:   "comments between command lines were skipped",
	InputsDeclared:        "the paste asks for these values: %",
	Skipped:               "% is no MCP server and was left out",
	UnrelatedKeysIgnored:  "the file holds other settings, which were left alone",
	NoMCPConfig:           "the text declares no MCP server",

	NoWrapper:             "the servers stand without the object that clients keep them in",
	WrapperSynonym:        "this client does not look for servers under %",
	WrapperDotted:         "the servers stand under one key with dots in it",
	TwoWrappers:           "servers stand under several keys: %",
	ServersAsArray:        "the servers are a list",
	DuplicateName:         "an earlier server has the same name",
	DuplicateSame:         "an earlier server is the same",
	DuplicateKeptFirst:    "a later server has the same key, and clients keep only that one",
	DuplicateAcrossScopes: "the name stands in several scopes",
	NameGenerated:         "the paste does not name the server",

	FieldSynonym:             "% is another client's name for the field",
	FieldCaseFixed:           "% is written in another case than the client's field",
	NestedTransportFlattened: "the transport is an object; its fields were read as the entry's own",
	CommandObject:            "the command is an object; its fields were read as the entry's own",
	CommandArray:             "the command is a list; its first item was taken as the program",
	CommandSplit:             "the command is a whole line and was split into words",
	CommandHasSpace:          "the command has a blank and was taken as one path",
	ArgsStringSplit:          "the arguments are one text and were split into words",
	EntryIsString:            "the entry is one text",
	EntryIsArray:             "the entry is a list of words",
	EnvArray:                 "the environment is a list",
	ExtraField:               "% has no place in the record; it is kept for an export to the same client",
	EmptyURLIgnored:          "an empty url was ignored",
	URLConflict:              "the entry has another address under %, which was dropped",
	HeadersOnStdioDropped:    "a local process takes no headers; they were dropped",
	MisplacedEnv:             "this looks like the environment of another entry, one level too high",

	TypeInferred:         "the entry does not say its transport; % was taken from the address",
	TypeSpelling:         "the transport is spelled unusually",
	UnknownType:          "% is no known transport; the other fields decided",
	TypeConflict:         "% names another transport and was dropped",
	TypeContradicts:      "the transport % does not fit the other fields, which decided",
	TransportUncertain:   "the client would take SSE here; the server may well speak Streamable HTTP",
	AmbiguousTransport:   "the entry has both a command and an address",
	URLSchemeNotHTTP:     "the address has the scheme %, which few clients know",
	RemoteBridgeDetected: "the program % only forwards to a url, which could be used directly",
	LocalHTTPServer:      "the command starts a server that is then reached at the url",
	ClientIgnores:        "the client does not use %",

	ArgCoerced:          "a number or boolean was read as text",
	NullArgDropped:      "a null was dropped",
	ArgNotScalarDropped: "a list or object was dropped",
	EnvCoerced:          "the value of % is a number or boolean and was read as text",
	NullEnvDropped:      "% is null and was dropped",
	EnvNotScalar:        "the value of % is a list or object and became JSON text",
	StringBool:          "% is a text in place of true or false",
	JSBoolean:           "% is JavaScript in place of true or false",
	EnableConflict:      "the entry is switched on and off at once; it was taken as off",
	EdgeSpace:           "the value starts or ends with a blank, which was kept",
	EdgeSpaceTrimmed:    "blanks at the ends of the value were cut",
	QuoteStyle:          "the quotes are those of another shell (%)",
	ControlCharacter:    "the path holds a control character; a backslash in JSON has to be doubled",
	DoubleQuotedJSON:    "the value is JSON inside quotes of its own",

	EnvFileNotRead: "the file of variables was not read",
	RefInKey:       "a reference in a name is not expanded",

	AutoApproveImported: "the paste asks for tools to run without a question; that is not in force until you allow it",
	DangerousEnv:        "% changes which code programs load or run",
	InventedPackage:     "no package % was ever published by the people it seems to come from; do not run it",
	SecretInline:        "this looks like a secret in clear; a reference would keep it out of the file",
	SecretInURL:         "the parameter % is the place of a secret; addresses end up in logs",
	TLSVerifyOff:        "certificates are not checked",

	NotInAllowList:     "a list of allowed servers leaves this one out",
	NoToolsEnabled:     "no tool of this server is allowed",
	CmdWrapperRemoved:  "cmd /c was cut; it is added again where Windows needs it",
	CmdSuffixRemoved:   ".cmd was cut from the command; only Windows has it",
	HostSpecific:       "this runs on one kind of machine only (%)",
	ShellString:        "this is a script for a shell and was left as it is",
	MSYSPathMangled:    "Git Bash had turned the option % into a path",
	SmitheryReference:  "the server % is run through Smithery",
	RuntimeHintMissing: "the entry names no program to run the package; the usual one was taken",
	TimeoutInvalid:     "% is no positive time below 30 days and was dropped",
	TimeoutUnitGuessed: "no client is known, so the size decided between seconds and milliseconds",
}

// ownMessages are the sentences of notes whose subject says what happened, under
// their short forms.
var ownMessages = map[string]string{
	"client_cli_misparses:variadic_env":        "the client takes what follows -e for further variables, the name of the server too; put the name before it",
	"client_cli_misparses:variadic_header":     "the client takes what follows -H for further headers, the name of the server too; put the name before it",
	"client_cli_misparses:missing_double_dash": "the client takes the options of the server's command for its own; put -- before the command",
	"secret_in_url:userinfo":                   "the address holds a password; addresses end up in logs",
}
