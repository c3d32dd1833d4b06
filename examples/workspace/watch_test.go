package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// TestWatch adds a repo to the registry under the server, then breaks the registry.
func TestWatch(t *testing.T) {
	t.Parallel()
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		dir := sampleWorkspace(t)
		name := filepath.Join(dir, "workspace-registry.yaml")
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, id, "-root", dir, "-watch", "10ms")
		if id.PerRequest {
			if err := s.Listen(); err != nil {
				t.Fatal(err)
			}
			s.next(t, "notifications/subscriptions/acknowledged")
		}
		// At this interval, a file that is written in place may be seen empty.
		replace := func(text string) {
			t.Helper()
			whole := filepath.Join(t.TempDir(), "whole.yaml")
			if err := os.WriteFile(whole, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(whole, name); err != nil {
				t.Fatal(err)
			}
		}
		good := string(before) + "  - {repo_id: notebook, manifest_source: generated, entrypoints: [README.md]}\n"
		replace(good)
		s.next(t, "notifications/resources/list_changed")
		if payload, _, _ := s.call(t, "list_repos", nil); !strings.Contains(payload, `"repo_id":"notebook"`) {
			t.Errorf("the new repo is not there: %s", payload)
		}
		replace(good + "nonsense: true\n")
		patience, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for !strings.Contains(s.Stderr(), "stays in force") && patience.Err() == nil {
			if payload, _, failed := s.call(t, "resolve_repo", args{"repo_id": "notebook"}); failed || !strings.Contains(payload, "registry-fallback") {
				t.Fatalf("with a broken registry: %s", payload)
			}
		}
		s.Close()
		if err := s.Cmd.Wait(); err != nil {
			t.Errorf("ended with %v", err)
		}
		for _, want := range []string{"was loaded again: 1 change\n", "nonsense", "the registry from before stays in force\n"} {
			if !strings.Contains(s.Stderr(), want) {
				t.Errorf("stderr does not say %q: %s", want, s.Stderr())
			}
		}
	})
}

func (s *server) next(t *testing.T, want string) {
	t.Helper()
	got, err := s.Next()
	if err != nil || got != want {
		t.Fatalf("got %q, %v, want %q; stderr: %s", got, err, want, s.Stderr())
	}
}
