package normalize

import (
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// A val is a text of the paste on its way into a record.
type val struct {
	text    string
	off     int  // where in the document
	coerced bool // it was a number or a boolean
	own     bool // the reference in it was made here, not in the paste
}

// named is a val with a name.
type named struct {
	name string
	val
}

// A draft is a record being built. All forms of paste fill drafts; finish does
// what is the same for all.
type draft struct {
	r   *reader
	d   *dialect
	at  place
	off int
	s   Server

	// written is the entry as it stands in the paste, nil where it is no object.
	written *syntax.Node

	command   val
	splitLine bool // command is a whole line, whatever it looks like
	args      []val
	env       []named
	envAt     places
	headers   []named
	headerAt  places
	cwd       val
	envFile   val
	url       val
	inputs    []Input // prompts that this record declares itself
	posix     bool    // words of a command line: the shell has expanded $NAME
}

func (r *reader) draft(at place, d *dialect) *draft {
	return &draft{r: r, d: d, at: at, off: at.offset, s: Server{
		Name: at.name, Dialect: d.id, Scope: at.scope, Block: r.doc.Block,
	}}
}

// note adds a note to the record, once for each subject.
func (e *draft) note(code Code, subject string, offset int) {
	for i := range e.s.Notes {
		if e.s.Notes[i].Code == code && e.s.Notes[i].Subject == subject {
			return
		}
	}
	if len(e.s.Notes) >= maxNotes-1 {
		code, subject = TooMany, "notes"
		if e.s.Notes[len(e.s.Notes)-1].Code == TooMany {
			return
		}
	}
	n := inForm(parseNote(code, subject), e.r.doc)
	n.Line, n.Column = e.r.doc.Position(offset)
	e.s.Notes = append(e.s.Notes, n)
}

// dropped adds a note that holds what was left out of the record.
func (e *draft) dropped(code Code, subject string, n *syntax.Node) {
	e.note(code, subject, n.Offset)
	last := &e.s.Notes[len(e.s.Notes)-1]
	if last.Code == code && last.Subject == subject {
		last.Dropped = textOf(n)
	}
}

// textOf is the text of a node as a person would write it.
func textOf(n *syntax.Node) string {
	if n.Scalar() {
		return n.Text
	}
	return string(n.AppendJSON(nil))
}

// finish completes the record and adds it to the paste.
func (e *draft) finish() {
	if len(e.r.paste.Servers) == maxServers {
		e.r.over = true
		return
	}
	if e.s.Err == nil {
		e.unwrapCommand()
		e.trimEdges()
		if e.command.text == "" && e.url.text == "" || e.s.Transport == Stdio && e.command.text == "" {
			e.fail(NoCommandOrURL, "") // nothing was left but blanks and quotes
		}
	}
	if e.s.Err == nil {
		e.dropBadPairs()
		e.fill()
		e.checkValues()
		e.checkEnv()
		e.checkPackage()
		e.checkURL()
		e.checkPlatform()
		e.checkContainer()
		e.bridge()
	} else if e.written.IsObject() {
		e.s.Extra = e.written.AppendJSON(nil) // nothing was read from it
	}
	e.nameIt()
	if e.s.Err != nil {
		e.s.Transport = ""
	}
	if strings.Contains(e.s.Name, "${") {
		e.note(RefInKey, "name", e.off)
	}
	e.r.paste.Servers = append(e.r.paste.Servers, e.s)
}

// setEnv adds a variable, in place of an earlier one of the same name.
func (e *draft) setEnv(name string, v val) { e.env = e.envAt.set(e.env, name, v, same) }

// setHeader adds a header, in place of an earlier one of the same name in any
// case.
func (e *draft) setHeader(name string, v val) {
	e.headers = e.headerAt.set(e.headers, name, v, strings.ToLower)
}

func same(name string) string { return name }

// places are where names stand in a list of pairs that only grows: whoever takes
// pairs out starts again. The zero value knows none yet.
type places struct{ at map[string]int }

// manyPairs is the number of pairs from which on names are looked up in a map.
const manyPairs = 32

// set gives a name a value. Key makes the names equal that are the same.
func (p *places) set(list []named, name string, v val, key func(string) string) []named {
	wanted := key(name)
	if p.at == nil && len(list) >= manyPairs {
		p.at = make(map[string]int)
		for i := range list {
			p.at[key(list[i].name)] = i
		}
	}
	i, ok := p.at[wanted]
	if p.at == nil {
		i = slices.IndexFunc(list, func(o named) bool { return key(o.name) == wanted })
		ok = i >= 0
	}
	if ok {
		list[i].val = v
		return list
	}
	if p.at != nil {
		p.at[wanted] = len(list)
	}
	return append(list, named{name, v})
}
