package normalize

// Code is the stable machine code of a [Note] or an [Error]. A code is never
// reused for two causes. Where a code takes a subject, its comment says what
// the subject is; f is a field path of the record, N a name.
type Code string

// Codes of errors: of [Parse], [Expand] and [Export], and in [Server.Err].
const (
	TooLarge       Code = "too_large"       // the text, a value or a result is over its limit
	Unreadable     Code = "unreadable"      // the text is in no form that can be read; position and hint say where and why
	UnknownDialect Code = "unknown_dialect" // a dialect id that is none of [Dialects]
	TooDeep        Code = "too_deep"        // nested beyond the limit
	TooMany        Code = "too_many"        // more entries, notes or references than the limit
	BadValue       Code = "bad_value"       // a value that its field cannot hold, such as a line break in a header; also a note on a variable or header that was dropped for it; subject f
	RefDenied      Code = "ref_denied"      // the allow hook refused a name; subject N

	EntryNull      Code = "entry_null"        // the entry is null
	NoCommandOrURL Code = "no_command_or_url" // the entry says neither what to run nor where to connect
	NotRunnable    Code = "not_runnable"      // the entry is no server that a client could start; the subject says what it is
	NeedsLookup    Code = "needs_lookup"      // the entry only names a server; subject the reference to look up
)

// Notes about a paste as a whole, given by [Parse].
const (
	BOMStripped           Code = "bom_stripped"                // a byte order mark was skipped
	CommentsStripped      Code = "comments_stripped"           // JSON held comments
	TrailingCommasRemoved Code = "trailing_commas_removed"     // JSON held commas before a closing bracket
	SmartQuotesFixed      Code = "smart_quotes_fixed"          // typographic quotes stood for plain ones
	OddSpacesFixed        Code = "odd_spaces_fixed"            // no-break or other special spaces stood for plain ones
	FullwidthFixed        Code = "fullwidth_punctuation_fixed" // full-width punctuation stood for plain one
	ZeroWidthRemoved      Code = "zero_width_removed"          // invisible characters were taken out
	JSON5Syntax           Code = "json5_syntax"                // JSON5, JavaScript or Python spellings were read
	BracesAdded           Code = "braces_added"                // a fragment without its outer braces
	BraceBalanceFixed     Code = "brace_balance_fixed"         // brackets were missing at the end or too many
	ProseSkipped          Code = "prose_skipped"               // text around the config, without fences
	MarkdownFences        Code = "markdown_fences"             // the subject is the number of fences
	EllipsisRemoved       Code = "ellipsis_removed"            // a bare "..." that stands for more
	Documents             Code = "documents"                   // several documents; the subject is their number
	DuplicateKey          Code = "duplicate_key"               // a key given twice, also on records; subject the key's path
	ShellCommentSkipped   Code = "shell_comment_skipped"       // a comment between command lines
	InputsDeclared        Code = "inputs"                      // the subject lists the prompts that the paste declares
	Skipped               Code = "skipped"                     // an entry that is no server; subject N(kind)
	UnrelatedKeysIgnored  Code = "unrelated_keys_ignored"      // the file holds other settings beside servers
	CommasAdded           Code = "commas_added"                // JSON lacked commas between values
	BackslashesFixed      Code = "backslashes_fixed"           // single backslashes of a Windows path in JSON
	NoMCPConfig           Code = "no_mcp_config"               // the text was read and declares no server
)

// Notes about the object that holds the servers, given by [Parse].
const (
	NoWrapper             Code = "no_wrapper"               // entries without the object that usually holds them
	WrapperSynonym        Code = "wrapper_synonym"          // a wrapper that the hinted client does not use; subject the wrapper
	WrapperDotted         Code = "wrapper_dotted"           // one dotted key in place of nested objects
	TwoWrappers           Code = "two_wrappers"             // servers came from several wrappers; the subject lists them
	ServersAsArray        Code = "servers_as_array"         // a list of entries in place of a map
	DuplicateName         Code = "duplicate_name"           // an earlier record of other content has this name
	DuplicateSame         Code = "duplicate_same"           // an earlier record is the same
	DuplicateKeptFirst    Code = "duplicate_key_kept_first" // a later entry has the same key, and clients keep only that
	DuplicateAcrossScopes Code = "duplicate_across_scopes"  // the name stands in several scopes
	NameGenerated         Code = "name_generated"           // the paste gave no name
)

// Notes about the shape of an entry, given by [Parse].
const (
	FieldSynonym             Code = "field_synonym"              // read from a field that is not the client's own; subject that field
	FieldCaseFixed           Code = "field_case_fixed"           // the field's name differs in case only; subject that field
	NestedTransportFlattened Code = "nested_transport_flattened" // type, url and headers stood in an object of their own
	CommandObject            Code = "command_object"             // the command was an object
	CommandArray             Code = "command_array"              // the command was a list, where the client wants a text
	CommandSplit             Code = "command_split"              // a whole command line stood in the command
	CommandHasSpace          Code = "command_has_space"          // a relative command with a blank was left whole
	ArgsStringSplit          Code = "args_string_split"          // the arguments were one text
	EntryIsString            Code = "entry_is_string"            // the entry was one text
	EntryIsArray             Code = "entry_is_array"             // the entry was a list
	EnvArray                 Code = "env_array"                  // the environment was a list
	ExtraField               Code = "extra_field"                // kept in [Server.Extra] only; subject the field
	EmptyURLIgnored          Code = "empty_url_ignored"          // the url was empty
	URLConflict              Code = "url_conflict"               // a second address was dropped; subject its field
	HeadersOnStdioDropped    Code = "headers_on_stdio_dropped"   // a local process takes no headers
	MisplacedEnv             Code = "looks_like_misplaced_env"   // the entry looks like the environment of another one
)

// Notes about the transport, given by [Parse].
const (
	TypeInferred         Code = "type_inferred"           // the entry does not say its transport; subject the one taken
	TypeSpelling         Code = "type_spelling"           // an unusual spelling of a known transport
	UnknownType          Code = "unknown_type"            // no known transport, so the fields decided; subject the text
	TypeConflict         Code = "type_conflict"           // two fields name different transports; subject the field dropped
	TypeContradicts      Code = "type_contradicts_fields" // the named transport does not fit the fields; subject its text
	TransportUncertain   Code = "transport_uncertain"     // the client itself would guess here
	AmbiguousTransport   Code = "ambiguous_transport"     // command and url together; subject what was dropped
	URLSchemeNotHTTP     Code = "url_scheme_not_http"     // subject the scheme
	RemoteBridgeDetected Code = "remote_bridge_detected"  // the command only forwards to a url; subject the program
	LocalHTTPServer      Code = "local_http_server"       // started by the command, then reached at the url
	ClientIgnores        Code = "client_ignores"          // the client does not use this field; subject the field
	BridgeWritten        Code = "bridge_written"          // the target cannot speak the transport, so a bridge was written; subject the server
)

// Notes about values, given by [Parse].
const (
	ArgCoerced          Code = "arg_coerced"            // a number or boolean became text; subject f
	NullArgDropped      Code = "null_arg_dropped"       // subject the argument as counted in the paste
	ArgNotScalarDropped Code = "arg_not_scalar_dropped" // a list or object among the arguments; subject as counted in the paste
	EnvCoerced          Code = "env_coerced"            // a number or boolean became text; subject N
	NullEnvDropped      Code = "null_env_dropped"       // subject N
	EnvNotScalar        Code = "env_not_scalar"         // a list or object became JSON text; subject N
	StringBool          Code = "string_bool"            // a text in place of a boolean; subject the field
	JSBoolean           Code = "js_boolean"             // !0 or !1 in place of a boolean; subject the field
	EnableConflict      Code = "enable_conflict"        // on and off at once, read as off
	EdgeSpace           Code = "edge_space"             // a value starts or ends with blanks, kept; subject f
	EdgeSpaceTrimmed    Code = "edge_space_trimmed"     // blanks at the ends were cut; subject f
	QuoteStyle          Code = "quote_style"            // quoting of another shell; subject its name
	ControlCharacter    Code = "control_character"      // a single backslash of a path became a control character; subject f
	DoubleQuotedJSON    Code = "double_quoted_json"     // JSON text inside a JSON string, kept; subject f
)

// Notes about references that need no environment, given by [Parse].
const (
	InputUndefined      Code = "input_undefined"              // no prompt of this id is declared; subject the id
	EnvFileNotRead      Code = "env_file_not_read"            // a file of variables that nobody allowed to read
	RefInKey            Code = "ref_in_key"                   // a reference in a name, which is never expanded; subject f
	BareVarLeft         Code = "bare_var_left"                // $NAME where the client does not expand it; subject f ([Server.Expand] adds lower-case names that are set)
	Unsupported         Code = "unsupported_expansion"        // a shell form or kind that is not understood, left as it is; subject f
	MalformedRef        Code = "malformed_ref"                // no valid name or no closing brace, left as it is; subject f
	DollarBeforeRef     Code = "dollar_before_ref"            // "$$" before a braced name gives "$" and the value; subject f
	SuspiciousBraceRef  Code = "suspicious_brace_ref"         // braces without "$"; subject f
	FileRef             Code = "file_ref"                     // a file that nobody allowed to read; subject its path
	SubstitutionRefused Code = "command_substitution_refused" // a command inside a value is never run; subject f
	Placeholder         Code = "placeholder"                  // a value still to be filled in; subject f
)

// Notes about references that need the environment or the target, given by
// [Server.Expand].
const (
	Unresolved         Code = "unresolved"               // not set and no default, left as it is; subject N
	NeedsInput         Code = "needs_input"              // a prompt without an answer; subject the id
	InputDefaultUsed   Code = "input_default_used"       // subject the id
	EnvFromUnset       Code = "env_from_unset"           // a variable to forward is not set; subject N
	RefToEntryEnv      Code = "ref_to_entry_env"         // the name is one of the entry's own environment; subject N
	ValueLooksLikeRef  Code = "value_looks_like_ref"     // the value itself holds a reference, which stays literal; subject f
	PercentExpanded    Code = "percent_var_expanded"     // %NAME% on Windows; subject N
	PercentLeft        Code = "percent_var_left"         // %NAME% that stays; subject f
	TildeExpanded      Code = "tilde_expanded"           // subject f
	TildeLeft          Code = "tilde_left"               // subject f
	WouldNotExpand     Code = "dialect_would_not_expand" // the client would have sent the reference as text; subject f
	DockerEnvNoValue   Code = "docker_env_without_value" // the container gets no value; subject N
	SpaceInArgUnderCmd Code = "space_in_arg_under_cmd"   // cmd may split this argument; subject f
)

// Notes about safety, given by [Parse].
const (
	AutoApproveImported Code = "auto_approve_imported" // the paste asks for tools to run without a question
	DangerousEnv        Code = "dangerous_env"         // a variable that changes what programs load or run; subject N
	ArchivedPackage     Code = "archived_package"      // its authors no longer mend it; subject the package
	InventedPackage     Code = "invented_package"      // a name that never existed but is passed around, so whoever takes it runs; subject the package
	SecretInline        Code = "secret_inline"         // a secret in clear; subject f
	SecretInURL         Code = "secret_in_url"         // a secret's place in the url; subject the parameter, or "userinfo"
	TLSVerifyOff        Code = "tls_verify_off"        // certificates are not checked
)

// Notes about state and platform, given by [Parse].
const (
	NotInAllowList     Code = "not_in_allow_list"    // a list of allowed servers leaves this one out
	NoToolsEnabled     Code = "no_tools_enabled"     // the list of allowed tools is empty
	CmdWrapperRemoved  Code = "cmd_wrapper_removed"  // "cmd /c", which [Launch.Argv] adds where it is needed
	CmdSuffixRemoved   Code = "cmd_suffix_removed"   // ".cmd" of a launcher
	HostSpecific       Code = "host_specific"        // runs on one kind of machine only; the subject says which
	ShellString        Code = "shell_string"         // a script for a shell, left as it is; subject f
	MSYSPathMangled    Code = "msys_path_mangled"    // Git Bash had turned an option into a path; subject the option
	ClientMisparses    Code = "client_cli_misparses" // the client's own command line would read this otherwise; the subject says why
	SmitheryReference  Code = "smithery_reference"   // subject the id
	RuntimeHintMissing Code = "runtime_hint_missing" // the registry entry names no program, so the usual one was taken
	TimeoutInvalid     Code = "timeout_invalid"      // a timeout that is no positive time below 30 days was dropped; subject the field
	TimeoutUnitGuessed Code = "timeout_unit_guessed" // no client known, so the size decided between seconds and milliseconds
	NotExpressible     Code = "not_expressible"      // the target has no place for it; subject the server and the field
)
