package changeset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A View is a way to show a project or a changeset, declared by the project.
type View struct {
	// ID names the view; it matches ^[a-z0-9]+(-[a-z0-9]+)*$ in at most 64
	// bytes.
	ID string
	// Title is for people; "" means the id.
	Title string
	// Renderer is "review" or "outline". There are no others, and none can be
	// added.
	Renderer string
}

// An Output is a file of the project that is made from a view. This package
// never writes it; [Store.RenderStatus] says whether it is up to date.
type Output struct {
	// View is the id of a view in Options.Views.
	View string
	// Path is where the file is, relative to the root and in slash form.
	Path string
}

// A Validator adds an integration's own rules to [Store.Validate].
type Validator interface {
	// Validate returns what is wrong with a proposal. It gets a copy, which it
	// may keep and modify: nothing it does to that changes the changeset, and
	// the problems of others stay. A problem with another severity than
	// warning is an error. A panic becomes a problem too, validator_failed.
	Validate(ctx context.Context, p Proposal) []Problem
}

// A Proposal is what a [Validator] is shown.
type Proposal struct {
	// Changeset is the changeset with its operations.
	Changeset Changeset
	// Before is the project, and After the project as proposed. Neither has
	// problems.
	Before, After Snapshot
	// Files has the proposed bytes by the id of the operation. Deleted nodes
	// have none.
	Files map[string][]byte
}

// Options says what a store is for. Nil and the zero value are the default.
type Options struct {
	// Docs is the folder of the canonical files, relative to the root; "" means
	// the one that the source names, see [Source], else "docs". No folder below
	// may overlap it. If it is the root itself, ".", they must be in folders
	// whose names begin with a dot, where no document can be.
	Docs string
	// Changesets and Previews are the two folders that are written to, relative
	// to the root; "" means ".mcpdocs/changesets" and ".mcpdocs/previews". They
	// overlap neither each other nor Docs nor an output.
	Changesets, Previews string

	// Views are the views there are, at most 64; none means that there is no
	// preview.
	Views []View
	// Outputs are the files that the project makes from views, at most 64.
	Outputs []Output

	// Policy is what every writer is bound by, in addition to its own. Nil adds
	// nothing.
	Policy *Policy
	// Validators add problems to those that Validate finds, in order; at most
	// 16.
	Validators []Validator

	// MaxChangesets is how many changesets may be kept; 0 means 256. More are
	// refused; a person makes room by removing files.
	MaxChangesets int
	// MaxOperations is how many operations a changeset may have; 0 means 200.
	MaxOperations int
	// MaxFileBytes is how many bytes a file may have, before or afterwards; 0
	// means 4 MiB.
	MaxFileBytes int64
	// MaxBytes is how many bytes a changeset may have as stored; 0 means 16 MiB.
	// It keeps both the old and the new content of each file.
	MaxBytes int64

	// LockTimeout is how long a call that writes waits for the lock of another
	// process, which may be stopped or gone wrong; then it fails with
	// changeset_locked. 0 means 10 s. A context that ends earlier decides.
	LockTimeout time.Duration

	// Now returns the time; nil means [time.Now].
	Now func() time.Time
}

// Limits that are not options.
const (
	mostChangesets = 4096      // so that List ends in a time that a caller waits
	mostOperations = 10_000    // also of a file that somebody else wrote
	mostBytes      = 256 << 20 // what is read into memory at most
	maxViews       = 64
	maxOutputs     = 64
	maxValidators  = 16
	maxName        = 2 * maxWord // of a file that the store makes: an id, a view and an extension
)

// withDefaults returns a copy of o with its zero fields set, for a store on src,
// or the first rule that o breaks.
func (o *Options) withDefaults(src Source) (Options, error) {
	if o == nil {
		o = &Options{}
	}
	docs := "docs"
	if f, ok := src.(interface{ Docs() string }); ok {
		docs = f.Docs()
		if o.Docs != "" && o.Docs != docs {
			return Options{}, refusef(CodeOptions, "open", "Docs is %.160q, and the source reads %.160q", o.Docs, docs)
		}
	}
	full := Options{
		Docs:          cmp.Or(o.Docs, docs),
		Changesets:    cmp.Or(o.Changesets, ".mcpdocs/changesets"),
		Previews:      cmp.Or(o.Previews, ".mcpdocs/previews"),
		Views:         slices.Clone(o.Views),
		Outputs:       slices.Clone(o.Outputs),
		Policy:        o.Policy.clone(),
		Validators:    slices.Clone(o.Validators),
		MaxChangesets: cmp.Or(o.MaxChangesets, 256),
		MaxOperations: cmp.Or(o.MaxOperations, 200),
		MaxFileBytes:  cmp.Or(o.MaxFileBytes, 4<<20),
		MaxBytes:      cmp.Or(o.MaxBytes, 16<<20),
		LockTimeout:   cmp.Or(o.LockTimeout, 10*time.Second),
		Now:           o.Now,
	}
	if full.Now == nil {
		full.Now = time.Now
	}
	for _, check := range []func() error{full.checkLimits, full.checkViews, full.checkFolders} {
		if err := check(); err != nil {
			return Options{}, &Error{Code: CodeOptions, Op: "open", Err: err}
		}
	}
	return full, nil
}

func (o *Options) checkLimits() error {
	switch {
	case min(o.MaxChangesets, o.MaxOperations) < 0 || min(o.MaxFileBytes, o.MaxBytes) < 0:
		return errors.New("a limit is negative")
	case o.LockTimeout < 0:
		return errors.New("LockTimeout is negative")
	case o.MaxChangesets > mostChangesets:
		return fmt.Errorf("MaxChangesets is %d, the limit is %d", o.MaxChangesets, mostChangesets)
	case o.MaxOperations > mostOperations:
		return fmt.Errorf("MaxOperations is %d, the limit is %d", o.MaxOperations, mostOperations)
	case max(o.MaxBytes, o.MaxFileBytes) > mostBytes:
		return fmt.Errorf("a number of bytes is above %d", mostBytes)
	case len(o.Validators) > maxValidators:
		return fmt.Errorf("%d validators, the limit is %d", len(o.Validators), maxValidators)
	case slices.Contains(o.Validators, nil):
		return errors.New("a validator is nil")
	case o.Policy != nil:
		return o.Policy.check()
	}
	return nil
}

func (o *Options) checkViews() error {
	if len(o.Views) > maxViews || len(o.Outputs) > maxOutputs {
		return fmt.Errorf("%d views and %d outputs, the limits are %d and %d", len(o.Views), len(o.Outputs), maxViews, maxOutputs)
	}
	seen := map[string]bool{}
	for _, v := range o.Views {
		switch {
		case !isViewID(v.ID):
			return fmt.Errorf("the view id %.80q does not match ^[a-z0-9]+(-[a-z0-9]+)*$ in at most 64 bytes", v.ID)
		case seen[v.ID]:
			return fmt.Errorf("the view %q is declared twice", v.ID)
		case !slices.Contains(renderers(), v.Renderer):
			return fmt.Errorf("the view %q has the renderer %.80q; there are %v", v.ID, v.Renderer, renderers())
		case v.Title != "" && checkLine("open", "title", v.Title, maxTitle) != nil:
			return fmt.Errorf("the title of the view %q is no line of at most %d bytes", v.ID, maxTitle)
		}
		seen[v.ID] = true
	}
	for _, out := range o.Outputs {
		if !seen[out.View] {
			return fmt.Errorf("the output %.160q has the view %.80q, which is not declared", out.Path, out.View)
		}
	}
	return nil
}

// isViewID reports whether id can name a view.
func isViewID(id string) bool {
	ok := len(id) <= maxWord
	for part := range strings.SplitSeq(id, "-") {
		ok = ok && part != "" && !strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
	}
	return ok
}

// checkFolders makes sure that what is written to can hold nothing else: the
// two folders may lie neither in each other nor in what nothing may write to,
// nor the other way round, as any file system sees it. That an output lies
// among the documents is the project's own affair.
func (o *Options) checkFolders() error {
	kept, err := o.kept()
	if err != nil {
		return err
	}
	written := []string{o.Changesets, o.Previews}
	for _, dir := range written {
		// With room for the names that the store makes.
		if err := first(rootfs.Check(dir), rootfs.Check(dir+"/"+strings.Repeat("x", maxName))); err != nil {
			return err
		}
		for _, p := range kept {
			if overlap(p, dir) {
				return fmt.Errorf("the folder %.160q overlaps %.160q, which nothing may write to", dir, p)
			}
		}
		if o.Docs == "." && !strings.HasPrefix(dir, ".") {
			return fmt.Errorf("the folder %.160q is among the documents", dir)
		}
	}
	if overlap(written[0], written[1]) {
		return fmt.Errorf("the folders %.160q and %.160q overlap", written[0], written[1])
	}
	return nil
}

// kept returns the paths that nothing may write to, but for a docs folder that
// is the root.
func (o *Options) kept() ([]string, error) {
	var kept []string
	if o.Docs != "." {
		kept = append(kept, o.Docs)
	}
	for _, out := range o.Outputs {
		kept = append(kept, out.Path)
	}
	for _, p := range kept {
		if err := rootfs.Check(p); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// overlap reports whether one path is, or lies in, the other.
func overlap(a, b string) bool {
	a, b = rootfs.FoldKey(a)+"/", rootfs.FoldKey(b)+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
