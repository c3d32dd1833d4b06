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
	ids := make([]Dialect, len(dialects))
	for i := range dialects {
		ids[i] = dialects[i].id
	}
	return ids
}
