package normalize

import (
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// rowFor chooses the row of the dialect table for the servers of a wrapper, or
// for a document without one: the hinted client's, else the one that the
// wrapper and telltale fields show, else the generic one.
func (r *reader) rowFor(root *syntax.Node, w *wrapper) *dialect {
	r.guessed = false
	if len(r.hint) > 0 {
		for _, d := range r.hint {
			if w != nil && d.usesWrapper(w.name) {
				return d
			}
		}
		return r.hint[0]
	}
	if w != nil {
		if id := r.byWrapper(root, w); id != "" {
			return dialectOf(id)
		}
	}
	r.guessed = true
	if id := telltale(root, w); id != "" {
		return dialectOf(id)
	}
	return dialectOf(Generic)
}

// byWrapper knows the wrappers that belong to one client only.
func (r *reader) byWrapper(root *syntax.Node, w *wrapper) Dialect {
	yamlList := r.doc.Form == syntax.YAMLForm && w.node.Kind == syntax.Array
	switch w.name {
	case "context_servers":
		return Zed
	case "amp.mcpServers":
		return Amp
	case "extensions":
		return Goose
	case "mcp_servers":
		return snakeDialect(r.doc.Form, w.node.Kind == syntax.Array)
	case "mcp.servers":
		return VSCodeSettings
	case "mcp":
		return mcpMapDialect(w.node)
	case "servers":
		if root.Get("inputs") != nil {
			return VSCode
		}
	case "mcpServers":
		return mcpServersDialect(root, yamlList)
	}
	return ""
}

// snakeDialect tells the clients with mcp_servers apart: one has a list of tables.
func snakeDialect(form syntax.Form, list bool) Dialect {
	switch {
	case form == syntax.TOMLForm && list:
		return MistralVibe
	case form == syntax.TOMLForm:
		return Codex
	case form == syntax.YAMLForm && !list:
		return Hermes
	}
	return ""
}

// mcpMapDialect tells the two clients with a map under "mcp" apart: one has
// lists as commands and its own words for the type.
func mcpMapDialect(n *syntax.Node) Dialect {
	for _, m := range n.Members {
		typ := m.Value.Get("type")
		if typ == nil {
			continue
		}
		switch typ.Text {
		case "local", "remote":
			return OpenCode
		case "stdio", "http", "sse":
			return Crush
		}
	}
	return ""
}

func mcpServersDialect(root *syntax.Node, yamlList bool) Dialect {
	switch filter := root.Get("mcp"); {
	case root.Get("projects").IsObject():
		return ClaudeCode
	case filter.Get("allowed") != nil || filter.Get("excluded") != nil:
		return GeminiCLI
	case root.Get("useLegacyMcpJson") != nil:
		return AmazonQ
	case yamlList:
		return Continue
	}
	return ""
}

// telltale looks for fields that only one of the clients with the wrapper has.
// Where entries point to different clients, somebody mixed files, and there is
// no answer.
func telltale(root *syntax.Node, w *wrapper) Dialect {
	n := root
	if w != nil {
		n = w.node
	}
	var found Dialect
	agree := true
	visit := func(entry *syntax.Node) {
		if id := entryTelltale(entry); id != "" && (w == nil || dialectOf(id).usesWrapper(w.name)) {
			agree = agree && (found == "" || found == id)
			found = id
		}
	}
	if w == nil {
		visit(n)
	}
	for _, m := range n.Members {
		visit(m.Value)
	}
	for _, item := range n.Items {
		visit(item)
	}
	if !agree {
		return ""
	}
	return found
}

// telltales are fields that only one client has.
var telltales = map[string]Dialect{
	"alwaysAllow": Roo, "watchPaths": Roo, "requestInit": CopilotJetBrains,
	"env_vars": Codex, "bearer_token_env_var": Codex, "http_headers": Codex, "env_http_headers": Codex,
	"cmd": Goose, "envs": Goose, "env_keys": Goose, "working_directory": Warp, "start_on_launch": Warp,
	"alwaysLoad": ClaudeCode, "headersHelper": ClaudeCode, "requestOptions": Continue, "connectionTimeout": Continue,
	"discoveryTimeoutMs": Qwen, "initTimeout": LibreChat,
}

// entryTelltale gives the client that the fields of one entry point to.
func entryTelltale(n *syntax.Node) Dialect {
	if len(n.Members) > maxFields {
		return "" // no entry
	}
	for _, m := range n.Members {
		if id := telltales[m.Name]; id != "" {
			return id
		}
		if id := pairTelltale(n, m); id != "" {
			return id
		}
	}
	return ""
}

// pairTelltale knows the fields that point to a client together with another
// one.
func pairTelltale(n *syntax.Node, m syntax.Member) Dialect {
	switch m.Name {
	case "autoApprove":
		if text(n, "type") == "streamableHttp" {
			return Cline
		}
	case "environment":
		if command := n.Get("command"); command != nil && command.Kind == syntax.Array {
			return OpenCode
		}
	case "tools":
		if text(n, "type") == "local" && m.Value.Kind == syntax.Array {
			return CopilotCLI
		}
	}
	return ""
}

// looksLikeEntry tells whether an object without a wrapper is a server: it says
// what to run or where to connect, and most of its fields are those of a
// server.
func looksLikeEntry(n *syntax.Node, d *dialect) bool {
	if !n.IsObject() || len(n.Members) > maxFields || !entryLike(n) || runsSomethingElse(n) {
		return false
	}
	unknown := 0
	address := false
	for _, m := range n.Members {
		role, _ := d.role(m.Name, false)
		if role == roleNone {
			unknown++
		}
		switch role {
		case roleCommand:
			address = address || m.Value.Kind != syntax.Null
		case roleURL, roleHTTPURL, roleWSURL:
			address = address || m.Value.Kind == syntax.String
		}
	}
	return address && unknown <= 1+len(n.Members)/2
}

// runsSomethingElse tells whether an object with a command is a hook, a task, a
// formatter or a language server. Inside a wrapper everything is a server.
func runsSomethingElse(n *syntax.Node) bool {
	switch text(n, "type") {
	case "command", "shell", "process", "prompt":
		return true
	}
	for _, key := range []string{"filetypes", "extensions", "languages", "initialization_options", "matcher", "rootMarkers", "root_markers"} {
		if n.Get(key) != nil {
			return true
		}
	}
	return false
}

// bareEntry reads a document that is itself one server.
func (r *reader) bareEntry(root *syntax.Node) bool {
	d := r.rowFor(root, nil)
	if !looksLikeEntry(root, d) {
		return false
	}
	r.note(NoWrapper, "")
	r.entry(place{offset: root.Offset}, root, d)
	return true
}

// bareMap reads a document that is a map of servers without a wrapper: every
// object in it must look like a server.
func (r *reader) bareMap(root *syntax.Node) bool {
	d := r.rowFor(root, nil)
	entries := 0
	for _, m := range root.Members {
		if !m.Value.IsObject() {
			continue
		}
		if !looksLikeEntry(m.Value, d) {
			return false
		}
		entries++
	}
	if entries == 0 {
		return false
	}
	r.note(NoWrapper, "")
	for _, m := range root.Members {
		if m.Value.IsObject() {
			r.entry(place{name: m.Name, named: true, offset: m.Offset}, m.Value, d)
		}
	}
	return true
}
