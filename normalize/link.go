package normalize

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// maxDecodings bounds how often the parts of a link are decoded.
const maxDecodings = 3

// linkClients are the clients of install links, by how a link starts.
var linkClients = []struct {
	prefix string
	id     Dialect
}{
	{"cursor:", Cursor},
	{"https://cursor.com/", Cursor},
	{"https://www.cursor.com/", Cursor},
	{"vscode:", VSCode},
	{"vscode-insiders:", VSCode},
	{"vsweb+mcp:", VisualStudio},
	{"https://insiders.vscode.dev/", VSCode},
	{"https://vscode.dev/", VSCode},
	{"lmstudio:", LMStudio},
	{"https://lmstudio.ai/", LMStudio},
	{"https://kiro.dev/", Kiro},
	{"kiro:", Kiro},
	{"goose:", Goose},
	{"windsurf:", Windsurf},
	{"warp:", Warp},
}

func linkClient(link string) *dialect {
	for _, c := range linkClients {
		if strings.HasPrefix(link, c.prefix) {
			return dialectOf(c.id)
		}
	}
	return dialectOf(Generic)
}

// link reads an install link.
func (r *reader) link(text string) { r.linkDepth(text, 0) }

func (r *reader) linkDepth(text string, depth int) {
	d := linkClient(text)
	_, query, _ := strings.Cut(text, "?")
	query = strings.TrimRight(query, "`*,;")
	if json := decodedJSON(query); json != "" {
		r.linkPayload("", json, d)
		return
	}
	params := linkParams(query)
	switch {
	case d.id == Goose:
		r.gooseLink(params)
	case params.get("config") != "":
		r.readLinkInputs(params.get("inputs"))
		r.linkPayload(params.get("name"), linkConfig(params.get("config")), d)
	case params.get("url") != "" && depth < maxDecodings && strings.Contains(params.get("url"), "?"):
		r.linkDepth(params.get("url"), depth+1)
	case params.get("serverName") != "":
		r.lookup(params.get("serverName"), d)
	default:
		r.linkPayload(params.get("name"), "", d)
	}
}

// lookup adds a record for a server that is only named.
func (r *reader) lookup(ref string, d *dialect) {
	name := barePackage(strings.TrimRight(ref, "/"))
	e := r.draft(place{name: name, named: name != ""}, d)
	e.fail(NeedsLookup, clip(ref))
	e.finish()
}

// pairList are the parameters of a link; names may repeat.
type pairList []Pair

func (p pairList) get(name string) string {
	value, _ := findPair(p, name)
	return value
}

// linkParams splits a query. A plus sign stays one: it is part of base64 more
// often than it means a blank.
func linkParams(query string) pairList {
	var out pairList
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		out = append(out, Pair{unescape(name), unescape(value)})
	}
	return out
}

// unescape decodes s, unless what comes out is no text.
func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil && utf8.ValidString(out) {
		return out
	}
	return s
}

// decodedJSON decodes a query until it is a JSON object, or gives "".
func decodedJSON(query string) string {
	for range maxDecodings + 1 {
		if strings.HasPrefix(query, "{") {
			return query
		}
		next := unescape(query)
		if next == query {
			break
		}
		query = next
	}
	return ""
}

// linkConfig decodes the entry in a link: JSON, or base64 of any kind.
func linkConfig(config string) string {
	if json := decodedJSON(config); json != "" {
		return json
	}
	config = strings.TrimRight(unescape(config), "=")
	config = strings.NewReplacer("-", "+", "_", "/", " ", "+", "\n", "").Replace(config)
	data, err := base64.RawStdEncoding.DecodeString(config)
	if err != nil || !utf8.Valid(data) {
		return ""
	}
	return string(data)
}

// linkPayload reads the entry of a link.
func (r *reader) linkPayload(name, json string, d *dialect) {
	n, _, _, err := syntax.JSON(json)
	if err != nil || !n.IsObject() {
		e := r.draft(place{name: name, named: name != ""}, d)
		e.fail(NotRunnable, "unreadable_link")
		e.finish()
		return
	}
	toOffset(n, 0)
	if len(r.wrappersIn(n)) > 0 {
		r.tree(n)
		return
	}
	r.namedEntry(name, n, 0, d)
}

func (r *reader) readLinkInputs(json string) {
	if n, _, _, err := syntax.JSON(json); err == nil {
		r.readInputs(n)
	}
}

// toOffset gives all of a tree one place: text inside a link has none of its
// own.
func toOffset(n *syntax.Node, offset int) {
	n.Offset = offset
	for _, item := range n.Items {
		toOffset(item, offset)
	}
	for i := range n.Members {
		n.Members[i].Offset = offset
		toOffset(n.Members[i].Value, offset)
	}
}

// gooseLink reads a link whose parameters are the entry.
func (r *reader) gooseLink(params pairList) {
	d := dialectOf(Goose)
	name := params.get("name")
	if name == "" {
		name = params.get("id")
	}
	entry := &syntax.Node{Kind: syntax.Object}
	add := func(field string, n *syntax.Node) {
		entry.Members = append(entry.Members, syntax.Member{Name: field, Value: n})
	}
	args, env := &syntax.Node{Kind: syntax.Array}, &syntax.Node{Kind: syntax.Array}
	for _, p := range params {
		text := &syntax.Node{Kind: syntax.String, Text: p.Value}
		switch p.Name {
		case "cmd", "type", "timeout", "description":
			add(p.Name, text)
		case "url":
			add("uri", text)
		case "arg":
			args.Items = append(args.Items, text)
		case "env": // NAME=what it is for
			text.Text, _, _ = strings.Cut(p.Value, "=")
			env.Items = append(env.Items, text)
		}
	}
	if len(args.Items) > 0 {
		add("args", args)
	}
	add("env_keys", env)
	r.entry(place{name: name, named: name != ""}, entry, d)
}

// word reads a text that is one word: an address, or the name of something to
// look up.
func (r *reader) word(text string) {
	switch {
	case isAddress(text) && !isPage(text):
		r.entry(place{}, &syntax.Node{Kind: syntax.Object, Members: []syntax.Member{
			{Name: "url", Value: &syntax.Node{Kind: syntax.String, Text: text}},
		}}, dialectOf(Generic))
	case isAddress(text), isReference(text):
		r.lookup(text, dialectOf(Generic))
	}
}

// pages are hosts whose addresses describe a server and do not serve it.
var pages = map[string]bool{
	"github.com": true, "gitlab.com": true, "bitbucket.org": true, "codeberg.org": true,
	"smithery.ai": true, "glama.ai": true, "mcp.so": true, "hub.docker.com": true, "pulsemcp.com": true,
	"registry.modelcontextprotocol.io": true,
}

// packagePages are the domains whose addresses describe packages: the name and
// the top level.
var packagePages = map[[2]string]bool{{"npmjs", "com"}: true, {"pypi", "org"}: true}

func isPage(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	host = strings.TrimPrefix(strings.ToLower(host), "www.")
	name, top, _ := strings.Cut(host, ".")
	return (pages[host] || packagePages[[2]string{name, top}]) && path != ""
}

// isReference tells whether a word can be the name of a package, a repository
// or a registry entry.
func isReference(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && strings.IndexByte("@/.-", s[i]) < 0 {
			return false
		}
	}
	s = strings.TrimPrefix(s, "@")
	return s != "" && isWordByte(s[0]) && (strings.Count(s, "/") == 1 && !strings.HasSuffix(s, "/") || strings.Contains(strings.ToLower(s), "mcp"))
}
