package connections

import (
	"context"
	"encoding/json"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/vault"
)

// WithoutText does to arguments what the middleware does, with a given id.
func WithoutText(raw json.RawMessage, id string) (args json.RawMessage, text string, found bool) {
	at := findText(raw)
	if !at.prepare || at.end == 0 {
		return raw, "", false
	}
	out := append(append(append(json.RawMessage{}, raw[:at.start]...), '"'), id...)
	return append(append(out, '"'), raw[at.end:]...), at.text, true
}

// RewriteStrings is rewriteStrings.
func RewriteStrings(raw json.RawMessage, change func(key, value string) string) json.RawMessage {
	return rewriteStrings(raw, change)
}

// Lift is lift for a store that knows no names, with what it found by name.
func Lift(s *normalize.Server) (normalize.Server, map[string]string, error) {
	return LiftBy(context.Background(), s, func(string, string) bool { return true })
}

// LiftBy is Lift by a rule.
func LiftBy(ctx context.Context, s *normalize.Server, free func(name, value string) bool) (normalize.Server, map[string]string, error) {
	out, found, err := lift(ctx, s, func(name, value string) (bool, error) { return free(name, value), nil })
	values := make(map[string]string)
	for _, f := range found {
		values[f.name] = f.value
	}
	return out, values, err
}

// Reserved is reserved.
func Reserved(name string) bool { return reserved(name) }

// MaxSecrets is maxSecrets.
const MaxSecrets = maxSecrets

// A counted profile counts how often it was opened, and fails if it is to.
type counted struct {
	profile
	reads map[string]int
	err   error
}

// CountReads counts the calls by which a store reads its profile from now on, by
// their names, and has Get fail with err if it is not nil.
func CountReads(s *Store, err error) map[string]int {
	c := &counted{s.profile, make(map[string]int), err}
	s.profile = c
	return c.reads
}

func (c *counted) Get(name string) (vault.Secret, vault.Origin, error) {
	c.reads["Get"]++
	if c.err != nil && name != pasteKey {
		return vault.Secret{}, vault.Origin{}, c.err
	}
	return c.profile.Get(name)
}

func (c *counted) Names() ([]string, error) {
	c.reads["Names"]++
	return c.profile.Names()
}

func (c *counted) Records() ([]vault.Record, error) {
	c.reads["Records"]++
	return c.profile.Records()
}
