package rootfs

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// A Lock is an exclusive lock that is held. Other processes on the machine
// that ask for the same one wait, as does this process asking again. It only
// keeps out those who ask, and guards files, not memory: goroutines that share
// variables need a mutex as well. The operating system releases it when the
// process dies.
type Lock struct {
	once sync.Once
	f    *os.File
	path string
	err  error
}

// How long one who waits sleeps between two attempts: as long as everybody
// else on average, so that newcomers have no better chance, and never for the
// same time, so that no two keep step.
const (
	minWait = 2 * time.Millisecond
	maxWait = 4 * time.Millisecond
)

// Lock locks the file at path, which is made with mode 0600 if it is missing
// and never removed. It tries at least once, and waits until the lock is free or
// ctx ends; then the error's code is locked and its cause that of the context.
func (r *Root) Lock(ctx context.Context, path string) (*Lock, error) {
	for {
		l, err := r.tryLock(path)
		if CodeOf(err) != Locked {
			return l, err
		}
		timer := time.NewTimer(minWait + rand.N(maxWait-minWait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, &Error{Op: "lock", Path: path, Code: Locked, Err: context.Cause(ctx)}
		case <-timer.C:
		}
	}
}

// tryLock makes one attempt. Code locked means that it may be repeated.
func (r *Root) tryLock(path string) (*Lock, error) {
	var l *Lock
	err := r.within("lock", path, func(d dir, name string) error {
		f, err := d.create(name, os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		err = lockFile(d, name, f)
		r.note("lock", path, err)
		if err != nil {
			osFile{f}.close()
			return err
		}
		l = &Lock{f: f, path: path}
		return nil
	})
	return l, err
}

// lockFile locks f if it is free and still has its name in d: a lock on a
// file that somebody removed would keep nobody out.
func lockFile(d dir, name string, f *os.File) error {
	n, err := fileNode(f)
	if err != nil {
		return err
	}
	if err := checkFile(n); err != nil {
		return err
	}
	ok, err := tryLock(f)
	if err != nil {
		return err
	}
	if !ok {
		return refuse(Locked)
	}
	now, err := d.lstat(name)
	if err != nil || !same(n, now) {
		return refusef(Locked, "the lock file was replaced")
	}
	return nil
}

// Unlock releases the lock. Calling it again does nothing and returns the
// same error.
func (l *Lock) Unlock() error {
	l.once.Do(func() { l.err = fail("unlock", l.path, l.f.Close()) })
	return l.err
}
