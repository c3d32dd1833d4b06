package discovery

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/result"
)

// envelope is what a result needs around the payload: the content block, the
// result type, the server's identity in _meta. Measured at 240 bytes with a name
// of 60.
const envelope = 500

// position is the state behind a cursor.
type position struct {
	Snapshot string `json:"s"` // digest of what is paged
	Next     int    `json:"n"` // byte offset or item index of the next page
}

// cursors seals positions for one query.
type cursors struct {
	sealer result.Sealer
	bound  []byte
}

// cursors returns the cursors of one query: a tool and its arguments without
// the cursor.
func (d *discovery) cursors(query ...string) cursors {
	parts := make([][]byte, len(query))
	for i, q := range query {
		parts[i] = []byte(q)
	}
	return cursors{d.sealer, []byte(canon.Digest("mcpcontract/discovery/query/v1", parts...))}
}

// open returns where to go on. The empty cursor is the start.
func (c cursors) open(cursor, snapshot string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	plain, err := c.sealer.Open(cursor, c.bound)
	if err != nil {
		return 0, err
	}
	var p position
	if err := json.Unmarshal(plain, &p); err != nil {
		return 0, &result.Error{Code: result.CodeCursorInvalid, Message: "the cursor cannot be read; start again without one", Err: err}
	}
	if p.Snapshot != snapshot {
		return 0, &result.Error{Code: CodeSnapshotChanged, Message: "the content changed since the cursor was made; start again without a cursor"}
	}
	return p.Next, nil
}

func (c cursors) seal(next int, snapshot string) (string, error) {
	plain, err := json.Marshal(position{Snapshot: snapshot, Next: next})
	if err != nil {
		return "", err
	}
	return c.sealer.Seal(plain, c.bound)
}

// pageText returns the text of one page, which starts at from and costs at most
// budget, and where the next page starts, 0 at the end. It ends a page at the
// end of a line, within a line only if the line alone is over the budget, and
// never within a character.
func pageText(text string, from, budget int) (page string, next int) {
	lineEnd, spent := from, 0
	for i, r := range text[from:] {
		cost := runeCost(r)
		if spent += cost; spent > budget && i > 0 {
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

// cost is how many bytes v takes on the wire in the worst case.
func cost(v any) int {
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

// pageItems returns the page of items that cursor asks for: as many whole items
// as fit, and at least one.
func pageItems[T any](d *discovery, c cursors, cursor, snapshot string, items []T) (result.Page[T], error) {
	from, err := c.open(cursor, snapshot)
	if err != nil {
		return result.Page[T]{}, err
	}
	from = min(from, len(items))
	budget := d.opts.MaxPage - envelope - d.cursorCost
	to := from
	for to < len(items) {
		budget -= cost(items[to]) + len(",")
		if budget < 0 && to > from {
			break
		}
		to++
	}
	page := result.Page[T]{Items: items[from:to]}
	if to < len(items) {
		page.NextCursor, err = c.seal(to, snapshot)
	}
	return page, err
}

// digest identifies a list of values.
func digest[T any](items []T) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for i := range items {
		if err := enc.Encode(items[i]); err != nil {
			b.WriteString(strconv.Itoa(i))
		}
	}
	return canon.Digest("mcpcontract/discovery/list/v1", []byte(b.String()))
}
