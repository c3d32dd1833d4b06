package rootfs

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

// ReadFile returns the content of the regular file at path, which may have at
// most limit bytes. It is refused if it has another name (hard_link), and if its
// size or time changes while it is read (changed). A larger file is not read
// at all.
func (r *Root) ReadFile(path string, limit int64) ([]byte, error) {
	if err := check(path); err != nil {
		return nil, fail("read", path, err)
	}
	f, n, err := r.top.open(path, nil)
	if err != nil {
		return nil, fail("read", path, err)
	}
	defer f.close()
	var b buffer
	src := source{f: f, now: n, path: path, root: r}
	if err := src.read(limit, &b); err != nil {
		return nil, fail("read", path, err)
	}
	return b.data, nil
}

// Hash returns the SHA-256 of the regular file at path and its size, under the
// conditions of ReadFile. It uses a fixed amount of memory.
func (r *Root) Hash(path string, limit int64) (sum [sha256.Size]byte, size int64, err error) {
	if err := check(path); err != nil {
		return sum, 0, fail("hash", path, err)
	}
	f, n, err := r.top.open(path, nil)
	if err != nil {
		return sum, 0, fail("hash", path, err)
	}
	defer f.close()
	src := source{f: f, now: n, path: path, root: r}
	sum, size, err = src.hash(limit, nil)
	return sum, size, fail("hash", path, err)
}

// A source is an open file to be read once.
type source struct {
	f    handle
	now  node // what it is as it was opened
	path string
	root *Root
}

// A sink takes the content of a file. It is told how many bytes to expect, and
// returns how many there were; it need not look for more.
type sink interface {
	fill(f io.Reader, want int64) (int64, error)
}

// read moves the content to s if it has at most limit bytes, and sees that the
// file held still meanwhile.
func (src *source) read(limit int64, s sink) error {
	if err := checkFile(src.now); err != nil {
		return err
	}
	if src.now.size > limit {
		return refusef(TooLarge, "it has %d bytes, the limit is %d", src.now.size, limit)
	}
	n, err := s.fill(src.f, src.now.size)
	src.root.note("read", src.path, err)
	if err != nil {
		return err
	}
	after, err := src.f.node()
	src.root.note("stat", src.path, err)
	if err != nil {
		return err
	}
	if n != src.now.size || after.size != src.now.size || !after.mod.Equal(src.now.mod) {
		return refuse(Changed)
	}
	return nil
}

// hash reads the content, returns its SHA-256 and size, and copies it to out
// if that is not nil.
func (src *source) hash(limit int64, out io.Writer) (sum [sha256.Size]byte, size int64, err error) {
	h := src.root.hashers.Get().(*hasher)
	defer src.root.hashers.Put(h)
	h.out = out
	if err := src.read(limit, h); err != nil {
		return sum, 0, err
	}
	h.sum.Sum(sum[:0])
	return sum, h.n, nil
}

// A buffer takes the content of a file.
type buffer struct{ data []byte }

func (b *buffer) fill(f io.Reader, want int64) (int64, error) {
	b.data = make([]byte, want+1) // room for one byte too many
	n, err := io.ReadFull(f, b.data)
	b.data = b.data[:n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return int64(n), err
}

// hashBuffer is the size of the buffer that a file is hashed through.
const hashBuffer = 128 << 10

// A hasher hashes one file after another, and may copy it meanwhile.
type hasher struct {
	sum hash.Hash
	buf []byte
	out io.Writer // nil for none
	n   int64     // bytes hashed
}

func (h *hasher) fill(f io.Reader, want int64) (int64, error) {
	h.sum.Reset()
	h.n = 0
	// What is beyond want shows in the size that the file has afterwards.
	for h.n < want {
		n, err := f.Read(h.buf)
		h.sum.Write(h.buf[:n])
		h.n += int64(n)
		if h.out != nil && n > 0 {
			if _, err := h.out.Write(h.buf[:n]); err != nil {
				return h.n, err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return h.n, err
		}
	}
	return h.n, nil
}
