package normalize

import (
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// Codes of [Export] alone.
const (
	NotWritable    Code = "not_writable"          // an error: the dialect is no client's file, so there is nothing to write
	NameChanged    Code = "name_changed"          // the client takes no such name, or takes it once; subject the new name
	SecretInArgs   Code = "secret_in_args"        // a bridge has the address, and the secret in it, on its command line, which every user of the machine can read; subject the server
	ApprovalsUnset Code = "auto_approve_left_out" // tools to run without a question were not written; subject the server
)

// ExportOptions says how [Export] writes. Nil and the zero value are valid.
type ExportOptions struct {
	// GOOS is the operating system of the client. On "windows" the launchers
	// that are batch files there are written behind cmd /c; by default, and for
	// every other system, nothing is put before a command.
	GOOS string
	// AutoApprove writes the tools that a record wants to run without a
	// question. By default they are left out, with a note: in the client's file
	// the wish would be in force.
	AutoApprove bool
}

// Export writes records in a client's own format: its file format and wrapper,
// its names of fields and transports, its spelling of references, its units and
// its switch for a server that is off. Where the client cannot speak a server's
// transport, the server is reached through the program mcp-remote instead, noted
// [BridgeWritten].
//
// A client that asks for values is to ask for secrets: a reference to a variable
// whose name is that of one, or that is the whole value of a variable or header of
// such a name, becomes a prompt wherever it stands. The note [InputsDeclared] lists
// them.
//
// What the client has no place for is left out or stands as literal text. Every
// such thing is a note, [NotExpressible] unless it has a code of its own, whose
// subject is the server's name, a colon, and the field; parsing the result with
// the client's dialect gives the records back in all fields without one. (A
// variable that only forwards one of the same name is as good in Env as in
// EnvFrom, so it goes where the client has a place for it.) A server that cannot
// be written at all, and one that is off where the client has no switch, is left
// out; the field is then "transport" or "enabled".
//
// Where no server is left, and where there was none to begin with, the result is a
// valid document that declares none, as an empty file of the client. Only the
// servers that were left out have a note. Writing such a result over a client's
// file takes its servers away, so a caller may want to refuse it.
//
// An unknown dialect is an [*Error] with code [UnknownDialect]; one of a format
// that is no client's file ([CLI], [Deeplink], [DockerCatalog],
// [RegistryServer], [MCPB]) has code [NotWritable].
//
// The result holds what the records hold: references where they have
// references, and secrets where those stand in clear.
func Export(to Dialect, servers []Server, opts *ExportOptions) ([]byte, []Note, error) {
	d := dialectOf(to)
	switch {
	case d == nil:
		return nil, nil, unknownDialect(to)
	case d.refs == refTemplate, to == CLI, to == Deeplink:
		return nil, nil, &Error{Code: NotWritable, Subject: string(to), Message: "this format is read and not written"}
	}
	x := exporter{d: d, q: clientQuirks[to], names: make(map[string]bool)}
	if opts != nil {
		x.opts = *opts
	}
	if x.asks() {
		x.secretVars = secretVars(servers)
	}
	var entries []syntax.Member
	for i := range servers {
		if entry := x.entry(&servers[i]); entry != nil {
			entries = append(entries, syntax.Member{Name: x.name, Value: entry})
		}
	}
	return x.document(entries), x.notes, nil
}

func unknownDialect(id Dialect) *Error {
	var ids []string
	for _, known := range Dialects() {
		ids = append(ids, string(known))
	}
	return &Error{
		Code: UnknownDialect, Subject: clip(string(id)),
		Message: "unknown dialect; known are " + strings.Join(ids, ", "),
	}
}

// exporter writes one document.
type exporter struct {
	d       *dialect
	q       quirks
	opts    ExportOptions
	notes   []Note
	names   map[string]bool // names given so far
	prompts []Input         // prompts to declare
	// secretVars are the variables that the client is to ask for.
	secretVars map[string]bool
	excluded   []string // servers that a list switches off

	s     *Server // the present one
	name  string  // its name in the document
	field string  // the field whose text is being written
	own   bool    // references to the server's own variables stay as they are
	// alias gives the record's fields for those of a bridge.
	alias map[string]string
	// headerVars are the variables in headers, for a client that resolves them
	// from its list of keys.
	headerVars []string
}

// lose notes that a field of the present server cannot be written as it is.
func (x *exporter) lose(field, message string) {
	if own, ok := x.alias[field]; ok {
		field = own
	}
	x.note(NotExpressible, x.s.Name+":"+field, message)
}

func (x *exporter) note(code Code, subject, message string) {
	for i := range x.notes {
		if x.notes[i].Code == code && x.notes[i].Subject == subject {
			return
		}
	}
	x.notes = append(x.notes, Note{Code: code, Subject: subject, Message: message})
}

// takeName gives the present server a name that the client takes and no other
// server has.
func (x *exporter) takeName() {
	want := x.s.Name
	if x.q.names != anyName {
		want = keepRunes(want, x.q.names.allows)
	}
	if want == "" {
		want = "server"
	}
	name := want
	for i := 2; x.names[name]; i++ {
		name = want + "-" + strconv.Itoa(i)
	}
	x.names[name] = true
	x.name = name
	if name != x.s.Name {
		x.note(NameChanged, name, "the name "+strconv.Quote(clip(x.s.Name))+" is taken or not one that the client takes")
	}
}

// keepRunes puts one hyphen in the place of each run of runes that ok refuses.
func keepRunes(s string, ok func(rune) bool) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if !ok(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// document puts the entries into the client's wrapper and writes the whole.
func (x *exporter) document(entries []syntax.Member) []byte {
	root := objectNode()
	for i := 0; i < len(x.q.head); i += 2 {
		setMember(root, x.q.head[i], textNode(x.q.head[i+1]))
	}
	holder := x.wrapper(root)
	for _, e := range entries {
		if x.d.list {
			holder.Items = append(holder.Items, e.Value)
		} else {
			setMember(holder, e.Name, e.Value)
		}
	}
	if len(x.prompts) > 0 {
		at := root
		if x.q.prompts != "." {
			at = root.Get(x.q.prompts)
		}
		setMember(at, "inputs", inputNodes(x.prompts))
		x.note(InputsDeclared, inputList(x.prompts), "the client asks for these values")
	}
	if len(x.excluded) > 0 {
		filter := objectNode()
		setMember(filter, "excluded", listNode(x.excluded))
		setMember(root, "mcp", filter)
	}
	switch x.d.format {
	case tomlFile:
		return writeTOML(root)
	case yamlFile:
		return writeYAML(root)
	}
	return writeJSON(root)
}

// wrapper makes the object or list that holds the entries.
func (x *exporter) wrapper(root *syntax.Node) *syntax.Node {
	holder := root
	path := x.d.wrappers[0]
	for i, key := range path {
		next := objectNode()
		if x.d.list && i == len(path)-1 {
			next.Kind = syntax.Array
		}
		setMember(holder, key, next)
		holder = next
	}
	return holder
}

// inputNodes are the prompts in the form of VS Code.
func inputNodes(inputs []Input) *syntax.Node {
	list := &syntax.Node{Kind: syntax.Array}
	for _, in := range inputs {
		n := objectNode()
		kind := "promptString"
		if len(in.Options) > 0 {
			kind = "pickString"
		}
		setMember(n, "type", textNode(kind))
		setMember(n, "id", textNode(in.ID))
		if in.Description != "" {
			setMember(n, "description", textNode(in.Description))
		}
		if in.Secret {
			setMember(n, "password", boolNode(true))
		}
		if len(in.Options) > 0 {
			setMember(n, "options", listNode(in.Options))
		}
		if len(in.Default) > 0 {
			setMember(n, "default", textNode(in.Default[0]))
		}
		list.Items = append(list.Items, n)
	}
	return list
}

// The nodes of a document.

func objectNode() *syntax.Node { return &syntax.Node{Kind: syntax.Object} }

func textNode(s string) *syntax.Node { return &syntax.Node{Kind: syntax.String, Text: s} }

func numberNode(s string) *syntax.Node { return &syntax.Node{Kind: syntax.Number, Text: s} }

func boolNode(b bool) *syntax.Node {
	return &syntax.Node{Kind: syntax.Bool, Text: strconv.FormatBool(b)}
}

func listNode(list []string) *syntax.Node {
	n := &syntax.Node{Kind: syntax.Array}
	for _, s := range list {
		n.Items = append(n.Items, textNode(s))
	}
	return n
}

// set adds a member to an object. A path with dots leads through objects, which
// are made where they are missing.
func setMember(n *syntax.Node, path string, value *syntax.Node) {
	n.Members = append(n.Members, syntax.Member{Name: path, Value: value})
}

// setPath is set for a path whose parts are separated by dots.
func setPath(n *syntax.Node, path string, value *syntax.Node) {
	for {
		key, rest, deeper := strings.Cut(path, ".")
		if !deeper {
			setMember(n, key, value)
			return
		}
		next := n.Get(key)
		if !next.IsObject() {
			next = objectNode()
			setMember(n, key, next)
		}
		n, path = next, rest
	}
}
