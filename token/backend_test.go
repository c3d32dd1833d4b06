package token_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/token/tokentest"
)

// memory is a Backend that shares nothing with the log.
type memory struct {
	mu      sync.Mutex
	records []*token.Record
}

func (m *memory) find(hash string) int {
	return slices.IndexFunc(m.records, func(r *token.Record) bool { return r.Hash == hash })
}

func (m *memory) Get(ctx context.Context, hash string) (*token.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.find(hash); i >= 0 {
		return m.records[i], nil
	}
	return nil, nil
}

func (m *memory) Swap(ctx context.Context, changes ...*token.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := slices.Clone(m.records)
	for _, c := range changes {
		i := slices.IndexFunc(next, func(r *token.Record) bool { return r.Hash == c.Hash })
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

func (m *memory) Range(ctx context.Context) iter.Seq2[*token.Record, error] {
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

func TestBackends(t *testing.T) {
	t.Run("log", func(t *testing.T) {
		tokentest.Run(t, func(t *testing.T) token.Backend {
			t.Helper()
			return token.LogBackend(open(t, t.TempDir(), nil))
		})
	})
	t.Run("log that is written anew all the time", func(t *testing.T) {
		tokentest.Run(t, func(t *testing.T) token.Backend {
			t.Helper()
			disk, err := token.RealDisk(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			s, err := token.OpenOn(disk, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return token.LogBackend(s)
		})
	})
	t.Run("memory", func(t *testing.T) {
		tokentest.Run(t, func(*testing.T) token.Backend { return &memory{} })
	})
}

// brokenBackends are mistakes that authors of backends make.
var brokenBackends = []struct {
	name string
	swap func(m *memory, ctx context.Context, changes []*token.Record) error
}{
	{"ignores versions", func(m *memory, ctx context.Context, changes []*token.Record) error {
		for _, c := range changes {
			fixed := *c
			fixed.Version = 0
			if old, _ := m.Get(ctx, c.Hash); old != nil {
				fixed.Version = old.Version
			}
			if err := m.Swap(ctx, &fixed); err != nil {
				return err
			}
		}
		return nil
	}},
	{"makes changes one by one", func(m *memory, ctx context.Context, changes []*token.Record) error {
		for _, c := range changes {
			if err := m.Swap(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}},
	{"moves what it changes to the end", func(m *memory, ctx context.Context, changes []*token.Record) error {
		if err := m.Swap(ctx, changes...); err != nil {
			return err
		}
		for _, c := range changes {
			if i := m.find(c.Hash); i >= 0 {
				rec := m.records[i]
				m.records = append(slices.Delete(m.records, i, i+1), rec)
			}
		}
		return nil
	}},
	{"answers after the context ended", func(m *memory, ctx context.Context, changes []*token.Record) error {
		return m.Swap(context.WithoutCancel(ctx), changes...)
	}},
}

// broken is a memory with one mistake.
type broken struct {
	memory
	swap func(m *memory, ctx context.Context, changes []*token.Record) error
}

func (b *broken) Swap(ctx context.Context, changes ...*token.Record) error {
	return b.swap(&b.memory, ctx, changes)
}

// TestStoreOnOtherBackend runs a token's life on a backend from the options.
func TestStoreOnOtherBackend(t *testing.T) {
	backend := &memory{}
	a := open(t, "", &token.Options{Backend: backend})
	b := open(t, "", &token.Options{Backend: backend})
	claim := with(func(c *token.Claim) { c.Approved = false })
	text := issue(t, a, claim)
	wantBegin(t, b, text, claim, token.CodePending)
	waiting, err := b.Pending(t.Context())
	if err != nil || len(waiting) != 1 {
		t.Fatalf("Pending gave %d records and %v, want 1", len(waiting), err)
	}
	if err := b.Approve(t.Context(), waiting[0].Hash); err != nil {
		t.Fatal(err)
	}
	use(t, a, text, claim, "done")
	wantBegin(t, b, text, claim, token.CodeUsed)
	if _, err := a.Begin(ended(t), text, claim); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin with an ended context gave %v", err)
	}
}

// brokenEnv makes TestHelperBroken check one of brokenBackends.
const brokenEnv = "TOKEN_TEST_BROKEN"

// TestHelperBroken is run by TestTokentestCatches in a process of its own,
// where it is meant to fail. Otherwise it has nothing to do.
func TestHelperBroken(t *testing.T) {
	for _, b := range brokenBackends {
		if b.name == os.Getenv(brokenEnv) {
			tokentest.Run(t, func(*testing.T) token.Backend { return &broken{swap: b.swap} })
		}
	}
}

func TestTokentestCatches(t *testing.T) {
	for _, b := range brokenBackends {
		t.Run(b.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperBroken$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+b.name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL") {
				t.Errorf("the mistake was not caught: %v\n%s", err, out)
			}
		})
	}
}
