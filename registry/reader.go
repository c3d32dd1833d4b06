package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

const (
	maxProblems = 1000
	maxQuoted   = 80     // bytes of an input that a message repeats
	maxKept     = 50_000 // different texts that are kept once for all entries
)

// reader applies the rules to one document. It goes on after a problem, leaving out the value at fault.
type reader struct {
	opts     ParseOptions
	manifest bool // the document is a manifest
	found    []finding
	dropped  int // problems beyond maxProblems
	rejects  int
	stopped  bool // reading stopped as there were too many

	path tree.Path // of the value being read

	loc      *tree.Locator
	complete bool                 // all of the text was read
	sum      string               // of the text
	declared []declared           // the paths of a manifest
	places   map[string]tree.Mark // of the fields of a manifest
	included bool                 // by another file, or as its local overlay
	local    bool                 // the overlay for this machine
	includes []include
	verbs    []verb

	top      top
	entries  []entry
	chunk    []Repo // memory for the repos of entries
	defaults entry

	fields []field        // of an entry
	names  []string       // of the fields
	index  map[string]int // of a field by name

	texts   map[string]string // texts that are likely to come again
	paths   map[string]string // paths that are known to be good
	lists   map[string][]string
	scratch []string // memory for the list being read
	listKey []byte   // memory for the key of a list
}

// finding is a problem whose position is not worked out yet.
type finding struct {
	Problem
	mark tree.Mark
	item int
}

func newReader(o ParseOptions) *reader {
	r := &reader{
		opts:     o,
		defaults: entry{Repo: new(Repo)},
		path:     tree.NewPath(streamed),
		index:    make(map[string]int),
		texts:    make(map[string]string),
		paths:    make(map[string]string),
		lists:    make(map[string][]string),
	}
	for i, f := range repoFields() {
		r.fields = append(r.fields, f)
		r.names = append(r.names, f.name)
		r.index[f.name] = i
	}
	return r
}

// newEntry gives an entry whose repo stays where it is while the entries grow.
func (r *reader) newEntry() entry {
	if len(r.chunk) == 0 {
		r.chunk = make([]Repo, 64)
	}
	e := entry{Repo: &r.chunk[0]}
	r.chunk = r.chunk[1:]
	return e
}

// report notes a problem with the value being read.
func (r *reader) report(mark tree.Mark, code Code, severity Severity, format string, args ...any) {
	field, item := r.path.Field()
	r.reportAt(mark, item, field, code, severity, format, args...)
}

func (r *reader) reject(mark tree.Mark, code Code, format string, args ...any) {
	r.report(mark, code, Reject, format, args...)
}

func (r *reader) reportAt(mark tree.Mark, item int, field string, code Code, severity Severity, format string, args ...any) {
	if severity == Reject {
		r.rejects++
	}
	if len(r.found) == maxProblems {
		r.dropped++
		return
	}
	p := Problem{Code: code, Severity: severity, Message: fmt.Sprintf(format, args...), File: r.opts.File, Field: field}
	r.found = append(r.found, finding{Problem: p, mark: mark, item: item})
}

// hopeless reports whether so much is wrong that the rest need not be read.
func (r *reader) hopeless() bool {
	r.stopped = r.rejects >= maxProblems
	return r.stopped
}

// fault notes a problem of the text.
func (r *reader) fault(f tree.Fault) {
	r.reportAt(f.Mark, f.Item, f.Field, Code(f.Code), Reject, "%s", f.Msg)
}

// problems gives what was found, in the order of the text.
func (r *reader) problems(loc *tree.Locator) []Problem {
	slices.SortStableFunc(r.found, func(a, b finding) int { return cmp.Compare(a.mark, b.mark) })
	out := make([]Problem, 0, len(r.found)+1)
	for _, f := range r.found {
		f.Line, f.Column = loc.Position(f.mark)
		if f.item >= 0 && f.item < len(r.entries) {
			f.RepoID = r.entries[f.item].ID
		}
		out = append(out, f.Problem)
	}
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if r.dropped > 0 || r.stopped {
		out = append(out, r.more(out[len(out)-1]))
	}
	return out
}

// more tells of the problems that are not listed, at the place of the last that is.
func (r *reader) more(last Problem) Problem {
	p := Problem{
		Code: TooManyProblems, Severity: Warn, File: last.File, Line: last.Line, Column: last.Column,
		Message: fmt.Sprintf("%d more problems are not listed", r.dropped),
	}
	if r.stopped {
		p.Message = "there are too many problems, the rest was not read"
	}
	if r.rejects > 0 {
		p.Severity = Reject
	}
	return p
}

// keep gives a copy of a text that does not hold the whole file in memory, the same copy for equal texts.
func (r *reader) keep(s string) string {
	if k, ok := r.texts[s]; ok {
		return k
	}
	k := strings.Clone(s)
	if len(r.texts) < maxKept {
		r.texts[k] = k
	}
	return k
}

// quote shortens an input for a message.
func quote(s string) string { return wording.Quote(s, maxQuoted) }
