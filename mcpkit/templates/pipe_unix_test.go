//go:build unix

package templates_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/treetest"
	"github.com/mcpcontract/mcpcontract/mcpkit/templates"
)

// A pipe in the place of a template is refused, and nobody waits for a writer.
func TestLoadPipe(t *testing.T) {
	for _, name := range []string{"templates.yaml", "provider/record"} {
		dir := t.TempDir()
		for file, f := range sample() {
			treetest.Write(t, dir, file, string(f.Data))
		}
		pipe := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.Remove(pipe); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		_, err = templates.Load(root.FS(), nil)
		if templates.CodeOf(err) != templates.CodeUnreadable || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: got %v, want %s", name, err, templates.CodeUnreadable)
		}
	}
}
