package result

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/mod/semver"
)

// Extension is the key in capabilities.extensions by which a client says how
// it reads results. Its value is an object: {} or {"shape": "structured"} asks
// for structured results, {"shape": "text"} for text. A declaration counts
// before the table of clients.
const Extension = "io.github.mcpcontract/result-shape"

// Protocol versions that decide something here.
const (
	firstStructured = "2025-06-18" // structuredContent exists from here on
	lastHandshake   = "2025-11-25" // the newest version that initialize negotiates
	firstPerRequest = "2026-07-28" // identity and version travel in each request
)

// A Client is what one request says about its sender. Everything in it is
// self-reported: good for choosing a representation and for logs, never for
// access decisions.
type Client struct {
	// Name and Version are clientInfo as sent. Empty: not sent.
	Name, Version string
	// Protocol is the version in force, such as "2025-11-25". Empty: unknown.
	Protocol string
	// PerRequest reports protocol 2026-07-28 or later: this request carries
	// its own identity, and nothing before it counts.
	PerRequest bool
	// Declared is the shape that the client asks for by [Extension], or Auto.
	Declared Shape
}

// ClientOf returns the sender of a request that a server received. The era is
// decided by the request's own _meta: an initialize that asks for 2026-07-28
// still opens a handshake session.
func ClientOf(req mcp.Request) Client {
	if meta := metaOf(req); meta != nil {
		if v, _ := meta[mcp.MetaKeyProtocolVersion].(string); v >= firstPerRequest {
			return perRequestClient(meta, v)
		}
	}
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok || session == nil {
		return Client{}
	}
	init := session.InitializeParams()
	if init == nil {
		return Client{}
	}
	c := Client{Protocol: min(init.ProtocolVersion, lastHandshake)}
	if init.ClientInfo != nil {
		c.Name, c.Version = init.ClientInfo.Name, init.ClientInfo.Version
	}
	if init.Capabilities != nil {
		c.Declared = declared(init.Capabilities.Extensions)
	}
	return c
}

// metaOf returns the request's _meta map. The parameters of some methods may
// be missing, and their accessors do not stand a nil receiver.
func metaOf(req mcp.Request) map[string]any {
	params := req.GetParams()
	if isNil(params) {
		return nil
	}
	return params.GetMeta()
}

// perRequestClient reads the maps as they came off the wire. The accessors of
// the SDK encode and decode them again, and fall back to what an earlier
// request of the same connection said.
func perRequestClient(meta map[string]any, protocol string) Client {
	c := Client{Protocol: protocol, PerRequest: true}
	if info, ok := meta[mcp.MetaKeyClientInfo].(map[string]any); ok {
		c.Name, _ = info["name"].(string)
		c.Version, _ = info["version"].(string)
	}
	if caps, ok := meta[mcp.MetaKeyClientCapabilities].(map[string]any); ok {
		extensions, _ := caps["extensions"].(map[string]any)
		c.Declared = declared(extensions)
	}
	return c
}

func declared(extensions map[string]any) Shape {
	settings, ok := extensions[Extension].(map[string]any)
	if !ok {
		return Auto
	}
	switch settings["shape"] {
	case nil, "structured":
		return Structured
	case "text":
		return Text
	}
	return Auto
}

// ShapeFor returns Text or Structured: the representation that the middleware
// with these options gives c. The first rule that decides wins: Override;
// a protocol older than 2025-06-18 is Text; the client's declaration; the
// table; Text.
func (o *Options) ShapeFor(c Client) Shape {
	switch {
	case o.override() != Auto:
		return o.override()
	case c.Protocol < firstStructured:
		return Text
	case c.Declared != Auto:
		return c.Declared
	case o.table() && inTable(c.Name, c.Version):
		return Structured
	}
	return Text
}

// inTable reports whether a client is known to hand structuredContent, and
// only that, to its model. Names are compared whole: a proxy that adds itself
// to the name hides the real host and may rewrite results.
func inTable(name, version string) bool {
	for _, known := range []string{"codex", "codex_cli_rs", "codex-mcp-client", "codex_desktop"} {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return strings.EqualFold(name, "claude-code") && atLeast(version, "v2.0.21")
}

// atLeast reports whether version is a semantic version not before least.
// A leading v and a trailing remark in parentheses are allowed, as in
// "2.1.0 (Claude Code)", which is how that program prints its own version.
// Anything else that is not a full semantic version is not.
func atLeast(version, least string) bool {
	version, remark, found := strings.Cut(version, " ")
	if found && (!strings.HasPrefix(remark, "(") || !strings.HasSuffix(remark, ")") || strings.HasPrefix(remark, "(via ")) {
		return false
	}
	core, _, _ := strings.Cut(version, "-")
	if strings.Count(core, ".") < 2 { // semver would read 2.1 as 2.1.0
		return false
	}
	return semver.Compare("v"+strings.TrimPrefix(version, "v"), least) >= 0
}
