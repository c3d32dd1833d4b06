package normalize

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// isRegistryServer recognises the server.json of the registry: a name, and
// packages or remotes in lists.
func isRegistryServer(n *syntax.Node) bool {
	if !n.IsObject() || n.Get("name") == nil {
		return false
	}
	for _, key := range []string{"packages", "remotes"} {
		if list := n.Get(key); list != nil && list.Kind == syntax.Array {
			return true
		}
	}
	return false
}

// isRegistryList recognises an answer of the registry with several servers.
func isRegistryList(n *syntax.Node) bool {
	if n == nil || n.Kind != syntax.Array {
		return false
	}
	for _, item := range n.Items {
		if isRegistryServer(item) || isRegistryServer(item.Get("server")) {
			return true
		}
	}
	return false
}

// registryDocument reads a server.json, or an answer of the registry.
func (r *reader) registryDocument(root *syntax.Node) {
	switch {
	case isRegistryServer(root):
		r.registryServer(root)
	case isRegistryServer(root.Get("server")):
		r.registryServer(root.Get("server"))
	default:
		for _, item := range root.Get("servers").Items {
			if inner := item.Get("server"); isRegistryServer(inner) {
				item = inner
			}
			if isRegistryServer(item) {
				r.registryServer(item)
			}
		}
	}
}

// registryServer reads all the ways to run one server: a record for each
// package and for each remote.
func (r *reader) registryServer(n *syntax.Node) {
	name := n.Get("name").Text
	d := dialectOf(RegistryServer)
	packages, remotes := n.Get("packages"), n.Get("remotes")
	var used []string
	if packages != nil {
		for _, item := range packages.Items {
			if item.IsObject() {
				p := registryEntry{draft: r.draft(place{name: name, named: true, offset: item.Offset}, d), node: item}
				p.written = item
				p.s.Choice = numbered(&used, text(item, "registryType"))
				p.pack()
				p.finish()
			}
		}
	}
	if remotes == nil {
		return
	}
	for i, item := range remotes.Items {
		if item.IsObject() {
			p := registryEntry{draft: r.draft(place{name: name, named: true, offset: item.Offset}, d), node: item}
			p.written = item
			p.s.Choice = "remote-" + strconv.Itoa(i+1)
			p.remote(item)
			p.finish()
		}
	}
}

// numbered makes the name of a choice unique.
func numbered(used *[]string, name string) string {
	n := 1
	for _, u := range *used {
		if u == name {
			n++
		}
	}
	*used = append(*used, name)
	if n > 1 {
		return name + "-" + strconv.Itoa(n)
	}
	return name
}

// field looks a field up in today's spelling and in the one with underscores
// that older entries have.
func getField(n *syntax.Node, camel string) *syntax.Node {
	if v := n.Get(camel); v != nil {
		return v
	}
	var b strings.Builder
	for i := range len(camel) {
		if c := camel[i]; 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
			b.WriteByte(c | 0x20)
		} else {
			b.WriteByte(c)
		}
	}
	return n.Get(b.String())
}

// text gives the text of a scalar field, or "".
func text(n *syntax.Node, camel string) string {
	if v := getField(n, camel); v.Scalar() {
		return v.Text
	}
	return ""
}

func isTrue(n *syntax.Node, camel string) bool { return getField(n, camel).True() }

func items(n *syntax.Node, camel string) []*syntax.Node {
	if v := getField(n, camel); v != nil {
		return v.Items
	}
	return nil
}

// registryEntry is one package or remote being read.
type registryEntry struct {
	*draft
	node *syntax.Node
}

// runtimes are the programs that run a package, by the type of its registry.
var runtimes = map[string]string{"npm": "npx", "pypi": "uvx", "oci": "docker", "docker": "docker", "nuget": "dnx"}

// pack reads a package.
func (p *registryEntry) pack() {
	kind, id, version := text(p.node, "registryType"), text(p.node, "identifier"), text(p.node, "version")
	if id == "" {
		id = text(p.node, "name") // the first schema
	}
	hint := text(p.node, "runtimeHint")
	if hint == "" {
		hint = runtimes[kind]
		if hint != "" {
			p.note(RuntimeHintMissing, "", p.off)
		}
	}
	if hint == "" || id == "" {
		what := kind
		if what == "" {
			what = "package"
		}
		p.fail(NotRunnable, what)
		return
	}
	if base := text(p.node, "registryBaseUrl"); base != "" && !usualBase(kind, id, base) {
		p.fail(NotRunnable, "a package of another registry than the usual one")
		return
	}
	p.command = val{text: hint, off: p.off}
	p.s.Transport = Stdio
	p.variables()
	runtime := p.arguments(items(p.node, "runtimeArguments"))
	program := p.arguments(items(p.node, "packageArguments"))
	p.commandLine(kind, hint, id, version, runtime)
	p.args = append(p.args, program...)
	p.transport(getField(p.node, "transport"))
}

// owners are who runs the usual registry of a type of package: the name of their
// domain and its top level. What is in that domain is theirs.
var owners = map[string][2]string{"npm": {"npmjs", "org"}, "pypi": {"pypi", "org"}, "nuget": {"nuget", "org"}, "oci": {"docker", "io"}, "docker": {"docker", "io"}}

// usualBase tells whether a base address is the one that the program for a type of
// package asks by itself. The command line names none, so a package of any other
// would be taken from the usual one, where the name may be a stranger's. An image
// that names its host is taken from there.
func usualBase(kind, id, base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" || u.RawQuery != "" {
		return false
	}
	if named, _, ok := strings.Cut(id, "/"); ok && (kind == "oci" || kind == "docker") && strings.ContainsAny(named, ".:") {
		return strings.EqualFold(named, u.Host) || ownHost(kind, named) && ownHost(kind, u.Host)
	}
	return ownHost(kind, u.Host)
}

// ownHost tells whether a host is in the domain of those who run the usual
// registry for a type.
func ownHost(kind, host string) bool {
	owner, ok := owners[kind]
	labels := strings.Split(strings.ToLower(host), ".")
	n := len(labels)
	return ok && n >= 2 && labels[n-2] == owner[0] && labels[n-1] == owner[1]
}

// commandLine puts the arguments before the package's own together.
func (p *registryEntry) commandLine(kind, hint, id, version string, runtime []val) {
	switch kind {
	case "oci", "docker":
		p.add("run", "-i", "--rm")
		for _, v := range p.env {
			p.add("-e", v.name)
		}
		p.args = append(p.args, withoutDefaults(runtime)...)
		if kind == "docker" && version != "" && !strings.Contains(baseName(id), ":") {
			id += ":" + version
		}
		p.add(id)
	case "nuget":
		p.args = append(p.args, runtime...)
		p.add(versioned(kind, id, version))
		if !hasText(runtime, "--yes") {
			p.add("--yes")
		}
	default:
		if programName(hint) == "npx" && !hasText(runtime, "-y") && !hasText(runtime, "--yes") {
			p.add("-y")
		}
		p.args = append(p.args, runtime...)
		p.add(versioned(kind, id, version))
	}
}

func (p *registryEntry) add(words ...string) {
	for _, w := range words {
		p.args = append(p.args, val{text: w, off: p.off})
	}
}

// versioned appends the version to the name of a package. Only npm knows
// "latest".
func versioned(kind, id, version string) string {
	if version == "" || version == "latest" && kind != "npm" || strings.HasSuffix(id, "@"+version) {
		return id
	}
	return id + "@" + version
}

func hasText(list []val, text string) bool {
	for _, v := range list {
		if v.text == text {
			return true
		}
	}
	return false
}

// withoutDefaults drops the words that every container line here begins with.
func withoutDefaults(runtime []val) []val {
	var out []val
	for _, v := range runtime {
		switch v.text {
		case "run", "-i", "--rm", "--interactive":
		default:
			out = append(out, v)
		}
	}
	return out
}

// variables reads the variables that a package wants.
func (p *registryEntry) variables() {
	for _, item := range items(p.node, "environmentVariables") {
		name := text(item, "name")
		if name == "" {
			continue
		}
		value, ok := p.template(item)
		if !ok {
			value = "${" + name + "}"
		}
		p.setEnv(name, val{text: value, off: item.Offset})
	}
}

// template gives the value of an argument, variable or header with its {parts}
// filled in: from their defaults, or as prompts. It reports false where there
// is no value.
func (p *registryEntry) template(n *syntax.Node) (string, bool) {
	value := getField(n, "value")
	if !value.Scalar() {
		value = n.Get("default")
	}
	if !value.Scalar() {
		return "", false
	}
	return p.fillTemplate(value.Text, n.Get("variables")), true
}

// fillTemplate fills {parts} in. Only declared ones are parts.
func (p *registryEntry) fillTemplate(s string, variables *syntax.Node) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			break
		}
		n := strings.IndexByte(s[i:], '}')
		if n < 0 {
			break
		}
		name := s[i+1 : i+n]
		v := variables.Get(name)
		b.WriteString(s[:i])
		switch {
		case i > 0 && s[i-1] == '$' || v == nil && !isVariable(name):
			b.WriteString(s[i : i+n+1])
		case v != nil && text(v, "value") != "":
			b.WriteString(text(v, "value"))
		case v != nil && v.Get("default").Scalar():
			b.WriteString(v.Get("default").Text)
		default:
			b.WriteString(p.prompt(name, v))
		}
		s = s[i+n+1:]
	}
	b.WriteString(s)
	return b.String()
}

// isVariable tells whether the text in braces can be the name of a part.
func isVariable(name string) bool {
	return name != "" && isNameStart(name[0]) && nameLen(strings.ReplaceAll(name, "-", "_")) == len(name)
}

// prompt declares a prompt for a value that the entry leaves open.
func (p *registryEntry) prompt(id string, n *syntax.Node) string {
	in := Input{ID: id, Kind: "promptString"}
	if n != nil {
		in.Description = text(n, "description")
		in.Secret = isTrue(n, "isSecret")
		for _, c := range items(n, "choices") {
			in.Options = append(in.Options, c.Text)
		}
	}
	p.ownInput(in)
	return "${" + inputPrefix + id + "}"
}

// arguments reads a list of arguments. One without a value is asked for if it
// is required, and left out if not.
func (p *registryEntry) arguments(list []*syntax.Node) []val {
	var out []val
	for _, item := range list {
		name := text(item, "name")
		value, ok := p.template(item)
		named := text(item, "type") == "named" && name != ""
		flag := named && !ok && isFlag(item)
		if !ok && !flag && !isTrue(item, "isRequired") {
			continue
		}
		if named {
			out = append(out, val{text: name, off: item.Offset})
		}
		if flag {
			continue
		}
		if !ok {
			value = p.prompt(argumentHint(item), item)
		}
		out = append(out, val{text: value, off: item.Offset})
	}
	return out
}

// isFlag tells whether a named argument is one that takes no value: nothing
// says what a value would be.
func isFlag(item *syntax.Node) bool {
	return getField(item, "valueHint") == nil && text(item, "format") == "" && !isTrue(item, "isSecret") && len(items(item, "choices")) == 0
}

// argumentHint names the prompt for an argument.
func argumentHint(item *syntax.Node) string {
	for _, hint := range []string{text(item, "valueHint"), strings.TrimLeft(text(item, "name"), "-")} {
		if hint != "" {
			return hint
		}
	}
	return "value"
}

// transport reads how a package is reached once it runs.
func (p *registryEntry) transport(n *syntax.Node) {
	t := typeWord(text(n, "type"))
	if n == nil || t == "" || t == Stdio {
		return
	}
	p.s.Transport = t
	p.address(n, p.node)
	p.note(LocalHTTPServer, "", n.Offset)
}

// remote reads a remote server.
func (p *registryEntry) remote(n *syntax.Node) {
	p.s.Transport = typeWord(text(n, "type"))
	if p.s.Transport == "" {
		p.s.Transport = typeWord(text(n, "transportType"))
	}
	p.address(n, n)
	switch {
	case p.url.text == "":
		p.fail(NoCommandOrURL, "")
	case p.s.Transport == "" || p.s.Transport == Stdio:
		p.inferTransport(false)
	}
}

// address reads an address and its headers. A package's address may use the
// variables of its runtime arguments, such as the port.
func (p *registryEntry) address(n, owner *syntax.Node) {
	variables := n.Get("variables")
	if variables == nil {
		variables = allVariables(owner)
	}
	p.url = val{text: p.fillTemplate(text(n, "url"), variables), off: n.Offset}
	for _, item := range items(n, "headers") {
		name := text(item, "name")
		if name == "" {
			continue
		}
		value, ok := p.template(item)
		if !ok {
			value = p.prompt(name, item)
		}
		p.setHeader(name, val{text: value, off: item.Offset})
	}
}

// allVariables gathers the variables of a package's arguments and environment.
func allVariables(n *syntax.Node) *syntax.Node {
	out := &syntax.Node{Kind: syntax.Object}
	for _, key := range []string{"runtimeArguments", "packageArguments", "environmentVariables"} {
		for _, item := range items(n, key) {
			if v := item.Get("variables"); v.IsObject() {
				out.Members = append(out.Members, v.Members...)
			}
			// An address may also name an argument or a variable itself.
			if name := strings.TrimLeft(text(item, "name"), "-"); name != "" {
				out.Members = append(out.Members, syntax.Member{Name: name, Value: item})
			}
		}
	}
	return out
}
