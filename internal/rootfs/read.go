package rootfs

import (
	"hash"
	"io"
	"os"
)

// hashBuffer is the size of the buffer a file is hashed through.
const hashBuffer = 128 << 10

// hasher is what Hash needs and reuses.
type hasher struct {
	sum hash.Hash
	buf []byte
}

// ReadFile returns the content of the regular file at path, which may have at
// most max bytes. It is refused if it has another name (hard_link), and if its
// size or time changes while it is read (changed). A larger file is not read
// at all.
func (r *Root) ReadFile(path string, max int64) ([]byte, error) {
	if err := Check(path); err != nil {
		return nil, fail("read", path, err)
	}
	data, err := r.readAll(path, max)
	return data, fail("read", path, err)
}

// readAll is ReadFile without the policy.
func (r *Root) readAll(path string, max int64) (data []byte, err error) {
	err = r.read(path, max, func(f *os.File, size int64) (int64, error) {
		// One byte more than expected, to see a file that grows.
		data = make([]byte, size+1)
		n, err := io.ReadFull(f, data)
		data = data[:n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		return int64(n), err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Hash returns the SHA-256 of the regular file at path and its size, under the
// conditions of ReadFile. It uses a fixed amount of memory.
func (r *Root) Hash(path string, max int64) (sum [32]byte, size int64, err error) {
	if err := Check(path); err != nil {
		return sum, 0, fail("read", path, err)
	}
	h := r.hashers.Get().(*hasher)
	defer r.hashers.Put(h)
	err = r.read(path, max, func(f *os.File, want int64) (int64, error) {
		n, err := h.fill(f, want)
		size = n
		return n, err
	})
	if err != nil {
		return sum, 0, fail("read", path, err)
	}
	h.sum.Sum(sum[:0])
	return sum, size, nil
}

// fill hashes f until its end, or until it has given more than want bytes.
func (h *hasher) fill(f *os.File, want int64) (total int64, err error) {
	h.sum.Reset()
	for total <= want {
		n, err := f.Read(h.buf)
		h.sum.Write(h.buf[:n])
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// read opens the file at path, has fn read it, and sees that it held still.
// fn returns how many bytes it got; more than it was told means growth. The
// path is not checked.
func (r *Root) read(path string, max int64, fn func(f *os.File, size int64) (int64, error)) error {
	f, err := r.top.open(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := fileNode(f)
	if err != nil {
		return err
	}
	if err := checkFile(before); err != nil {
		return err
	}
	if before.size > max {
		return refuse(TooLarge, "it has %d bytes, the limit is %d", before.size, max)
	}
	n, err := fn(f, before.size)
	r.note("read", path, err)
	if err != nil {
		return err
	}
	after, err := fileNode(f)
	if err != nil {
		return err
	}
	if n != before.size || after.size != before.size || !after.mod.Equal(before.mod) {
		return refuse(Changed, "")
	}
	return nil
}
