package tokentest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/mcpcontract/mcpcontract/token"
)

// A Memory is a [token.Backend] in memory, for the tests of a server. The zero
// Memory is empty and ready for use, and must not be copied after that. It is
// safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	records []*token.Record
}

// find returns the place of a record, or -1.
func find(records []*token.Record, hash string) int {
	return slices.IndexFunc(records, func(r *token.Record) bool { return r.Hash == hash })
}

// Get implements [token.Backend].
func (m *Memory) Get(ctx context.Context, hash string) (*token.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := find(m.records, hash); i >= 0 {
		return m.records[i], nil
	}
	return nil, nil
}

// Swap implements [token.Backend].
func (m *Memory) Swap(ctx context.Context, changes ...*token.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := slices.Clone(m.records)
	for _, c := range changes {
		i := find(next, c.Hash)
		version := int64(0)
		if i >= 0 {
			version = next[i].Version
		}
		if version != c.Version {
			return &token.Error{Code: token.CodeConflict}
		}
		rec := *c
		rec.Version++
		switch {
		case c.State == "":
			next = slices.Delete(next, i, i+1)
		case i >= 0:
			next[i] = &rec
		default:
			next = append(next, &rec)
		}
	}
	m.records = next
	return nil
}

// Range implements [token.Backend].
func (m *Memory) Range(ctx context.Context) iter.Seq2[*token.Record, error] {
	return func(yield func(*token.Record, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		m.mu.Lock()
		all := m.records
		m.mu.Unlock()
		for _, rec := range all {
			if !yield(rec, nil) {
				return
			}
		}
	}
}
