package resolve_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// workspace writes the files of an archive to a folder and loads the registry
// among them.
func workspace(tb testing.TB, archive string) *registry.Registry {
	tb.Helper()
	dir := tb.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		write(tb, filepath.Join(dir, filepath.FromSlash(file.Name)), string(file.Data))
	}
	return load(tb, dir)
}

func load(tb testing.TB, dir string) *registry.Registry {
	tb.Helper()
	reg, err := registry.Load(filepath.Join(dir, "registry.yaml"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return reg
}

func write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// mustResolve resolves a repo that has to be found, and closes it at the end.
func mustResolve(tb testing.TB, r *resolve.Resolver, id string) *resolve.Repo {
	tb.Helper()
	repo, err := r.Resolve(tb.Context(), id)
	if err != nil {
		tb.Fatalf("Resolve(%q): %v", id, err)
	}
	tb.Cleanup(func() {
		if err := repo.Close(); err != nil {
			tb.Error(err)
		}
	})
	return repo
}

// codeOf returns the code of an error of this package, "" for nil.
func codeOf(tb testing.TB, err error) resolve.Code {
	tb.Helper()
	if err == nil {
		return ""
	}
	var e *resolve.Error
	if !errors.As(err, &e) {
		tb.Fatalf("error %v is a %T, want a *resolve.Error", err, err)
	}
	if e.ErrorCode() != string(e.Code) || e.Error() == "" {
		tb.Fatalf("error %#v: code or text is missing", e)
	}
	return e.Code
}

// counter counts file operations.
type counter struct {
	mu     sync.Mutex
	all    int
	failed []rootfs.Event
}

func (c *counter) count(e rootfs.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all++
	if e.Err != nil {
		c.failed = append(c.failed, e)
	}
}

// counted returns a resolver whose file operations are counted.
func counted(reg *registry.Registry, opts *resolve.Options) (*resolve.Resolver, *counter) {
	r, c := resolve.New(resolve.Static(reg), opts), new(counter)
	resolve.Trace(r, c.count)
	return r, c
}

func readFile(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
