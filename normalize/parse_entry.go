package normalize

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// place is where in a document an entry stands.
type place struct {
	name     string // its key
	named    bool   // it has one
	path     string // of the wrapper
	scope    string
	offset   int
	wrapped  bool // it stands in a known wrapper
	shadowed bool // a later entry has the same key
}

// entry reads one server. A bad one becomes a record with an error.
func (r *reader) entry(at place, n *syntax.Node, d *dialect) {
	e := &entry{draft: r.draft(at, d), node: n}
	e.written = n
	if at.shadowed {
		e.note(DuplicateKeptFirst, "", at.offset)
	}
	switch n.Kind {
	case syntax.Null:
		e.fail(EntryNull, "")
	case syntax.String:
		e.note(EntryIsString, "", n.Offset)
		e.fromText(n)
	case syntax.Array:
		e.note(EntryIsArray, "", n.Offset)
		e.fromList(n)
	case syntax.Object:
		if tooWide(n) {
			e.fail(TooMany, "")
			break
		}
		if !e.fromObject(n) {
			return
		}
	default:
		e.fail(NoCommandOrURL, "")
	}
	e.finish()
}

// maxFields bounds the members and items of each object and list of an entry.
const maxFields = 2000

func tooWide(n *syntax.Node) bool {
	if len(n.Members)+len(n.Items) > maxFields {
		return true
	}
	for _, m := range n.Members {
		if tooWide(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, tooWide)
}

// fail makes the record one that cannot run.
func (e *draft) fail(code Code, subject string) {
	line, column := e.r.doc.Position(e.off)
	e.s.Err = &Error{Code: code, Subject: subject, Message: parseNote(code, subject).Message, Line: line, Column: column}
}

// entry is one server being read from an object.
type entry struct {
	*draft
	node  *syntax.Node
	hits  []hit
	extra []syntax.Member
	// what the fields said, before the transport is decided
	typ       string // as written
	transport Transport
	urlRole   role // of the field that gave the address
}

// A hit is a field of the entry whose role is known.
type hit struct {
	role role
	rank rank
	name string // path in the paste
	node *syntax.Node
	off  int
}

// fromText reads an entry that is one text: an address, or a command line.
func (e *entry) fromText(n *syntax.Node) {
	if isAddress(n.Text) {
		e.url = val{text: n.Text, off: n.Offset}
		e.inferTransport(true)
		return
	}
	e.command = val{text: n.Text, off: n.Offset}
	e.splitLine = true
	e.s.Transport = Stdio
}

// fromList reads an entry that is a list: program and arguments.
func (e *entry) fromList(n *syntax.Node) {
	e.takeArgv(n)
	if e.command.text == "" {
		e.fail(NoCommandOrURL, "")
		return
	}
	e.s.Transport = Stdio
}

// fromObject reads the usual form. It reports false where the entry is not a
// server at all, which is noted for the paste.
func (e *entry) fromObject(n *syntax.Node) bool {
	e.classify(n, "")
	if kind := e.kind(); kind != "" {
		e.r.note(Skipped, e.at.name+"("+kind+")")
		return false
	}
	e.takeName()
	e.takeType()
	e.takeURL()
	e.takeCommand()
	if e.command.text == "" && e.url.text == "" {
		e.notRunnable(n)
		return true
	}
	e.takeEnv()
	e.takeHeaders()
	e.dropHeaderKeys()
	e.takePaths()
	e.decideTransport()
	e.checkTLS()
	e.takeState()
	e.takeTools()
	e.takeTimeouts()
	e.takeOAuth()
	e.s.Extra = e.extraJSON()
	return true
}

// classify finds the role of each member. Prefix is the path of an object
// inside the entry, with a dot at its end.
func (e *entry) classify(n *syntax.Node, prefix string) {
	if e.hits == nil {
		e.hits = make([]hit, 0, len(n.Members))
	}
	for i, m := range n.Members {
		if later := n.Get(m.Name); later != m.Value && lastIndex(n, m.Name) != i {
			e.note(DuplicateKey, prefix+m.Name, m.Offset)
			continue // clients keep the last one
		}
		name := prefix + m.Name
		role, rank := e.d.role(name, e.r.guessed)
		switch {
		case role == roleNone && prefix == "" && m.Value.IsObject() && e.d.container(m.Name):
			e.classify(m.Value, name+".")
			continue
		case role == roleType && prefix == "" && m.Value.IsObject():
			e.note(NestedTransportFlattened, "", m.Offset)
			e.classifyNested(m.Value)
			continue
		}
		h := hit{role: role, rank: rank, name: name, node: m.Value, off: m.Offset}
		e.hits = append(e.hits, h)
		if role == roleNone || role == roleQuiet || role == roleVerifyTLS {
			e.keep(h)
		}
	}
}

// classifyNested finds the roles of the members of a transport object, which
// means what it would mean in the entry itself.
func (e *entry) classifyNested(n *syntax.Node) {
	for _, m := range n.Members {
		role, rank := e.d.role(m.Name, e.r.guessed)
		h := hit{role: role, rank: rank, name: m.Name, node: m.Value, off: m.Offset}
		e.hits = append(e.hits, h)
		if role == roleNone {
			h.name = "transport." + m.Name
			e.keep(h)
		}
	}
}

func lastIndex(n *syntax.Node, name string) int {
	for i, m := range slices.Backward(n.Members) {
		if m.Name == name {
			return i
		}
	}
	return -1
}

// keep puts a field into the bag for an export back to the same client, with a
// note unless the field is one that says nothing here.
func (e *entry) keep(h hit) {
	e.extra = append(e.extra, syntax.Member{Name: h.name, Offset: h.off, Value: h.node})
}

// noteExtra notes the fields in the bag. It waits for the record to be known
// as one that runs.
func (e *entry) noteExtra() {
	for _, m := range e.extra {
		if e.isQuiet(m.Name) && len(m.Value.Members) == 0 || isEmpty(m.Value) {
			continue
		}
		e.note(ExtraField, m.Name, m.Offset)
		e.hint(m.Name)
	}
}

// hint completes the note of a field that is likely a plain one misspelt, and
// not a word of some client.
func (e *entry) hint(name string) {
	last := &e.s.Notes[len(e.s.Notes)-1]
	if last.Code != ExtraField || last.Subject != name {
		return // too many notes to say it
	}
	names := make([]string, len(plainFields))
	for i, f := range plainFields {
		names[i] = f.name
	}
	if near := wording.Nearest(name, names); near != "" && synonymRole(name) == roleNone {
		last.Message += "; did you mean " + strconv.Quote(near) + "?"
	}
}

// isEmpty tells whether a value says nothing.
func isEmpty(n *syntax.Node) bool {
	switch n.Kind {
	case syntax.Null:
		return true
	case syntax.String:
		return n.Text == ""
	}
	return n.Kind >= syntax.Array && len(n.Items)+len(n.Members) == 0
}

func (e *entry) isQuiet(name string) bool {
	role, _ := e.d.role(name, e.r.guessed)
	return role == roleQuiet || name == "name"
}

// extraJSON writes the bag as a JSON object, fields of objects inside the
// entry gathered in theirs again.
func (e *entry) extraJSON() []byte {
	if len(e.extra) == 0 {
		return nil
	}
	if e.s.Err == nil {
		e.noteExtra()
	}
	bag := &syntax.Node{Kind: syntax.Object}
	for _, m := range e.extra {
		addNested(bag, m)
	}
	return bag.AppendJSON(nil)
}

// addNested adds a member whose name is a path of at most two names.
func addNested(bag *syntax.Node, m syntax.Member) {
	outer, inner, ok := strings.Cut(m.Name, ".")
	if !ok || inner == "" {
		bag.Members = append(bag.Members, m)
		return
	}
	into := bag.Get(outer)
	if !into.IsObject() {
		into = &syntax.Node{Kind: syntax.Object}
		bag.Members = append(bag.Members, syntax.Member{Name: outer, Value: into})
	}
	into.Members = append(into.Members, syntax.Member{Name: inner, Value: m.Value})
}

// first gives the best hit for a role: the client's own name, or else what
// comes first in the entry.
func (e *entry) first(roles ...role) *hit {
	var best *hit
	for i := range e.hits {
		h := &e.hits[i]
		for _, r := range roles {
			if h.role == r && h.node.Kind != syntax.Null && (best == nil || h.rank < best.rank) {
				best = h
			}
		}
	}
	return best
}

// took notes where a value came from, if that is not the client's own field.
func (e *entry) took(h *hit) {
	switch h.rank {
	case rankCase:
		e.note(FieldCaseFixed, h.name, h.off)
	case rankSynonym:
		e.note(FieldSynonym, h.name, h.off)
	}
}

// kind names the kind of an entry that is no server, or gives "".
func (e *entry) kind() string {
	h := e.first(roleType)
	if h == nil {
		return ""
	}
	for _, kind := range e.d.kinds {
		if h.node.Text == kind {
			return kind
		}
	}
	return ""
}

// takeName reads the name of an entry in a list.
func (e *entry) takeName() {
	h := e.first(roleName)
	if h == nil {
		return
	}
	switch {
	case !e.at.named && h.node.Kind == syntax.String && h.node.Text != "":
		e.s.Name = h.node.Text
		e.at.named = true
	case h.node.Text != e.s.Name:
		e.keep(*h)
		if e.d.name(roleName) == "" && e.d.id != Goose {
			e.note(ExtraField, h.name, h.off)
		}
	}
}

// notRunnable says why an entry has neither a command nor an address.
func (e *entry) notRunnable(n *syntax.Node) {
	switch {
	case e.d.id == Zed || n.Get("source") != nil && n.Get("source").Text == "extension":
		e.fail(NotRunnable, "editor_extension")
		e.noteSettings(n.Get("settings"))
	case text(n, "uses") != "": // a block that the client fetches by its name
		e.fail(NeedsLookup, clip(text(n, "uses")))
		if !e.at.named {
			e.s.Name, e.at.named = barePackage(text(n, "uses")), true
		}
	default:
		e.fail(NoCommandOrURL, "")
		e.s.Err.Message += nearMiss(n, "command", "url")
		if misplacedEnv(e.s.Name, n) {
			e.note(MisplacedEnv, "", n.Offset)
		}
	}
}

// noteSettings notes the values of an extension's settings that are still to be
// filled in.
func (e *entry) noteSettings(settings *syntax.Node) {
	if settings == nil {
		return
	}
	for _, m := range settings.Members {
		if m.Value.Kind == syntax.String && isPlaceholder(m.Value.Text, e.d.id) {
			e.note(Placeholder, "settings."+m.Name, m.Offset)
		}
	}
}

// misplacedEnv tells whether an entry is the environment of another one that
// stands one level too high.
func misplacedEnv(name string, n *syntax.Node) bool {
	if len(n.Members) == 0 {
		return false
	}
	variables := 0
	for _, m := range n.Members {
		if !m.Value.Scalar() {
			return false
		}
		if isUpper(m.Name) && nameLen(m.Name) == len(m.Name) {
			variables++
		}
	}
	return synonymRole(name) == roleEnv || variables == len(n.Members)
}

// nearMiss gives the end of a message that names the member of n which is
// likely one of names misspelt, "" if there is none. A misspelt name is never
// read as the right one.
func nearMiss(n *syntax.Node, names ...string) string {
	if n == nil || n.Kind != syntax.Object || tooWide(n) {
		return ""
	}
	for _, m := range n.Members {
		if near := wording.Nearest(m.Name, names); near != "" && !slices.Contains(names, m.Name) {
			return "; did you mean " + strconv.Quote(near) + " where it says " + wording.Quote(m.Name, 64) + "?"
		}
	}
	return ""
}
