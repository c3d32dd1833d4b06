package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry"
)

const interval = time.Second

// listing is a registry file with the given repos.
func listing(ids ...string) string {
	var b strings.Builder
	b.WriteString("schema_version: \"1.0\"\nkind: workspace_registry\ndefaults: {manifest_source: generated, entrypoints: [README.md]}\nrepos:\n")
	for _, id := range ids {
		b.WriteString("  - repo_id: " + id + "\n")
	}
	return b.String()
}

// put writes a file with the given time of change.
func put(t *testing.T, path, text string, mod time.Time) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, mod, mod); err != nil {
		t.Fatal(err)
	}
}

// watching is a watcher of one file, and what it told.
type watching struct {
	*registry.Watcher
	path   string
	mu     sync.Mutex
	events []string
}

func watch(t *testing.T, text string) *watching {
	t.Helper()
	w := &watching{path: filepath.Join(t.TempDir(), "registry.yaml")}
	put(t, w.path, text, long(0))
	var err error
	w.Watcher, err = registry.Watch(w.path, interval, nil, func(changes []registry.Change, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range changes {
			w.events = append(w.events, string(c.Code)+" "+c.RepoID)
		}
		switch {
		case err != nil:
			w.events = append(w.events, "error "+string(problems(t, err)[0].Code))
		case len(changes) == 0:
			w.events = append(w.events, "same")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// long gives a time of change that is long past, n seconds later for each n.
func long(n int) time.Time { return time.Date(1999, 1, 1, 0, 0, n, 0, time.UTC) }

// pass lets the watcher look n times.
func pass(n int) {
	time.Sleep(time.Duration(n) * interval)
	synctest.Wait()
}

func (w *watching) want(t *testing.T, ids string, events ...string) {
	t.Helper()
	var have []string
	for repo := range w.Registry().Repos() {
		have = append(have, repo.ID)
	}
	if got := strings.Join(have, " "); got != ids {
		t.Errorf("the registry in force has %q, want %q", got, ids)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(events, w.events); diff != "" {
		t.Errorf("notified (-want +got):\n%s", diff)
	}
	w.events = nil
}

func TestWatch(t *testing.T) {
	const broken = "schema_version: \"1.0\"\nkind: workspace_registry\nrepos: 7\n"
	cases := []struct {
		name   string
		change func(t *testing.T, w *watching)
		ids    string
		events []string
		failed bool
	}{
		{name: "nothing", change: func(*testing.T, *watching) {}, ids: "a b"},
		{
			name:   "other entries",
			change: func(t *testing.T, w *watching) { t.Helper(); put(t, w.path, listing("b", "c"), long(1)) },
			ids:    "b c", events: []string{"repo_removed a", "repo_added c"},
		},
		{
			name:   "a comment",
			change: func(t *testing.T, w *watching) { t.Helper(); put(t, w.path, listing("a", "b")+"# end\n", long(1)) },
			ids:    "a b", events: []string{"same"},
		},
		{
			name:   "touched",
			change: func(t *testing.T, w *watching) { t.Helper(); put(t, w.path, listing("a", "b"), long(1)) },
			ids:    "a b",
		},
		{
			name:   "not good",
			change: func(t *testing.T, w *watching) { t.Helper(); put(t, w.path, broken, long(1)) },
			ids:    "a b", events: []string{"error wrong_type"}, failed: true,
		},
		{
			name: "gone",
			change: func(t *testing.T, w *watching) {
				t.Helper()
				if err := os.Remove(w.path); err != nil {
					t.Fatal(err)
				}
			},
			ids: "a b", events: []string{"error unreadable"}, failed: true,
		},
		{
			name: "replaced by one of the same size and time",
			change: func(t *testing.T, w *watching) {
				t.Helper()
				put(t, w.path+".new", listing("a", "c"), long(0))
				if err := os.Rename(w.path+".new", w.path); err != nil {
					t.Fatal(err)
				}
			},
			ids: "a c", events: []string{"repo_removed b", "repo_added c"},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch(t, listing("a", "b"))
				defer w.Close()
				pass(2)
				tc.change(t, w)
				pass(6)
				w.want(t, tc.ids, tc.events...)
				if failed := w.Err() != nil; failed != tc.failed {
					t.Errorf("Err gives %v", w.Err())
				}
				put(t, w.path, listing("z"), long(9))
				pass(2)
				if _, ok := w.Registry().Lookup("z"); !ok || w.Err() != nil {
					t.Errorf("a good file afterwards is not in force: %v", w.Err())
				}
			})
		})
	}
}

func TestWatchRecoversOldContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, listing("a"))
		defer w.Close()
		put(t, w.path, "repos: [", long(1))
		pass(2)
		w.want(t, "a", "error syntax")
		put(t, w.path, listing("a"), long(0))
		pass(2)
		w.want(t, "a", "same")
		if w.Err() != nil {
			t.Errorf("Err gives %v though the file is good again", w.Err())
		}
	})
}

// A file that somebody writes slowly is a good registry at many lengths, and none of them is meant.
func TestWatchWaitsForTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, listing("a"))
		defer w.Close()
		pass(3)
		for i, ids := range [][]string{{"a", "b"}, {"a", "b", "c"}, {"a", "b", "c", "d"}} {
			put(t, w.path, listing(ids...), long(i+1))
			pass(1)
			w.want(t, "a")
		}
		pass(1)
		w.want(t, "a b c d", "repo_added b", "repo_added c", "repo_added d")
	})
}

// A write that leaves size and time as they were is seen if the time was recent when the file was read.
func TestWatchRecentFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, listing("a"))
		defer w.Close()
		now := time.Now()
		put(t, w.path, listing("b"), now)
		pass(2)
		w.want(t, "b", "repo_removed a", "repo_added b")
		put(t, w.path, listing("c"), now)
		pass(1)
		w.want(t, "c", "repo_removed b", "repo_added c")
	})
}

func TestWatchRefuses(t *testing.T) {
	_, err := registry.Watch(filepath.Join(t.TempDir(), "none.yaml"), 0, nil, nil)
	if got := problems(t, err)[0].Code; got != registry.Unreadable {
		t.Errorf("code %s", got)
	}
}

func TestWatchClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "registry.yaml")
		put(t, path, listing("a"), long(0))
		entered, leave := make(chan bool), make(chan bool)
		w, err := registry.Watch(path, -1, nil, func([]registry.Change, error) { entered <- true; <-leave })
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, listing("b"), long(1))
		<-entered
		if _, ok := w.Registry().Lookup("b"); !ok {
			t.Error("a reader is told before the registry is in force, or has to wait")
		}
		closed := make(chan error)
		go func() { closed <- w.Close() }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close did not wait for the call under way")
		default:
		}
		leave <- true
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		put(t, path, listing("c"), long(2))
		time.Sleep(time.Minute)
		if _, ok := w.Registry().Lookup("b"); !ok {
			t.Error("a closed watcher changed")
		}
	})
}

// Readers get one whole registry or the other at every moment.
func TestWatchManyReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, listing("a1", "a2"))
		defer w.Close()
		var readers sync.WaitGroup
		stop := make(chan bool)
		for range 4 {
			readers.Go(func() {
				for {
					reg := w.Registry()
					_, a1 := reg.Lookup("a1")
					_, a2 := reg.Lookup("a2")
					if a1 != a2 || reg.Len() != 2 {
						t.Error("a reader saw a registry that never was")
					}
					select {
					case <-stop:
						return
					case <-time.After(interval / 10):
					}
				}
			})
		}
		for i, ids := range [][]string{{"b1", "b2"}, {"a1", "a2"}, {"b1", "b2"}} {
			put(t, w.path, listing(ids...), long(i+1))
			pass(3)
		}
		close(stop)
		readers.Wait()
	})
}
