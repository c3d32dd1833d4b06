package stage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Options changes how an Area works. Nil and the zero value are the default;
// with it files can be staged and inspected, and none promoted.
type Options struct {
	// Dir is where the area keeps its files: a relative path below the root, in
	// slash form, at most 64 bytes; "" means ".mcpcontract". Git is told to
	// ignore it. Areas with the same Dir share all.
	Dir string

	// Allow has the patterns of the paths that may be staged and promoted; no
	// pattern, no path. A pattern has the form of [path.Match], part by part;
	// the part "**" stands for any number of parts, also none. Neither Dir nor
	// what is in it is ever allowed.
	Allow []string

	// Protect has files and folders, relative to the root, that nothing here
	// ever writes or removes at or below, in any spelling that a file system
	// which folds case could take for them. Open refuses a pattern of Allow that
	// could match one of these paths, since it promises what is never done.
	Protect []string

	// MaxFiles is how many files a candidate, and a plan in all, may have; 0
	// means 4,096, which is also the most.
	MaxFiles int
	// MaxFileBytes is how many bytes a file may have; 0 means 16 MiB. It also
	// bounds files that are replaced or removed.
	MaxFileBytes int64
	// MaxBytes is how many bytes the files of a candidate may have together; 0
	// means 256 MiB.
	MaxBytes int64
	// MaxCandidates is how many candidates may be kept; 0 means 64. Prepare
	// refuses more; Discard makes room.
	MaxCandidates int
	// MaxReceipts is how many receipts are kept; 0 means 256. The oldest make
	// room.
	MaxReceipts int

	// LockTimeout is how long a call waits for the lock of another process,
	// which may be stopped or gone wrong; then it fails with stage_locked. 0
	// means 10 s. A context that ends earlier decides.
	LockTimeout time.Duration
}

// Limits that are not options.
const (
	maxDir      = 64
	maxPatterns = 256
	mostFiles   = 4096
)

// withDefaults returns a copy of o with its zero fields set, or the first rule
// that o breaks.
func (o *Options) withDefaults() (Options, error) {
	if o == nil {
		o = &Options{}
	}
	full := Options{
		Dir:           cmp.Or(o.Dir, ".mcpcontract"),
		Allow:         slices.Clone(o.Allow),
		Protect:       slices.Clone(o.Protect),
		MaxFiles:      cmp.Or(o.MaxFiles, mostFiles),
		MaxFileBytes:  cmp.Or(o.MaxFileBytes, 16<<20),
		MaxBytes:      cmp.Or(o.MaxBytes, 256<<20),
		MaxCandidates: cmp.Or(o.MaxCandidates, 64),
		MaxReceipts:   cmp.Or(o.MaxReceipts, 256),
		LockTimeout:   cmp.Or(o.LockTimeout, 10*time.Second),
	}
	return full, full.check()
}

func (o *Options) check() error {
	if err := rootfs.Check(o.Dir); err != nil {
		return &Error{Code: CodeOptions, Op: "open", Err: err}
	}
	switch {
	case len(o.Dir) > maxDir:
		return refusef(CodeOptions, "open", "Dir has %d bytes, the limit is %d", len(o.Dir), maxDir)
	case len(o.Allow) > maxPatterns || len(o.Protect) > maxPatterns:
		return refusef(CodeOptions, "open", "Allow has %d patterns and Protect %d paths, the limit is %d", len(o.Allow), len(o.Protect), maxPatterns)
	case o.MaxFiles < 0 || o.MaxFileBytes < 0 || o.MaxBytes < 0 || o.MaxCandidates < 0 || o.MaxReceipts < 0:
		return refusef(CodeOptions, "open", "a limit is negative")
	case o.LockTimeout < 0:
		return refusef(CodeOptions, "open", "LockTimeout is negative")
	case o.MaxFiles > mostFiles:
		return refusef(CodeOptions, "open", "MaxFiles is %d, the limit is %d", o.MaxFiles, mostFiles)
	}
	return o.checkPatterns()
}

func (o *Options) checkPatterns() error {
	for _, p := range o.Protect {
		if err := rootfs.Check(p); err != nil {
			return &Error{Code: CodeOptions, Op: "open", Err: err}
		}
	}
	for _, allow := range o.Allow {
		if err := pattern.Check(allow); err != nil {
			return refusef(CodeOptions, "open", "pattern %.80q: %v", allow, err)
		}
		for _, p := range o.Protect {
			if pattern.Reaches(allow, p) {
				return refusef(CodeOptions, "open", "pattern %.80q could match %.80q or something below, which is protected", allow, p)
			}
		}
	}
	return nil
}

// allowed reports whether p may be staged and promoted.
func (o *Options) allowed(p string) bool {
	folded := rootfs.FoldKey(p)
	for _, protected := range append([]string{o.Dir}, o.Protect...) {
		if within(folded, rootfs.FoldKey(protected)) {
			return false
		}
	}
	return pattern.Match(o.Allow, p)
}

// within reports whether p is dir or below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir+"/")
}
