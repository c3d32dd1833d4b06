// Package paging cuts replies into pages that stay below a bound on the wire,
// with cursors that belong to one query and one snapshot.
//
//	pager, err := paging.New(in.Sealer(), "example", 10_000)
//	...
//	q := pager.Query("list_things", args.Kind)
//	page, err := paging.Items(q, args.Cursor, snapshot, things)
//
// A [Pager] is safe for concurrent use.
package paging

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/result"
)

// CodeSnapshotChanged says that what a cursor leads through changed since the
// page before. Start again without a cursor.
const CodeSnapshotChanged = "snapshot_changed"

// Envelope is what a result needs around the payload: the content block, the
// result type, the server's identity in _meta. Measured at 240 bytes with a name
// of 60.
const Envelope = 500

// Pager makes pages of at most a given size for one feature.
type Pager struct {
	sealer  result.Sealer
	feature string
	max     int
	cursor  int // bytes of the longest cursor of Query.Seal on the wire
}

// New returns a pager whose pages have at most maxPage bytes on the wire. Its
// cursors are sealed for the feature of that name. The error is that of the
// sealer.
func New(sealer result.Sealer, feature string, maxPage int) (*Pager, error) {
	p := &Pager{sealer: sealer, feature: feature, max: maxPage}
	longest, err := p.Query().Seal(1<<62, Digest[int](nil))
	if err != nil {
		return nil, err
	}
	p.cursor = Cost(struct{ NextCursor string }{longest})
	return p, nil
}

// Room is how many bytes a page has for its payload, when a cursor follows.
func (p *Pager) Room() int { return p.max - Envelope - p.cursor }

// Query names a query: a tool and its arguments without the cursor. A cursor
// leads through one query only.
func (p *Pager) Query(parts ...string) Query {
	list := make([][]byte, len(parts))
	for i, part := range parts {
		list[i] = []byte(part)
	}
	return Query{p, []byte(canon.Digest("mcpcontract/"+p.feature+"/query/v1", list...))}
}

// Query is one query that is answered in pages.
type Query struct {
	pager *Pager
	bound []byte
}

// position is the state behind a cursor.
type position struct {
	Snapshot string `json:"s"` // digest of what is paged
	Next     int    `json:"n"` // byte offset or item index of the next page
}

// Open returns where to go on; the empty cursor is the start. The error's code
// is cursor_invalid, or snapshot_changed if the cursor was made for another
// snapshot.
func (q Query) Open(cursor, snapshot string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	var p position
	if err := q.OpenValue(cursor, &p); err != nil {
		return 0, err
	}
	if p.Snapshot != snapshot {
		return 0, changed()
	}
	return p.Next, nil
}

// Seal returns the cursor that leads to next.
func (q Query) Seal(next int, snapshot string) (string, error) {
	return q.SealValue(position{Snapshot: snapshot, Next: next})
}

// OpenValue opens a cursor of SealValue. The error's code is cursor_invalid.
func (q Query) OpenValue(cursor string, v any) error {
	plain, err := q.pager.sealer.Open(cursor, q.bound)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return &result.Error{Code: result.CodeCursorInvalid, Message: "the cursor cannot be read; start again without one", Err: err}
	}
	return nil
}

// SealValue returns a cursor that holds v as JSON, for positions that are more
// than a number. It may be longer than the pager reckons with.
func (q Query) SealValue(v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return q.pager.sealer.Seal(plain, q.bound)
}

// changed is the error of a cursor whose snapshot is gone.
func changed() error {
	return &result.Error{Code: CodeSnapshotChanged, Message: "the content changed since the cursor was made; start again without a cursor"}
}

// Items returns the page of items that cursor asks for: as many whole items as
// fit beside a payload of used bytes, and at least one.
func Items[T any](q Query, cursor, snapshot string, used int, items []T) (result.Page[T], error) {
	from, err := q.Open(cursor, snapshot)
	if err != nil {
		return result.Page[T]{}, err
	}
	from = min(from, len(items))
	room := q.pager.Room() - used
	to := from
	for to < len(items) {
		room -= Cost(items[to]) + len(",")
		if room < 0 && to > from {
			break
		}
		to++
	}
	page := result.Page[T]{Items: items[from:to]}
	if to < len(items) {
		page.NextCursor, err = q.Seal(to, snapshot)
	}
	return page, err
}

// Text returns the text of one page, which starts at from and costs at most
// budget, and where the next page starts, 0 at the end. It ends a page at the
// end of a line, within a line only if the line alone is over the budget, and
// never within a character.
func Text(text string, from, budget int) (page string, next int) {
	lineEnd, spent := from, 0
	for i, r := range text[from:] {
		if spent += runeCost(r); spent > budget && i > 0 {
			next = from + i
			if lineEnd > from {
				next = lineEnd
			}
			return text[from:next], next
		}
		if r == '\n' {
			lineEnd = from + i + 1
		}
	}
	return text[from:], 0
}

// runeCost is how many bytes r takes on the wire in the worst case: in a JSON
// string inside the JSON string of a text block, with <, > and & escaped.
func runeCost(r rune) int {
	switch {
	case r == '"' || r == '\\':
		return 4
	case r == '\n' || r == '\r' || r == '\t':
		return 3
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
		return 7
	}
	return utf8.RuneLen(r)
}

// Cost is how many bytes v takes on the wire in the worst case, 0 if it cannot
// be encoded.
func Cost(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0 // such a result fails when it is encoded for good
	}
	outer := len(raw)
	for _, b := range raw {
		if b == '"' || b == '\\' {
			outer++
		}
	}
	return outer
}

// Digest identifies a list of values, as a snapshot.
func Digest[T any](items []T) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for i := range items {
		if err := enc.Encode(items[i]); err != nil {
			b.WriteString(strconv.Itoa(i))
		}
	}
	return canon.Digest("mcpcontract/list/v1", []byte(b.String()))
}
