package normalize

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// DefaultMaxBytes is the size of a text that [Parse] reads unless
// [ParseOptions.MaxBytes] says otherwise.
const DefaultMaxBytes = 1 << 20

// Bounds of one paste.
const (
	maxServers = 1000 // records
	maxNotes   = 1000 // notes of the paste itself, and of one record
	maxExports = 1000 // variables that command lines set for the ones after them
)

// ParseOptions tells [Parse] what it cannot see in the text. Nil and the zero
// value are valid.
type ParseOptions struct {
	// Dialect is the client whose file this is, where the caller knows; empty
	// or [Generic] when not.
	Dialect Dialect
	// Name is the name of the file, used to name a server that nothing else
	// names; it is not opened.
	Name string
	// GOOS is the operating system of the launch, for formats that differ by
	// it, as in [runtime.GOOS] and by default that.
	GOOS string
	// MaxBytes bounds the text; 0 means [DefaultMaxBytes].
	MaxBytes int
	// ReadFile is asked for the files that a paste names: files of variables,
	// and files whose content is a value. Nil, the default, reads nothing: a
	// stranger's text must not choose what is read.
	ReadFile func(path string) ([]byte, error)
}

func (o *ParseOptions) maxBytes() int {
	if o == nil || o.MaxBytes <= 0 {
		return DefaultMaxBytes
	}
	return o.MaxBytes
}

// Parse reads a client configuration in any form in which people paste it, and
// gives one record for each server: JSON with comments and other liberties,
// TOML, YAML, MCPB manifests, registry entries, Docker catalogs, install links,
// command lines, and Markdown that holds any of them.
//
// What was repaired, guessed or left out is told by notes, of the paste or of
// the record. A bad entry becomes a record whose Err is set, with all that it
// said in Extra, and never takes the others along. A text that was read and
// declares no server gives a Paste without servers and the note [NoMCPConfig]; a
// text that cannot be read is an [*Error] with line, column and a hint.
//
// Nothing is expanded, run or opened.
func Parse(text []byte, opts *ParseOptions) (*Paste, error) {
	if most := opts.maxBytes(); len(text) > most {
		return nil, &Error{
			Code: TooLarge, Message: "the text has " + strconv.Itoa(len(text)) + " bytes, more than " + strconv.Itoa(most) + "; paste only the part that declares servers",
		}
	}
	r := &reader{paste: &Paste{Dialect: Generic}}
	if opts != nil {
		r.opts = *opts
	}
	if err := r.hints(); err != nil {
		return nil, err
	}
	src, marked, err := syntax.Decode(text)
	if err != nil {
		return nil, unreadable(err, func(off int) (int, int) { return syntax.Position(string(text), off) })
	}
	if marked {
		r.note(BOMStripped, "")
	}
	split := syntax.Split(src)
	if len(split.Docs) == 0 && len(split.Faults) > 0 {
		return nil, faultError(split.Faults)
	}
	r.read(&split)
	if len(r.paste.Servers) == 0 && len(split.Faults) > 0 {
		return nil, faultError(split.Faults)
	}
	if r.over || split.TooMany {
		return nil, &Error{Code: TooMany, Message: "the text holds more than " + strconv.Itoa(maxServers) + " servers, documents or exported variables; paste a part of it"}
	}
	return r.paste, nil
}

// unreadable makes an error of a fault of the syntax.
func unreadable(err error, position func(offset int) (line, column int)) *Error {
	out := &Error{Code: Unreadable, Message: "the text cannot be read", Err: err}
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		out.Line, out.Column = position(e.Offset)
		out.Message = e.Msg
		if e.Hint != "" {
			out.Message += "; " + e.Hint
		}
		if e.Limit {
			out.Code = TooDeep
		}
	}
	return out
}

// faultError is the error for a text of which nothing can be read: the fault
// that the reader met last is the one that got furthest.
func faultError(faults []syntax.Fault) *Error {
	best := faults[0]
	for _, f := range faults[1:] {
		if f.Err.Offset > best.Err.Offset {
			best = f
		}
	}
	return unreadable(best.Err, func(int) (int, int) { return best.Line, best.Column })
}

// reader is the state of one Parse.
type reader struct {
	opts  ParseOptions
	hint  []*dialect // the rows of the hinted client, none without a hint
	paste *Paste
	over  bool

	doc      *syntax.Document
	inputs   []Input         // prompts of the present document
	declared []Input         // prompts of all documents, for the note
	exported []named         // variables that earlier command lines set
	guessed  bool            // the present row was chosen by telltale fields
	readKeys map[string]bool // keys of the present document that were read for the servers
}

// hints looks the hinted dialect up.
func (r *reader) hints() error {
	id := r.opts.Dialect
	if id == "" {
		return nil
	}
	for i := range dialects {
		if dialects[i].id == id {
			r.hint = append(r.hint, &dialects[i])
		}
	}
	if r.hint == nil {
		return unknownDialect(id)
	}
	switch id {
	case Generic, CLI, Deeplink, DockerCatalog, RegistryServer, MCPB:
		r.hint = nil // forms that the text itself shows
	}
	return nil
}

// note adds a note about the paste, once for each subject.
func (r *reader) note(code Code, subject string) {
	for _, n := range r.paste.Notes {
		if n.Code == code && n.Subject == subject {
			return
		}
	}
	if len(r.paste.Notes) == maxNotes {
		code, subject = TooMany, "notes"
	} else if len(r.paste.Notes) > maxNotes {
		return
	}
	r.paste.Notes = append(r.paste.Notes, inForm(parseNote(code, subject), r.doc))
}

// noteAt adds a note about a place of the present document.
func (r *reader) noteAt(code Code, subject string, offset int) {
	before := len(r.paste.Notes)
	r.note(code, subject)
	if len(r.paste.Notes) > before {
		n := &r.paste.Notes[before]
		n.Line, n.Column = r.doc.Position(offset)
	}
}

// read turns the documents of a text into records.
func (r *reader) read(t *syntax.Text) {
	forms := map[string]bool{}
	var seen []Dialect
	skipRuns := t.Fences > 0 && slices.ContainsFunc(t.Docs, func(d syntax.Document) bool { return !isRunLine(&d) })
	for i := range t.Docs {
		if r.over {
			return
		}
		if skipRuns && isRunLine(&t.Docs[i]) {
			continue
		}
		r.doc, r.inputs, r.readKeys = &t.Docs[i], nil, map[string]bool{}
		forms[formNames[r.doc.Form]] = true
		from := len(r.paste.Servers)
		id := r.document()
		if len(r.paste.Servers) > from || len(seen) == 0 {
			seen = append(seen, id)
		}
	}
	r.paste.Format = formOf(forms, t.Fences)
	r.paste.Dialect = r.dialectOfPaste(seen)
	r.textNotes(t)
	for i := range t.Faults {
		r.note(Skipped, faultSubject(&t.Faults[i]))
	}
	if len(r.declared) > 0 {
		r.note(InputsDeclared, inputList(r.declared))
	}
	r.duplicates()
	if len(r.paste.Servers) == 0 {
		r.note(NoMCPConfig, "")
		r.sayWhatElse(t)
	}
}

// sayWhatElse adds to the note that there is no server what there is in its
// place.
func (r *reader) sayWhatElse(t *syntax.Text) {
	for i := range t.Docs {
		root := t.Docs[i].Root
		if near := nearMiss(root, "mcpServers", "mcp_servers", "context_servers", "servers"); near != "" {
			r.paste.Notes[len(r.paste.Notes)-1].Message += near
			return
		}
		for _, kind := range otherKinds {
			if root.Get(kind.key) != nil {
				n := &r.paste.Notes[len(r.paste.Notes)-1]
				n.Message += "; it holds " + kind.what + ", which are something else"
				return
			}
		}
	}
}

// otherKinds are settings that also hold commands.
var otherKinds = []struct{ key, what string }{
	{"hooks", "hooks"},
	{"statusLine", "a status line"},
	{"formatter", "formatters"},
	{"lsp", "language servers"},
	{"language_servers", "language servers"},
	{"tasks", "tasks"},
	{"inputs", "prompts"},
}

// isRunLine tells whether a document is a command line that only runs
// something. In Markdown it is as often a way to try a server as the server
// itself, so it counts only where nothing else declares one.
func isRunLine(d *syntax.Document) bool {
	if d.Form != syntax.CommandForm {
		return false
	}
	_, client := cliClients[programName(d.Words[0].Text)]
	return !client
}

var formNames = map[syntax.Form]string{
	syntax.JSONForm: "json", syntax.TOMLForm: "toml", syntax.YAMLForm: "yaml",
	syntax.CommandForm: "command", syntax.LinkForm: "link", syntax.WordForm: "word",
}

func formOf(forms map[string]bool, fences int) string {
	switch {
	case fences > 0:
		return "markdown"
	case len(forms) > 1:
		return "mixed"
	}
	for form := range forms {
		return form
	}
	return "text"
}

// dialectOfPaste is the hint, or what all documents with servers agree on.
func (r *reader) dialectOfPaste(seen []Dialect) Dialect {
	if len(r.hint) > 0 {
		return r.hint[0].id
	}
	if len(seen) == 0 {
		return Generic
	}
	for _, id := range seen[1:] {
		if id != seen[0] {
			return Generic
		}
	}
	return seen[0]
}

// repairNotes are the notes for what the reader of a form had to mend.
var repairNotes = []struct {
	bit  syntax.Repairs
	code Code
}{
	{syntax.Comments, CommentsStripped},
	{syntax.TrailingCommas, TrailingCommasRemoved},
	{syntax.MissingCommas, CommasAdded},
	{syntax.SmartQuotes, SmartQuotesFixed},
	{syntax.OddSpaces, OddSpacesFixed},
	{syntax.Fullwidth, FullwidthFixed},
	{syntax.ZeroWidth, ZeroWidthRemoved},
	{syntax.JSON5, JSON5Syntax},
	{syntax.BracesAdded, BracesAdded},
	{syntax.Balance, BraceBalanceFixed},
	{syntax.Ellipsis, EllipsisRemoved},
	{syntax.Backslashes, BackslashesFixed},
	{syntax.Quoted, DoubleQuotedJSON},
}

func (r *reader) textNotes(t *syntax.Text) {
	if t.Fences > 0 {
		r.note(MarkdownFences, strconv.Itoa(t.Fences))
	}
	if t.Documents > 1 {
		r.note(Documents, strconv.Itoa(t.Documents))
	}
	for _, n := range repairNotes {
		if t.Fixed&n.bit != 0 {
			r.note(n.code, "")
		}
	}
	if t.ShellComment {
		r.note(ShellCommentSkipped, "")
	}
	if t.Prose && len(t.Docs) > 0 {
		r.note(ProseSkipped, "")
	}
}

// faultSubject names a piece that could not be read beside others that could.
func faultSubject(f *syntax.Fault) string {
	where := "line " + strconv.Itoa(f.Line)
	if f.Block > 0 {
		where = "block " + strconv.Itoa(f.Block)
	}
	return where + "(unreadable)"
}

// inputList is the subject of the note about declared prompts.
func inputList(inputs []Input) string {
	var b strings.Builder
	for i, in := range inputs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(in.ID)
		switch {
		case in.Secret:
			b.WriteString("(secret)")
		case in.Kind == "command":
			b.WriteString("(command)")
		}
	}
	return b.String()
}

// document reads one document and says which dialect it is in.
func (r *reader) document() Dialect {
	switch r.doc.Form {
	case syntax.CommandForm:
		r.commandLine(r.doc.Words)
		return CLI
	case syntax.LinkForm:
		r.link(r.doc.Text)
		return Deeplink
	case syntax.WordForm:
		r.word(r.doc.Text)
		return Generic
	}
	return r.tree(r.doc.Root)
}
