package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// isCatalog recognises the map of a Docker catalog.
func isCatalog(n *syntax.Node) bool {
	if !n.IsObject() {
		return false
	}
	for _, m := range n.Members {
		if m.Value.Get("image") != nil || m.Value.Get("remote").IsObject() || text(m.Value, "type") == "poci" {
			return true
		}
	}
	return false
}

// dockerCatalog reads the servers of a catalog: an image with what its
// container needs, or a remote server.
func (r *reader) dockerCatalog(root *syntax.Node) {
	for _, m := range root.Get("registry").Members {
		at := place{name: m.Name, named: true, offset: m.Offset}
		c := catalogEntry{draft: r.draft(at, dialectOf(DockerCatalog)), node: m.Value}
		c.written = m.Value
		switch remote := m.Value.Get("remote"); {
		case m.Value.Kind == syntax.Null:
			c.fail(EntryNull, "")
		case text(m.Value, "type") == "poci":
			c.fail(NotRunnable, "poci")
		case remote.IsObject():
			c.remote(remote)
		case text(m.Value, "image") != "":
			c.container()
		default:
			c.fail(NoCommandOrURL, "")
		}
		c.finish()
	}
}

// catalogEntry is one server of a catalog being read.
type catalogEntry struct {
	*draft
	node *syntax.Node
}

// container builds the command line that runs the image.
func (c *catalogEntry) container() {
	c.s.Transport = Stdio
	c.bundleLine("docker", "run", "-i", "--rm")
	for _, item := range items(c.node, "env") {
		c.variable(text(item, "name"), item)
	}
	for _, item := range items(c.node, "secrets") {
		c.secret(item)
	}
	for _, v := range c.env {
		c.arg("-e", c.off)
		c.arg(v.name, v.off)
	}
	for _, item := range items(c.node, "volumes") {
		if item.Scalar() {
			c.arg("-v", item.Offset)
			c.arg(c.templated(item.Text), item.Offset)
		}
	}
	c.arg(c.templated(text(c.node, "image")), c.off)
	for _, item := range items(c.node, "command") {
		if item.Scalar() {
			c.arg(c.templated(item.Text), item.Offset)
		}
	}
}

func (c *catalogEntry) arg(s string, off int) {
	c.args = append(c.args, val{text: s, off: off})
}

// variable reads {name, value}. One without a value comes from the host.
func (c *catalogEntry) variable(name string, item *syntax.Node) {
	if name == "" {
		return
	}
	value := "${" + name + "}"
	if v := item.Get("value"); v.Scalar() {
		value = c.templated(v.Text)
	}
	c.setEnv(name, val{text: value, off: item.Offset})
}

func (c *catalogEntry) secret(item *syntax.Node) {
	if name := text(item, "env"); name != "" {
		c.setEnv(name, val{text: "${" + name + "}", off: item.Offset})
	}
}

// remote reads a remote server. Its secrets are variables of its headers.
func (c *catalogEntry) remote(n *syntax.Node) {
	c.url = val{text: c.templated(text(n, "url")), off: n.Offset}
	if headers := n.Get("headers"); headers != nil {
		for _, m := range headers.Members {
			c.setHeader(m.Name, val{text: c.templated(textOf(m.Value)), off: m.Offset})
		}
	}
	c.s.Transport = typeWord(text(n, "transportType"))
	switch {
	case c.url.text == "":
		c.fail(NoCommandOrURL, "")
	case c.s.Transport == "" || c.s.Transport == Stdio:
		c.inferTransport(false)
	}
}

// templated replaces {{server.parameter}} by the parameter's default, or by a
// prompt. A filter stays with the prompt.
func (c *catalogEntry) templated(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			break
		}
		n := strings.Index(s[i:], "}}")
		if n < 0 {
			break
		}
		path, filter, filtered := strings.Cut(strings.TrimSpace(s[i+2:i+n]), "|")
		path = strings.TrimSpace(path)
		b.WriteString(s[:i])
		b.WriteString(c.parameter(path, filter, filtered))
		s = s[i+n+2:]
	}
	b.WriteString(s)
	return b.String()
}

func (c *catalogEntry) parameter(path, filter string, filtered bool) string {
	declared := c.declaration(path)
	if v := declared.Get("default"); v.Scalar() && !filtered {
		return v.Text
	}
	id := path[strings.IndexByte(path, '.')+1:]
	if strings.HasPrefix(path, c.s.Name+".") {
		id = path[len(c.s.Name)+1:]
	}
	in := Input{ID: id, Kind: text(declared, "type"), Description: text(declared, "description")}
	if v := declared.Get("default"); v.Scalar() {
		in.Default = []string{v.Text}
	}
	c.ownInput(in)
	if filtered {
		id += "|" + filter
	}
	return "${" + inputPrefix + id + "}"
}

// declaration finds a parameter in the entry's config: a list of objects with
// a name and JSON Schema properties, in which a path goes down by dots.
func (c *catalogEntry) declaration(path string) *syntax.Node {
	server, rest, _ := strings.Cut(path, ".")
	for _, item := range items(c.node, "config") {
		if name := text(item, "name"); name != server && name != "" && !strings.HasPrefix(path, name+".") {
			continue
		}
		n := item
		for step := range strings.SplitSeq(rest, ".") {
			n = n.Get("properties").Get(step)
		}
		if n != nil {
			return n
		}
	}
	return nil
}
