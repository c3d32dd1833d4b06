package token

import (
	"context"
	"io"
)

// What follows lets the tests, which use the package from outside, put another
// file system below the log.

// A TestDisk is a disk.
type TestDisk interface {
	Lock(ctx context.Context) (unlock func() error, err error)
	Open() (TestFile, error)
	Replace(data []byte) error
	SyncDir() error
	Close() error
}

// A TestFile is a diskFile.
type TestFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (size int64, current bool, err error)
}

type testDisk struct{ d TestDisk }

func (d testDisk) lock(ctx context.Context) (func() error, error) { return d.d.Lock(ctx) }
func (d testDisk) open() (diskFile, error) {
	f, err := d.d.Open()
	if err != nil {
		return nil, err
	}
	return testFile{f}, nil
}
func (d testDisk) replace(data []byte) error { return d.d.Replace(data) }
func (d testDisk) syncDir() error            { return d.d.SyncDir() }
func (d testDisk) close() error              { return d.d.Close() }

type testFile struct{ TestFile }

func (f testFile) stat() (int64, bool, error) { return f.Stat() }

// realDisk shows the disk of the operating system as a TestDisk.
type realDisk struct{ d *osDisk }

func (d realDisk) Lock(ctx context.Context) (func() error, error) { return d.d.lock(ctx) }
func (d realDisk) Open() (TestFile, error) {
	f, err := d.d.open()
	if err != nil {
		return nil, err
	}
	return realFile{f}, nil
}
func (d realDisk) Replace(data []byte) error { return d.d.replace(data) }
func (d realDisk) SyncDir() error            { return d.d.syncDir() }
func (d realDisk) Close() error              { return d.d.close() }

type realFile struct{ diskFile }

func (f realFile) Stat() (int64, bool, error) { return f.stat() }

// RealDisk opens the disk that Open would use.
func RealDisk(dir string) (TestDisk, error) {
	d, err := openDisk(dir)
	if err != nil {
		return nil, err
	}
	return realDisk{d}, nil
}

// OpenOn is Open on another disk, with a log that is written anew when it has
// gathered slack bytes.
func OpenOn(d TestDisk, slack int64, opts *Options) (*Store, error) {
	l := newLog(testDisk{d})
	l.slack = slack
	return openOn(l, opts)
}

// LogBackend returns the log of a store.
func LogBackend(s *Store) Backend { return s.backend }

// CheckFrame decodes the first frame of a file with that header, and returns
// its re-encoding, or nil.
func CheckFrame(data []byte) (frame, again []byte) {
	if len(data) < headerSize {
		return nil, nil
	}
	h, _, _, ok := parseHeader(data[:headerSize])
	if !ok {
		return nil, nil
	}
	payload, n, ok := h.frame(data[headerSize:], headerSize)
	if !ok {
		return nil, nil
	}
	if _, err := decodeChanges(payload); err != nil {
		return nil, nil
	}
	return data[headerSize:][:n], h.appendFrame(nil, headerSize, payload)
}

// BuildLog returns a log with one frame, of any payload, behind its base.
func BuildLog(payload []byte) []byte {
	h := newHeader()
	h.base = headerSize
	data := h.append(nil)
	data = h.appendFrame(data, headerSize, payload)
	copy(data[marksAt:], h.mark(0, int64(len(data))))
	return data
}

// Writing reports whether a writer of this process has the log of s, or has its
// turn to wait for the lock.
func Writing(s *Store) bool { return len(s.backend.(*logStore).writing) > 0 }
