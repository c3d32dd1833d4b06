package normalize

// Field names that several clients share.
var (
	geminiFields = []field{
		{"httpUrl", roleHTTPURL},
		{"url", roleURL},
		{"tcp", roleWSURL},
		{"cwd", roleCwd},
		{"timeout", roleCallMS},
		{"discoveryTimeoutMs", roleStartMS},
		{"trust", roleTrust},
		{"includeTools", roleAllow},
		{"excludeTools", roleDeny},
		{"oauth", roleOAuth},
		{"oauth.enabled", roleOAuthOn},
		{"oauth.clientId", roleOAuthID},
		{"oauth.clientSecret", roleOAuthSecret},
		{"oauth.scopes", roleOAuthScopes},
	}
	vscodeFields  = []field{{"cwd", roleCwd}, {"envFile", roleEnvFile}}
	copilotFields = []field{
		{"cwd", roleCwd},
		{"tools", roleAllow},
		{"timeout", roleCallMS},
		{"oauthClientId", roleOAuthID},
		{"oauthScopes", roleOAuthScopes},
	}
	rooFields = []field{
		{"cwd", roleCwd},
		{"disabled", roleDisabled},
		{"disabledTools", roleDeny},
		{"alwaysAllow", roleApprove},
		{"timeout", roleCallSec},
	}
	openCodeFields = []field{
		{"environment", roleEnv},
		{"cwd", roleCwd},
		{"enabled", roleEnabled},
		{"timeout", roleCallMS},
		{"oauth", roleOAuth},
		{"oauth.clientId", roleOAuthID},
		{"oauth.clientSecret", roleOAuthSecret},
		{"oauth.scope", roleOAuthScopes},
	}
	kiroFields = []field{
		{"disabled", roleDisabled},
		{"disabledTools", roleDeny},
		{"autoApprove", roleApprove},
		{"timeout", roleCallMS},
	}
	claudeFields = []field{
		{"timeout", roleCallMS},
		{"request_timeout_ms", roleCallMS},
		{"oauth", roleOAuth},
		{"oauth.clientId", roleOAuthID},
		{"oauth.scopes", roleOAuthScopes},
	}
)

// Wrappers that several clients share.
var (
	mcpServers   = [][]string{{"mcpServers"}}
	servers      = [][]string{{"servers"}}
	mcpMap       = [][]string{{"mcp"}}
	mcpServersIn = [][]string{{"mcp", "servers"}}
)

// Spellings that several clients share.
var (
	byFields    = spellings{ws: cannot}
	typedRemote = spellings{http: "http", sse: "sse", ws: cannot}
	typedAll    = spellings{stdio: "stdio", http: "http", sse: "sse", ws: cannot}
)

// dialects has one row for each client and format. Rows of one id stand
// together, the present form first.
var dialects = []dialect{
	{
		id: ClaudeCode, wrappers: mcpServers, fields: claudeFields,
		types: spellings{http: "http", sse: "sse", ws: "ws"},
	},
	{
		id: ClaudeDesktop, wrappers: mcpServers, refs: refLiteral, sendsText: true,
		types: spellings{http: cannot, sse: cannot, ws: cannot},
	},
	{
		id: ClaudeSettings, wrappers: mcpServers, fields: claudeFields,
		types: spellings{http: "http", sse: "sse", ws: "ws"},
	},
	{
		id: Cursor, wrappers: mcpServers, refs: refEnv, noDefaults: true, workspace: true, types: byFields,
		fields: []field{
			{"envFile", roleEnvFile},
			{"auth", roleOAuth},
			{"auth.CLIENT_ID", roleOAuthID},
			{"auth.CLIENT_SECRET", roleOAuthSecret},
			{"auth.scopes", roleOAuthScopes},
		},
	},
	{
		id: VSCode, format: jsoncFile, wrappers: servers, refs: refEnv, noDefaults: true, workspace: true,
		nullUnsets: true, types: typedAll, fields: vscodeFields,
	},
	{
		id: VSCodeSettings, format: jsoncFile, wrappers: mcpServersIn, refs: refEnv, noDefaults: true, workspace: true,
		nullUnsets: true, types: typedAll, fields: vscodeFields,
	},
	{
		id: VisualStudio, format: jsoncFile, wrappers: servers, refs: refEnv, noDefaults: true, workspace: true,
		nullUnsets: true, types: typedAll, fields: vscodeFields,
	},
	{
		id: CopilotJetBrains, wrappers: servers, refs: refEnv, noDefaults: true, types: byFields,
		fields: []field{{"requestInit.headers", roleHeaders}},
	},
	{
		id: CopilotCLI, wrappers: mcpServers, bare: bareEverywhere, needsTools: true, fields: copilotFields,
		types: spellings{stdio: "local", http: "http", sse: "sse", ws: cannot},
	},
	{
		id: CopilotAgent, wrappers: mcpServers, bare: bareEverywhere, needsTools: true,
		fields: []field{{"tools", roleAllow}},
		types:  spellings{stdio: "local", http: "http", sse: "sse", ws: cannot},
	},
	{
		id: Codex, format: tomlFile, wrappers: [][]string{{"mcp_servers"}}, refs: refByName, sendsText: true,
		types: spellings{sse: cannot, ws: cannot},
		fields: []field{
			{"cwd", roleCwd},
			{"env_vars", roleEnvFrom},
			{"bearer_token_env_var", roleBearerVar},
			{"http_headers", roleHeaders},
			{"env_http_headers", roleHeaderVars},
			{"enabled", roleEnabled},
			{"enabled_tools", roleAllow},
			{"disabled_tools", roleDeny},
			{"default_tools_approval_mode", roleApproveMode},
			{"tools", roleToolTables},
			{"startup_timeout_sec", roleStartSec},
			{"startup_timeout_ms", roleStartMS},
			{"tool_timeout_sec", roleCallSec},
			{"oauth", roleOAuth},
			{"oauth.client_id", roleOAuthID},
			{"scopes", roleOAuthScopes},
		},
	},
	{
		id: GeminiCLI, format: jsoncFile, wrappers: mcpServers, bare: bareEverywhere, urlWins: true,
		types: spellings{sse: "sse", ws: cannot}, fields: geminiFields,
	},
	{
		id: GeminiExtension, wrappers: mcpServers, bare: bareEverywhere, urlWins: true, workspace: false,
		types: spellings{sse: "sse", ws: cannot}, fields: geminiFields,
	},
	{
		id: Qwen, format: jsoncFile, wrappers: mcpServers, bare: bareEverywhere, urlWins: true, untypedSSE: true,
		types: byFields, fields: geminiFields,
	},
	{
		id: Windsurf, wrappers: mcpServers, refs: refEnv, noDefaults: true, types: byFields,
		fields: []field{{"serverUrl", roleURL}, {"url", roleURL}, {"disabled", roleDisabled}, {"disabledTools", roleDeny}},
	},
	{
		id: Antigravity, wrappers: mcpServers, refs: refLiteral, noDefaults: true, types: byFields,
		fields: []field{{"serverUrl", roleURL}, {"disabled", roleDisabled}},
	},
	{
		id: Zed, format: jsoncFile, wrappers: [][]string{{"context_servers"}}, refs: refLiteral, sendsText: true, types: byFields,
		fields: []field{{"enabled", roleEnabled}, {"timeout", roleCallMS}, {"source", roleQuiet}, {"settings", roleQuiet}},
	},
	{
		id: Cline, wrappers: mcpServers, refs: refEnv, noDefaults: true, untypedSSE: true,
		types: spellings{stdio: "stdio", http: "streamableHttp", sse: "sse", ws: cannot},
		fields: []field{
			{"type", roleType},
			{"transportType", roleType},
			{"transport", roleType},
			{"cwd", roleCwd},
			{"disabled", roleDisabled},
			{"autoApprove", roleApprove},
			{"timeout", roleCallSec},
			{"oauth", roleOAuth},
		},
	},
	{
		id: Roo, wrappers: mcpServers, refs: refEnv, noDefaults: true, workspace: true, fields: rooFields,
		types: spellings{stdio: "stdio", http: "streamable-http", sse: "sse", ws: cannot},
	},
	{
		id: Kilo, format: jsoncFile, wrappers: mcpMap, argv: true, refs: refCurly, noDefaults: true, bracesForeign: true,
		types: spellings{stdio: "local", http: "remote", sse: "remote", ws: cannot}, fields: openCodeFields,
	},
	{ // before the change to the opencode form
		id: Kilo, wrappers: mcpServers, refs: refEnv, noDefaults: true, workspace: true, fields: rooFields,
		types: spellings{stdio: "stdio", http: "streamable-http", sse: "sse", ws: cannot},
	},
	{
		id: Continue, format: yamlFile, wrappers: mcpServers, list: true, refs: refSecret, noDefaults: true,
		types: spellings{http: "streamable-http", sse: "sse", ws: cannot},
		fields: []field{
			{"name", roleName},
			{"cwd", roleCwd},
			{"apiKey", roleBearer},
			{"requestOptions.headers", roleHeaders},
			{"requestOptions.verifySsl", roleVerifyTLS},
			{"connectionTimeout", roleStartMS},
		},
	},
	{
		id: Goose, format: yamlFile, wrappers: [][]string{{"extensions"}}, bare: bareHeaders, noDefaults: true,
		types:          spellings{stdio: "stdio", http: "streamable_http", sse: cannot, ws: cannot},
		emptyAllowsAll: true,
		kinds:          []string{"builtin", "platform", "frontend", "inline_python"},
		fields: []field{
			{"cmd", roleCommand},
			{"envs", roleEnv},
			{"uri", roleURL},
			{"env_keys", roleEnvKeys},
			{"enabled", roleEnabled},
			{"available_tools", roleAllow},
			{"timeout", roleCallSec},
			{"name", roleQuiet},
		},
	},
	{
		id: OpenCode, format: jsoncFile, wrappers: mcpMap, argv: true, refs: refCurly, noDefaults: true, bracesForeign: true,
		types: spellings{stdio: "local", http: "remote", sse: "remote", ws: cannot}, fields: openCodeFields,
	},
	{
		id: AmazonQ, wrappers: mcpServers, refs: refEnv, noDefaults: true,
		types: spellings{http: "http", sse: cannot, ws: cannot},
		fields: []field{
			{"disabled", roleDisabled}, {"timeout", roleCallMS}, {"oauthScopes", roleOAuthScopes}, {"oauth", roleOAuth},
		},
	},
	{id: Kiro, wrappers: mcpServers, noDefaults: true, types: byFields, fields: kiroFields},
	{id: JetBrains, wrappers: mcpServers, refs: refLiteral, types: byFields},
	{id: LMStudio, wrappers: mcpServers, refs: refLiteral, types: byFields},
	{
		id: Crush, wrappers: mcpMap, refs: refDollar, bare: bareEverywhere, types: typedAll,
		fields: []field{
			{"disabled", roleDisabled},
			{"enabled_tools", roleAllow},
			{"disabled_tools", roleDeny},
			{"timeout", roleStartSec},
			{"oauth", roleOAuth},
			{"oauth_client_id", roleOAuthID},
			{"oauth_client_secret", roleOAuthSecret},
		},
	},
	{
		id: Warp, wrappers: [][]string{{}, {"mcpServers"}}, refs: refLiteral, types: byFields,
		fields: []field{{"working_directory", roleCwd}},
	},
	{id: Trae, wrappers: mcpServers, refs: refLiteral, types: byFields},
	{id: Amp, format: jsoncFile, wrappers: [][]string{{"amp.mcpServers"}}, noDefaults: true, types: byFields},
	{id: Factory, wrappers: mcpServers, refs: refLiteral, types: typedAll},
	{id: Kimi, wrappers: mcpServers, refs: refLiteral, types: byFields},
	{id: Qoder, wrappers: mcpServers, refs: refLiteral, types: byFields},
	{id: BoltAI, wrappers: mcpServers, refs: refLiteral, types: byFields},
	{
		id: MistralVibe, format: tomlFile, wrappers: [][]string{{"mcp_servers"}}, list: true, refs: refLiteral,
		types:  spellings{stdio: "stdio", http: "streamable-http", sse: cannot, ws: cannot},
		fields: []field{{"name", roleName}, {"transport", roleType}},
	},
	{
		id: LibreChat, format: yamlFile, wrappers: mcpServers, noDefaults: true,
		types:  spellings{stdio: "stdio", http: "streamable-http", sse: "sse", ws: "websocket"},
		fields: []field{{"timeout", roleCallMS}, {"initTimeout", roleStartMS}},
	},
	{
		id: OpenClaw, wrappers: mcpServersIn, noDefaults: true, types: spellings{http: "http", sse: "sse", ws: cannot},
		fields: []field{{"type", roleType}, {"transport", roleType}},
	},
	{id: Hermes, format: yamlFile, wrappers: [][]string{{"mcp_servers"}}, noDefaults: true, types: byFields},
	{
		id: AnythingLLM, wrappers: mcpServers, refs: refLiteral,
		types: spellings{http: "streamable", sse: "sse", ws: cannot},
	},
	{id: Augment, wrappers: [][]string{{"mcpServers"}, {}}, refs: refLiteral, types: byFields},
	{
		id: CodeArts, wrappers: mcpServers, refs: refLiteral,
		types: spellings{http: "http", sse: "sse", ws: cannot},
		fields: []field{
			{"transportType", roleType},
			{"type", roleType},
			{"disabled", roleDisabled},
			{"autoApprove", roleApprove},
			{"timeout", roleCallMS},
		},
	},
	{
		id: MCPHubNvim, format: jsoncFile, wrappers: [][]string{{"mcpServers"}, {"servers"}}, workspace: true, types: byFields,
		fields: []field{
			{"cwd", roleCwd}, {"disabled", roleDisabled}, {"disabled_tools", roleDeny}, {"autoApprove", roleApprove},
		},
	},

	{id: DockerCatalog, format: yamlFile, wrappers: [][]string{{"registry"}}, refs: refTemplate},
	{id: RegistryServer, refs: refTemplate},
	{id: MCPB, refs: refTemplate},
	{id: Deeplink, refs: refEnv, workspace: true},
	{id: CLI},
	{id: Generic, wrappers: [][]string{{"mcpServers"}, {"servers"}, {}}, types: typedRemote},
}
