package changeset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// The stored form of a changeset. The first line is magic, the second the
// Changeset without its digest as canonical JSON; then come, for each operation
// in order, the old and the new bytes of the file, one after the other as long
// as the operation says, and last the SHA-256 of all that with a line end on
// both sides. There is one form for each changeset and no other is accepted.
const (
	magic     = "mcpcontract changeset 1\n"
	hashBytes = 64
)

// idPrefix begins the id of every changeset, and extension ends the name of its
// file.
const (
	idPrefix  = "cs-"
	idRandom  = 26
	extension = ".changeset"
)

// isID reports whether id has the form of a changeset's id.
func isID(id string) bool {
	random, ok := strings.CutPrefix(id, idPrefix)
	return ok && len(random) == idRandom && !strings.ContainsFunc(random, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '2' || r > '7')
	})
}

// A record is a changeset with all that it says.
type record struct {
	Changeset

	files []contents // by operation
}

// contents has the bytes of one file; nil where there is no file.
type contents struct{ old, new []byte }

// encode returns the stored form of r and sets the digest.
func (r *record) encode() ([]byte, error) {
	head := r.Changeset
	head.Digest = ""
	text, err := canon.Marshal(head)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(magic)
	b.Write(text)
	b.WriteByte('\n')
	for _, f := range r.files {
		b.Write(f.old)
		b.Write(f.new)
	}
	r.Digest = canon.Sum(b.Bytes())
	fmt.Fprintf(&b, "\n%s\n", r.Digest)
	return b.Bytes(), nil
}

// errDamaged is why a file was not written by this package. What is wrong with
// it helps nobody.
var errDamaged = errors.New("it is not what was written")

// decode reads the stored form of the changeset id. The contents share the
// memory of data.
func decode(id string, data []byte) (*record, error) {
	body, sum, ok := cutSum(data)
	if !ok || canon.Sum(body) != sum {
		return nil, errDamaged
	}
	text, ok := bytes.CutPrefix(body, []byte(magic))
	if !ok {
		return nil, errDamaged
	}
	head, rest, ok := bytes.Cut(text, []byte{'\n'})
	if !ok {
		return nil, errDamaged
	}
	r, ok := readHead(head)
	if !ok || r.ID != id || !r.plausible() || !r.cut(rest) {
		return nil, errDamaged
	}
	r.Digest = sum
	return r, nil
}

// readHead reads the header. Comparing with what Marshal gives refuses unknown
// and repeated keys, and every other spelling.
func readHead(head []byte) (*record, bool) {
	r := &record{}
	if err := json.Unmarshal(head, &r.Changeset); err != nil {
		return nil, false
	}
	again, err := canon.Marshal(r.Changeset)
	return r, err == nil && bytes.Equal(again, head)
}

// cutSum splits the sum at the end off.
func cutSum(data []byte) (body []byte, sum string, ok bool) {
	at := len(data) - hashBytes - 2
	if at < 0 || data[at] != '\n' || data[len(data)-1] != '\n' {
		return nil, "", false
	}
	return data[:at], string(data[at+1 : len(data)-1]), true
}

// cut distributes the bytes behind the header over the operations, and reports
// whether they are those whose hashes it has.
func (r *record) cut(rest []byte) bool {
	take := func(size int64, hash string) ([]byte, bool) {
		if size < 0 || size > int64(len(rest)) {
			return nil, false
		}
		part := rest[:size:size]
		rest = rest[size:]
		if hash == "" {
			return nil, size == 0
		}
		return part, canon.Sum(part) == hash
	}
	for _, o := range r.Operations {
		before, ok := take(o.OldSize, o.BaseHash)
		after, also := take(o.NewSize, o.NewHash)
		if !ok || !also {
			return false
		}
		r.files = append(r.files, contents{before, after})
	}
	return len(rest) == 0
}

// plausible reports whether the fields could have been written: a sum only
// tells that nothing changed since.
func (r *record) plausible() bool {
	return isID(r.ID) && r.Digest == "" && !r.Damaged && r.Writer != "" && r.Operations != nil && len(r.Operations) <= mostOperations &&
		r.Created.Equal(stamp(r.Created)) && r.Updated.Equal(stamp(r.Updated)) &&
		!slices.ContainsFunc(r.Operations, func(o Operation) bool { return !o.plausible() })
}

// plausible reports whether an operation has the paths and hashes that its kind
// has.
func (o *Operation) plausible() bool {
	hasOld, hasNew := o.OldPath != "", o.NewPath != ""
	switch {
	case o.ID == "", hasOld != (o.BaseHash != ""), hasNew != (o.NewHash != ""):
		return false
	case hasOld && rootfs.Check(o.OldPath) != nil, hasNew && rootfs.Check(o.NewPath) != nil:
		return false
	}
	return (hasOld || hasNew) && o.Op == o.kind()
}

// kind returns what an operation does to its file.
func (o *Operation) kind() Op {
	switch {
	case o.OldPath == "":
		return Create
	case o.NewPath == "":
		return Delete
	case o.OldPath != o.NewPath:
		return Move
	default:
		return Update
	}
}

// stamp returns t as it is stored.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
