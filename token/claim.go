package token

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Limits of a claim.
const (
	maxID     = 200
	maxDigest = 128
	maxInput  = 64 << 10
	maxBase   = 4096
	// maxBaseSize bounds paths and digests of the base together.
	maxBaseSize = 512 << 10
)

// A Claim is what a token stands for. Project, Kind, Subject and Tool are
// required. The claim at [Store.Begin] must equal
// that at [Store.Issue] in every field but Approved; nil and empty are equal.
//
// A claim is kept on disk, so it holds ids, relative paths, sizes and digests,
// never the content of a file: files stay where they are, and their digests
// are approved.
type Claim struct {
	// Project is the id of the project, not its path: at most 200 bytes.
	Project string `json:"project"`
	// Kind is the kind of decision. It is part of the token's text and matches
	// ^[a-z][a-z0-9_-]{0,31}$.
	Kind string `json:"kind"`
	// Subject is who asks: the writer or profile a server is bound to, or the
	// authenticated user; at most 200 bytes.
	Subject string `json:"subject"`
	// Tool is the name of the tool that may use the token: at most 200 bytes.
	Tool string `json:"tool"`
	// Input is the normalised arguments in whatever form the caller likes, at
	// most 64 KiB. It is kept so that a call that brings only the token can
	// compute the proposal again; see [Store.Lookup].
	Input []byte `json:"input,omitempty"`
	// Manifest is a digest of all that would be written, at most 128 bytes of
	// printable ASCII without spaces.
	Manifest string `json:"manifest,omitempty"`
	// Base gives, for every relative path that the decision rests on, a digest
	// of its state as approved, in the form of Manifest; "" means that there
	// is nothing. A path must pass the rules of this library for relative
	// paths; there are at most 4,096, with at most 512 KiB in all.
	Base map[string]string `json:"base,omitempty"`
	// Approved makes Issue create the token approved: the decision was made
	// before, or the host asks the person when the token is used. It is not
	// kept; Record.State tells.
	Approved bool `json:"-"`
}

// check reports the first rule that c breaks.
func (c *Claim) check() error {
	ids := []struct{ name, value string }{
		{"project", c.Project}, {"subject", c.Subject}, {"tool", c.Tool},
	}
	for _, id := range ids {
		if err := checkID(id.name, id.value); err != nil {
			return err
		}
	}
	if !validKind(c.Kind) {
		return claimError("kind %.40q does not match ^[a-z][a-z0-9_-]{0,31}$", c.Kind)
	}
	if len(c.Input) > maxInput {
		return tooLarge("issue", "input has %d bytes, the limit is %d; name bodies by their digests", len(c.Input), maxInput)
	}
	if err := checkDigest("manifest", c.Manifest); err != nil {
		return err
	}
	return c.checkBase()
}

func (c *Claim) checkBase() error {
	if len(c.Base) > maxBase {
		return tooLarge("issue", "base has %d paths, the limit is %d", len(c.Base), maxBase)
	}
	size := 0
	for _, p := range slices.Sorted(maps.Keys(c.Base)) {
		if err := rootfs.Check(p); err != nil {
			return &Error{Code: CodeClaim, Op: "issue", Detail: "base", Err: err}
		}
		if err := checkDigest("base", c.Base[p]); err != nil {
			return err
		}
		if size += len(p) + len(c.Base[p]); size > maxBaseSize {
			return tooLarge("issue", "base has more than %d bytes", maxBaseSize)
		}
	}
	return nil
}

func checkID(name, id string) error {
	switch {
	case id == "":
		return claimError("%s is empty", name)
	case len(id) > maxID:
		return claimError("%s has %d bytes, the limit is %d", name, len(id), maxID)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unprintable):
		return claimError("%s has characters that cannot be shown", name)
	}
	return nil
}

// unprintable finds what could hide or reorder text on a person's terminal.
func unprintable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func checkDigest(name, digest string) error {
	if len(digest) > maxDigest {
		return claimError("%s has a digest of %d bytes, the limit is %d", name, len(digest), maxDigest)
	}
	for i := range len(digest) {
		if digest[i] <= ' ' || digest[i] > '~' {
			return claimError("%s has a digest with the character %+q", name, digest[i])
		}
	}
	return nil
}

func claimError(format string, args ...any) error {
	return &Error{Code: CodeClaim, Op: "issue", Detail: fmt.Sprintf(format, args...)}
}

func tooLarge(op, format string, args ...any) error {
	return &Error{Code: CodeTooLarge, Op: op, Detail: fmt.Sprintf(format, args...)}
}

// The digests of a claim, each over the one before.
type digests struct {
	scope   string // who may use the token, and for what
	request string // with the arguments
	whole   string // with the state it rests on
}

func (c *Claim) digests() digests {
	d := digests{scope: c.scope()}
	d.request = canon.Digest("mcpcontract/token/request/1", []byte(d.scope), c.Input)
	parts := make([][]byte, 0, 2+2*len(c.Base))
	parts = append(parts, []byte(d.request), []byte(c.Manifest))
	for _, p := range slices.Sorted(maps.Keys(c.Base)) {
		parts = append(parts, []byte(p), []byte(c.Base[p]))
	}
	d.whole = canon.Digest("mcpcontract/token/claim/1", parts...)
	return d
}

func (c *Claim) scope() string {
	return canon.Digest("mcpcontract/token/scope/1",
		[]byte(c.Project), []byte(c.Kind), []byte(c.Subject), []byte(c.Tool))
}

// changed returns the paths whose state differs between c and now, sorted by
// bytes. A path that only one of them has differs.
func (c *Claim) changed(now *Claim) []string {
	var paths []string
	for p, digest := range c.Base {
		if other, ok := now.Base[p]; !ok || other != digest {
			paths = append(paths, p)
		}
	}
	for p := range now.Base {
		if _, ok := c.Base[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// Stale returns the error with code proposal_stale that Begin returns if c was
// approved and now is what would be done, nil if that is the same. It compares
// Manifest and Base only, and is for telling a person before they decide.
func (c *Claim) Stale(now *Claim) error {
	changed := c.changed(now)
	if len(changed) == 0 && c.Manifest == now.Manifest {
		return nil
	}
	return stale("compare", changed)
}

// equal reports whether c and d are the same, Approved apart.
func (c *Claim) equal(d *Claim) bool {
	return c.Project == d.Project && c.Kind == d.Kind && c.Subject == d.Subject && c.Tool == d.Tool &&
		c.Manifest == d.Manifest && bytes.Equal(c.Input, d.Input) && maps.Equal(c.Base, d.Base)
}

// clone returns a copy that shares nothing with c.
func (c *Claim) clone() Claim {
	d := *c
	d.Input = bytes.Clone(c.Input)
	d.Base = maps.Clone(c.Base)
	d.Approved = false
	return d
}
