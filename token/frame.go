package token

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
)

// The log is a header, then one frame per change:
//
//	header  magic 8 | file id 16 | base 8 | check 8 | mark 16 | mark 16
//	mark    end 8 | check 8
//	frame   length 4 | payload | SHA-256 over file id, offset, length, payload
//
// The file id is random, so that a block of another file, or a frame at
// another place, is never taken for a frame. Up to base the file was durable
// before it got its name. A mark says up to where it is known to be durable;
// the two are written in turns, after the sync of a frame and without a sync of
// their own, so the one on disk is at most one frame behind. What is before
// the mark was acknowledged and must be whole; what is behind it may be torn.
const (
	magic         = "x1toklog"
	checkSize     = 8
	marksAt       = 8 + 16 + 8 + checkSize
	markSize      = 8 + checkSize
	headerSize    = marksAt + 2*markSize
	frameOverhead = 4 + sha256.Size

	// maxPayload bounds one change: a claim with its base, and the deletion of
	// all other records.
	maxPayload = 4 << 20
	// maxLog bounds the file. Compaction keeps it far below.
	maxLog = 64 << 20
)

// A header is what the log begins with.
type header struct {
	id   [16]byte
	base int64
}

func newHeader() (h header) {
	rand.Read(h.id[:])
	return h
}

// check is a short digest over the id, a domain and a number.
func (h *header) check(domain byte, n int64) []byte {
	b := append(h.id[:len(h.id):len(h.id)], domain)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(n)))
	return sum[:checkSize]
}

// append appends the header, with empty marks.
func (h *header) append(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = append(dst, h.id[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.base))
	dst = append(dst, h.check('h', h.base)...)
	return append(dst, make([]byte, 2*markSize)...)
}

// mark returns mark number turn (0 or 1) for end.
func (h *header) mark(turn int, end int64) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, markSize), uint64(end))
	return append(b, h.check('0'+byte(turn), end)...)
}

// parseHeader reads a header of headerSize bytes. The file is known to be
// durable up to end. turn is the number of the mark that says so, or -1 if
// none does and end is base.
func parseHeader(b []byte) (h header, end int64, turn int, ok bool) {
	copy(h.id[:], b[8:])
	h.base = int64(binary.BigEndian.Uint64(b[24:]))
	if string(b[:8]) != magic || !bytes.Equal(b[32:marksAt], h.check('h', h.base)) || h.base < headerSize {
		return h, 0, -1, false
	}
	end, turn = h.base, -1
	for i := range 2 {
		m := b[marksAt+i*markSize:][:markSize]
		at := int64(binary.BigEndian.Uint64(m))
		if at >= end && bytes.Equal(m[8:], h.check('0'+byte(i), at)) {
			end, turn = at, i
		}
	}
	return h, end, turn, true
}

// sum is the checksum of the frame at off.
func (h *header) sum(off int64, frame []byte) []byte {
	s := sha256.New()
	s.Write(h.id[:])
	s.Write(binary.BigEndian.AppendUint64(nil, uint64(off)))
	s.Write(frame)
	return s.Sum(nil)
}

// appendFrame appends to dst the frame of payload for the offset off.
func (h *header) appendFrame(dst []byte, off int64, payload []byte) []byte {
	start := len(dst)
	dst = slices.Grow(dst, len(payload)+frameOverhead)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)))
	dst = append(dst, payload...)
	return append(dst, h.sum(off, dst[start:])...)
}

// frame returns the payload of the frame that b begins with, at off in the
// file, and its whole length, or ok = false.
func (h *header) frame(b []byte, off int64) (payload []byte, size int, ok bool) {
	if len(b) < frameOverhead {
		return nil, 0, false
	}
	n := int64(binary.BigEndian.Uint32(b))
	if n == 0 || n > maxPayload || n > int64(len(b)-frameOverhead) {
		return nil, 0, false
	}
	body := b[:4+n]
	sum := b[4+n:][:sha256.Size]
	if !bytes.Equal(sum, h.sum(off, body)) {
		return nil, 0, false
	}
	return body[4:], int(n) + frameOverhead, true
}

// findFrame reports whether a whole frame may begin in b after its first byte.
// It gives up, and says yes, on bytes made to keep it busy.
func (h *header) findFrame(b []byte, off int64) bool {
	budget := 16 * maxPayload
	for i := 1; i+frameOverhead <= len(b); i++ {
		n := int(min(binary.BigEndian.Uint32(b[i:]), maxPayload+1))
		if n > maxPayload || i+n+frameOverhead > len(b) {
			continue
		}
		if budget -= n; budget < 0 {
			return true
		}
		if _, _, ok := h.frame(b[i:], off+int64(i)); ok {
			return true
		}
	}
	return false
}

// A change is one record in a payload. Its Version is that after the change.
type change struct {
	Record
	// Keep means that Claim and Bound are those of the version before.
	Keep bool `json:"keep,omitempty"`
}

// encodeChanges returns the payload of a frame.
func encodeChanges(changes []change) ([]byte, error) {
	short := make([]change, len(changes))
	for i, c := range changes {
		if c.Keep {
			c.Claim, c.Bound = Claim{}, ""
		}
		short[i] = c
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(short); err != nil {
		return nil, &Error{Code: CodeIO, Op: "encode", Err: err}
	}
	if buf.Len() > maxPayload {
		return nil, tooLarge("encode", "a change takes %d bytes, the limit is %d", buf.Len(), maxPayload)
	}
	return buf.Bytes(), nil
}

// decodeChanges reads a payload whose checksum is right.
func decodeChanges(payload []byte) ([]change, error) {
	var changes []change
	if err := json.Unmarshal(payload, &changes); err != nil {
		return nil, err
	}
	for i := range changes {
		if c := &changes[i]; c.Hash == "" || c.Version < 1 {
			return nil, errors.New("a change has no hash or version")
		}
	}
	return changes, nil
}
