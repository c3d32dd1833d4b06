package token_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
)

func put(t *testing.T, r *token.Retained, scope string, sections map[string]string) string {
	t.Helper()
	tok, err := r.Put(scope, sections)
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	return tok.Reveal()
}

// known reports whether a context token is known in a scope.
func known(t *testing.T, r *token.Retained, scope, text string) bool {
	t.Helper()
	_, err := r.Get(scope, text)
	if err != nil {
		wantCode(t, "Get", err, token.CodeRetained)
	}
	return err == nil
}

func TestRetained(t *testing.T) {
	var r token.Retained
	sections := map[string]string{"plan#goals": sum("a"), "plan#risks": sum("b")}
	want := maps.Clone(sections)
	text := put(t, &r, "ann/atlas", sections)
	clear(sections)
	for range 2 {
		got, err := r.Get("ann/atlas", text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sections (-want +got):\n%s", diff)
		}
		clear(got)
	}
	if !strings.HasPrefix(text, "x1_context_") {
		t.Errorf("token %q", text)
	}
	var other token.Retained
	for name, known := range map[string]bool{
		"another scope":   known(t, &r, "bob/atlas", text),
		"a scope before":  known(t, &r, "ann/atla", text),
		"altered":         known(t, &r, "ann/atlas", text[:len(text)-1]+"-"),
		"empty":           known(t, &r, "ann/atlas", ""),
		"another process": known(t, &other, "ann/atlas", text),
	} {
		if known {
			t.Errorf("%s: the token is known", name)
		}
	}
}

func TestRetainedExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r token.Retained
		text := put(t, &r, "s", nil)
		time.Sleep(30*time.Minute - time.Millisecond)
		if !known(t, &r, "s", text) {
			t.Error("the token is gone before its time")
		}
		time.Sleep(time.Millisecond)
		if known(t, &r, "s", text) {
			t.Error("the token is known after 30 minutes")
		}
	})
	clock := newTestClock()
	r := token.Retained{TTL: time.Minute, Now: clock.Now}
	text := put(t, &r, "s", nil)
	clock.Add(59 * time.Second)
	if !known(t, &r, "s", text) {
		t.Error("TTL of a minute: the token is gone before its time")
	}
	clock.Add(-2 * time.Minute)
	if known(t, &r, "s", text) {
		t.Error("the clock went back and the token lives on")
	}
	if !known(t, &r, "s", put(t, &r, "s", nil)) {
		t.Error("after that no token is known")
	}
}

func TestRetainedBounds(t *testing.T) {
	t.Run("one scope floods", func(t *testing.T) {
		var r token.Retained
		other := put(t, &r, "other", nil)
		var texts []string
		for range 70 {
			texts = append(texts, put(t, &r, "flood", nil))
		}
		if !known(t, &r, "other", other) {
			t.Error("the token of another scope was pushed out")
		}
		for i, text := range texts {
			if want := i >= 6; known(t, &r, "flood", text) != want {
				t.Errorf("token %d of 70 is known: %v", i, !want)
			}
		}
	})
	t.Run("many scopes", func(t *testing.T) {
		var r token.Retained
		var texts []string
		for i := range 1030 {
			texts = append(texts, put(t, &r, fmt.Sprint(i), nil))
		}
		for i, text := range texts {
			if want := i >= 6; known(t, &r, fmt.Sprint(i), text) != want {
				t.Errorf("token %d of 1030 is known: %v", i, !want)
			}
		}
	})
	t.Run("many sections", func(t *testing.T) {
		var r token.Retained
		sections := map[string]string{}
		for i := range 4096 {
			sections[fmt.Sprint(i)] = ""
		}
		first := put(t, &r, "0", sections)
		for i := range 15 {
			put(t, &r, fmt.Sprint(i), sections)
		}
		if !known(t, &r, "0", first) {
			t.Error("65,536 sections do not fit")
		}
		put(t, &r, "x", map[string]string{"one": "more"})
		if known(t, &r, "0", first) {
			t.Error("more than 65,536 sections are kept")
		}
	})
	for name, c := range map[string]struct {
		scope    string
		sections map[string]string
	}{
		"no scope":    {"", nil},
		"long scope":  {strings.Repeat("s", 1025), nil},
		"long name":   {"s", map[string]string{strings.Repeat("n", 1025): ""}},
		"long digest": {"s", map[string]string{"n": strings.Repeat("d", 129)}},
	} {
		t.Run(name, func(t *testing.T) {
			var r token.Retained
			_, err := r.Put(c.scope, c.sections)
			wantCode(t, "Put", err, token.CodeTooLarge)
		})
	}
	t.Run("too many sections", func(t *testing.T) {
		sections := map[string]string{}
		for i := range 4097 {
			sections[fmt.Sprint(i)] = ""
		}
		var r token.Retained
		_, err := r.Put("s", sections)
		wantCode(t, "Put", err, token.CodeTooLarge)
	})
}

func TestRetainedConcurrently(t *testing.T) {
	var r token.Retained
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			scope := fmt.Sprint(i)
			for range 50 {
				tok, err := r.Put(scope, map[string]string{"a": "b"})
				if err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				if _, err := r.Get(scope, tok.Reveal()); err != nil {
					t.Errorf("Get: %v", err)
				}
			}
		})
	}
	group.Wait()
}
