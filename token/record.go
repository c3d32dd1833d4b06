package token

import (
	"bytes"
	"context"
	"iter"
	"time"
)

// A State is where a token is between its issue and its use.
type State string

// The states of a token, in the order it goes through them. Only an approved
// token can be begun; Abort leads back from applying to approved.
const (
	// StatePending waits for a person.
	StatePending State = "pending"
	// StateApproved may be begun once.
	StateApproved State = "approved"
	// StateApplying was begun; whether its action happened is not known.
	StateApplying State = "applying"
	// StateUsed is done; the receipt is kept.
	StateUsed State = "used"
	// StateDeclined was refused by a person and is never begun. Its record is
	// kept until the token expires, so that whoever sent it learns why.
	StateDeclined State = "declined"
)

// A Record is what is kept of one token. It never holds the token itself.
//
// Records that pass between a [Store] and its [Backend] are never modified by
// either side afterwards, so both may keep them. Its JSON form is stable.
type Record struct {
	// Hash is the SHA-256 of the token's text in hexadecimal digits, the key.
	Hash string `json:"hash"`
	// Version counts the changes of the record, from 1.
	Version int64 `json:"version"`
	// State is where the token is.
	State State `json:"state,omitempty"`
	// Issued is when the token was made, Expires when it stops being valid
	// unless it was begun before, Changed when the record last changed. All
	// are in UTC and whole milliseconds.
	Issued  time.Time `json:"issued,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Changed time.Time `json:"changed,omitzero"`
	// Claim is the claim as it was issued. A used record keeps only its
	// Project, Kind, Subject and Tool.
	Claim Claim `json:"claim,omitzero"`
	// Bound is a digest of the whole claim.
	Bound string `json:"bound,omitempty"`
	// Receipt is what Commit was given.
	Receipt []byte `json:"receipt,omitempty"`
	// Size is roughly how many bytes the record takes.
	Size int64 `json:"size,omitempty"`
}

// begun reports whether the token was consumed.
func (r *Record) begun() bool { return r.State == StateApplying || r.State == StateUsed }

// measure returns what Size should be. Bytes are kept in base64.
func (r *Record) measure() int64 {
	c := &r.Claim
	const fixed, perPath = 512, 8
	n := fixed + len(c.Project) + len(c.Kind) + len(c.Subject) + len(c.Tool) + len(c.Manifest)
	n += (len(c.Input) + len(r.Receipt)) * 4 / 3
	for p, digest := range c.Base {
		n += perPath + len(p) + len(digest)
	}
	return int64(n)
}

// clone returns a copy that shares nothing with r.
func (r *Record) clone() Record {
	c := *r
	c.Claim = r.Claim.clone()
	c.Receipt = bytes.Clone(r.Receipt)
	return c
}

// next returns a copy of r at the next state.
func (r *Record) next(state State, now time.Time) *Record {
	c := *r
	c.State, c.Changed = state, now
	return &c
}

// gone returns the change that deletes r.
func (r *Record) gone() *Record { return &Record{Hash: r.Hash, Version: r.Version} }

// A Backend keeps records. The default is the log in the store's directory;
// servers with many replicas can give [Options] one that keeps them in a
// database they share. All rules about tokens are in [Store]; a backend only
// compares versions. Package tokentest checks an implementation.
//
// Its methods must be safe for concurrent use and obey the context.
type Backend interface {
	// Get returns the record with that hash, or nil if there is none.
	Get(ctx context.Context, hash string) (*Record, error)

	// Swap makes all the changes or none, durably before it returns. Each
	// change has the Version that the caller saw, 0 for a record that must not
	// exist yet; the new record's version is one higher. A change whose State
	// is empty deletes the record. If a record is not at that version, Swap
	// fails with an [*Error] whose code is CodeConflict.
	Swap(ctx context.Context, changes ...*Record) error

	// Range yields all records in the order in which they were created, oldest
	// first. The loop body may call other methods; it does not matter whether
	// the loop then sees what they changed. An error ends it.
	Range(ctx context.Context) iter.Seq2[*Record, error]
}
