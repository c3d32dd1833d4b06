package tokentest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/token/tokentest"
)

func TestMemory(t *testing.T) {
	tokentest.Run(t, func(t *testing.T) token.Backend {
		t.Helper()
		return &tokentest.Memory{}
	})
}

// brokenBackends are mistakes that authors of backends make.
var brokenBackends = []struct {
	name string
	swap func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error
}{
	{"ignores versions", func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error {
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
	{"makes changes one by one", func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error {
		for _, c := range changes {
			if err := m.Swap(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}},
	{"answers after the context ended", func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error {
		return m.Swap(context.WithoutCancel(ctx), changes...)
	}},
	{"drops receipts", func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error {
		kept := make([]*token.Record, len(changes))
		for i, c := range changes {
			short := *c
			short.Receipt = nil
			kept[i] = &short
		}
		return m.Swap(ctx, kept...)
	}},
	{"alters what it is given", func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error {
		if err := m.Swap(ctx, changes...); err != nil {
			return err
		}
		for _, c := range changes {
			c.Version++
		}
		return nil
	}},
	{"never deletes", func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error {
		kept := slices.DeleteFunc(slices.Clone(changes), func(c *token.Record) bool { return c.State == "" })
		return m.Swap(ctx, kept...)
	}},
}

// broken is a memory with one mistake.
type broken struct {
	tokentest.Memory
	swap func(m *tokentest.Memory, ctx context.Context, changes []*token.Record) error
}

func (b *broken) Swap(ctx context.Context, changes ...*token.Record) error {
	return b.swap(&b.Memory, ctx, changes)
}

// brokenEnv makes TestHelperBroken check one of brokenBackends.
const brokenEnv = "TOKEN_TEST_BROKEN"

// newestFirst is a Memory with another mistake.
type newestFirst struct{ tokentest.Memory }

func (n *newestFirst) Range(ctx context.Context) iter.Seq2[*token.Record, error] {
	return func(yield func(*token.Record, error) bool) {
		var all []*token.Record
		for rec, err := range n.Memory.Range(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			all = append(all, rec)
		}
		for _, rec := range slices.Backward(all) {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// TestHelperBroken is run by TestTokentestCatches in a process of its own,
// where it is meant to fail. Otherwise it has nothing to do.
func TestHelperBroken(t *testing.T) {
	if os.Getenv(brokenEnv) == "yields the newest first" {
		tokentest.Run(t, func(*testing.T) token.Backend { return &newestFirst{} })
	}
	for _, b := range brokenBackends {
		if b.name == os.Getenv(brokenEnv) {
			tokentest.Run(t, func(*testing.T) token.Backend { return &broken{swap: b.swap} })
		}
	}
}

func TestTokentestCatches(t *testing.T) {
	names := []string{"yields the newest first"}
	for _, b := range brokenBackends {
		names = append(names, b.name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperBroken$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL") {
				t.Errorf("the mistake was not caught: %v\n%s", err, out)
			}
		})
	}
}

func ExampleMemory() {
	store, err := token.Open("", &token.Options{Backend: &tokentest.Memory{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Begin(context.Background(), "guessed", token.Claim{})
	fmt.Println(token.CodeOf(err))
	// Output:
	// approval_invalid
}
