package normalize

import (
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// tree reads a JSON, TOML or YAML document.
func (r *reader) tree(root *syntax.Node) Dialect {
	if root.Kind == syntax.Array {
		return r.topArray(root)
	}
	switch id := specialFormat(root); id {
	case RegistryServer:
		r.registryDocument(root)
		return id
	case MCPB:
		r.mcpbManifest(root)
		return id
	case DockerCatalog:
		r.dockerCatalog(root)
		r.unrelated(root, []wrapper{{top: "registry"}})
		return id
	}
	r.readInputs(root.Get("inputs"))
	r.readInputs(root.Get("mcp").Get("inputs"))
	r.readInputs(root.Get("mcp.inputs"))
	found := r.wrappersIn(root)
	if len(found) > 0 {
		return r.wrapped(root, found)
	}
	if r.bareEntry(root) || r.bareMap(root) {
		return r.rowFor(root, nil).id
	}
	r.smithery(root)
	return r.rowFor(root, nil).id
}

// specialFormat recognises the formats that are no client's.
func specialFormat(root *syntax.Node) Dialect {
	switch {
	case isRegistryServer(root), isRegistryServer(root.Get("server")), isRegistryList(root.Get("servers")):
		return RegistryServer
	case (root.Get("manifest_version") != nil || root.Get("dxt_version") != nil) && root.Get("server").IsObject():
		return MCPB
	case isCatalog(root.Get("registry")):
		return DockerCatalog
	}
	return ""
}

// topArray reads a list at the top: entries with names, or documents.
func (r *reader) topArray(root *syntax.Node) Dialect {
	d := r.rowFor(root, nil)
	entries := 0
	for _, item := range root.Items {
		if !item.IsObject() {
			continue
		}
		if len(r.wrappersIn(item)) > 0 || specialFormat(item) != "" {
			d = dialectOf(r.tree(item))
			continue
		}
		if !looksLikeEntry(item, d) {
			continue
		}
		entries++
		r.entry(place{}, item, d)
	}
	if entries > 0 {
		r.note(NoWrapper, "")
		r.note(ServersAsArray, "")
	}
	return d.id
}

// A wrapper is an object or list that holds servers.
type wrapper struct {
	name   string // as notes call it
	path   string // where in the document
	node   *syntax.Node
	offset int
	dotted bool
	scope  string
	top    string // the key at the top of the document
}

// wrappersIn finds the known wrappers at the top of a document. Objects with a
// command elsewhere, such as hooks, are never looked for.
func (r *reader) wrappersIn(root *syntax.Node) []wrapper {
	if root.Get("openapi") != nil || root.Get("swagger") != nil || root.Get("asyncapi") != nil {
		return nil
	}
	var out []wrapper
	for _, m := range root.Members {
		w := wrapper{name: m.Name, path: m.Name, node: m.Value, offset: m.Offset, top: m.Name}
		switch m.Name {
		case "mcp":
			out = append(out, insideMCP(w)...)
		case "projects":
			out = append(out, insideProjects(w)...)
		case "servers", "extensions": // other files have these too
			if hasEntry(m.Value) || r.hintUses(m.Name) {
				out = appendHolder(out, w)
			}
		default:
			w.dotted = strings.Contains(m.Name, ".")
			if isWrapper(m.Name, w.dotted) {
				out = appendHolder(out, w)
			}
		}
	}
	if len(out) > maxWrappers {
		r.over = true
		return nil
	}
	return scoped(out)
}

// maxWrappers bounds the objects with servers in one document.
const maxWrappers = 200

// isWrapper reports whether a key at the top of a document holds servers, whatever
// is in it.
func isWrapper(name string, dotted bool) bool {
	key := wrapperKey(name)
	return key == "mcpServers" || key != "" && dotted || name == "context_servers" || name == "mcp_servers"
}

// wrapperKey gives the wrapper that a key spells, in any case and with or
// without dashes, also as the end of a dotted key; "" for other keys.
func wrapperKey(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if squash(last) == "mcpservers" && last != "mcp_servers" {
		return "mcpServers"
	}
	if prefix, ok := strings.CutSuffix(name, ".servers"); ok && squash(prefix[strings.LastIndexByte(prefix, '.')+1:]) == "mcp" {
		return "servers"
	}
	return ""
}

// squash lower-cases a name and drops what parts its words.
func squash(name string) string {
	clean := true
	for i := 0; i < len(name) && clean; i++ {
		c := name[i]
		clean = 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
	}
	if clean {
		return name
	}
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c == '-' || c == '_' || c == ' ':
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

func appendHolder(out []wrapper, w wrapper) []wrapper {
	if w.node.Kind == syntax.Object || w.node.Kind == syntax.Array {
		out = append(out, w)
	}
	return out
}

// insideMCP reads a top-level "mcp": the map itself, an object with the map
// under servers, or a filter, which is neither.
func insideMCP(w wrapper) []wrapper {
	var out []wrapper
	for _, m := range w.node.Members {
		if (m.Name == "servers" || wrapperKey(m.Name) == "mcpServers") && m.Value.Kind >= syntax.Array {
			in := w
			in.name, in.path, in.node, in.offset = "mcp."+m.Name, "mcp."+m.Name, m.Value, m.Offset
			out = append(out, in)
		}
	}
	if out == nil && hasEntry(w.node) {
		out = append(out, w)
	}
	return out
}

// insideProjects reads the local scopes of Claude Code's user file.
func insideProjects(w wrapper) []wrapper {
	var out []wrapper
	for _, project := range w.node.Members {
		for _, m := range project.Value.Members {
			if m.Name == "mcpServers" && m.Value.Kind == syntax.Object {
				out = append(out, wrapper{
					name: m.Name, path: "projects." + project.Name + ".mcpServers", node: m.Value, offset: m.Offset,
					scope: "local:" + project.Name, top: w.name,
				})
			}
		}
	}
	return out
}

// scoped marks the top-level servers of a file that has local scopes too.
func scoped(ws []wrapper) []wrapper {
	local := false
	for _, w := range ws {
		local = local || w.scope != ""
	}
	for i := range ws {
		if local && ws[i].scope == "" {
			ws[i].scope = "user"
		}
	}
	return ws
}

// hasEntry tells whether a map or list holds something that looks like a
// server, so that "servers", "mcp" or "extensions" of other files are left.
func hasEntry(n *syntax.Node) bool {
	if n.Kind == syntax.Array {
		for _, item := range n.Items {
			if item.IsObject() && entryLike(item) {
				return true
			}
		}
		return false
	}
	for _, m := range n.Members {
		if m.Value.IsObject() && entryLike(m.Value) {
			return true
		}
	}
	return false
}

// entryLike tells whether an object has a field that only a server has.
func entryLike(n *syntax.Node) bool {
	for _, m := range n.Members {
		switch synonymRole(m.Name) {
		case roleCommand, roleURL, roleHTTPURL:
			if m.Value.Kind != syntax.Null {
				return true
			}
		case roleType:
			if m.Value.Kind == syntax.String && (typeWord(m.Value.Text) != "" || slices.Contains(dialectOf(Goose).kinds, m.Value.Text)) {
				return true
			}
		}
	}
	return false
}

// wrapped reads the servers of all wrappers of a document.
func (r *reader) wrapped(root *syntax.Node, found []wrapper) Dialect {
	var id Dialect
	tops := map[string]bool{}
	var names []string
	for _, w := range found {
		row := r.rowFor(root, &w)
		if id == "" {
			id = row.id
		}
		before := len(r.paste.Servers)
		r.holder(w, row, root)
		if tops[w.top] || len(r.paste.Servers) == before && w.top != found[0].top {
			continue
		}
		tops[w.top] = true
		if w.dotted {
			r.noteAt(WrapperDotted, "", w.offset)
		}
		if r.isSynonym(w) {
			r.noteAt(WrapperSynonym, w.name, w.offset)
		}
		if w.scope == "" || w.scope == "user" {
			names = append(names, w.top)
		}
	}
	if len(names) > 1 {
		r.note(TwoWrappers, strings.Join(names, ","))
	}
	r.duplicateTop(root)
	if len(r.paste.Servers) > 0 {
		r.unrelated(root, found)
	}
	return id
}

// isSynonym tells whether the hinted client does not use a wrapper, or where
// there is no hint, whether no client does.
func (r *reader) isSynonym(w wrapper) bool {
	if len(r.hint) == 0 {
		return wrapperKey(w.name) == "mcpServers" && !strings.Contains(w.name, ".") && w.name != "mcpServers"
	}
	return !r.hintUses(w.name)
}

// hintUses tells whether the hinted client has a wrapper of this name.
func (r *reader) hintUses(name string) bool {
	for _, d := range r.hint {
		if d.usesWrapper(name) {
			return true
		}
	}
	return false
}

// usesWrapper tells whether the client has a wrapper of this name, nested or
// as one dotted key.
func (d *dialect) usesWrapper(name string) bool {
	for _, path := range d.wrappers {
		if strings.Join(path, ".") == name {
			return true
		}
	}
	return false
}

// holder reads the servers of one wrapper.
func (r *reader) holder(w wrapper, d *dialect, root *syntax.Node) {
	from := len(r.paste.Servers)
	r.paste.Servers = slices.Grow(r.paste.Servers, min(len(w.node.Members)+len(w.node.Items), maxServers))
	at := place{path: w.path, scope: w.scope, wrapped: true, offset: w.offset}
	if w.node.Kind == syntax.Array {
		r.noteAt(ServersAsArray, "", w.offset)
		for _, item := range w.node.Items {
			if r.over {
				return
			}
			at.offset = item.Offset
			r.entry(at, item, d)
		}
	}
	last := make(map[string]int, len(w.node.Members))
	for i, m := range w.node.Members {
		last[m.Name] = i
	}
	for i, m := range w.node.Members {
		if r.over {
			return
		}
		at.name, at.named, at.offset, at.shadowed = m.Name, true, m.Offset, last[m.Name] != i
		if at.shadowed {
			r.noteAt(DuplicateKey, w.path+"."+m.Name, m.Offset)
		}
		r.entry(at, m.Value, d)
	}
	r.applyState(root, d, w, r.paste.Servers[from:])
}

// duplicateTop notes keys at the top of a document that stand there twice.
func (r *reader) duplicateTop(root *syntax.Node) {
	seen := map[string]bool{}
	for _, m := range root.Members {
		if seen[m.Name] {
			r.noteAt(DuplicateKey, m.Name, m.Offset)
		}
		seen[m.Name] = true
	}
}

// unrelated notes that a document holds more than servers. The other keys may
// be private, so they are not named.
func (r *reader) unrelated(root *syntax.Node, found []wrapper) {
	for _, m := range root.Members {
		switch m.Name {
		case "$schema", "name", "version", "schema", "title", "description", "inputs", "mcp", "mcp.inputs", "projects":
			continue
		}
		if r.readKeys[m.Name] || isTop(found, m.Name) {
			continue
		}
		r.note(UnrelatedKeysIgnored, "")
		return
	}
}

func isTop(found []wrapper, key string) bool {
	for _, w := range found {
		if w.top == key {
			return true
		}
	}
	return false
}
