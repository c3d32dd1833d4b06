package docgraph_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// long ago is a time at which no file is being written any more.
var longAgo = time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)

// later is a clock by which what tests write was written a while ago.
func later() time.Time { return time.Now().Add(time.Hour) }

// write writes files below dir, by slash path, as if long ago.
func write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chtimes(full, longAgo, longAgo); err != nil {
			tb.Fatal(err)
		}
	}
}

// open opens the project in dir.
func open(tb testing.TB, dir string, opts *docgraph.Options) *docgraph.Project {
	tb.Helper()
	p, err := docgraph.Open(dir, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Close() })
	return p
}

// graph returns the graph of a project.
func graph(tb testing.TB, p *docgraph.Project) *docgraph.Graph {
	tb.Helper()
	g, err := p.Graph(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// load makes a project of files below docs and returns its graph.
func load(tb testing.TB, files map[string]string) *docgraph.Graph {
	tb.Helper()
	dir := tb.TempDir()
	below := make(map[string]string, len(files))
	for name, text := range files {
		below["docs/"+name] = text
	}
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o755); err != nil {
		tb.Fatal(err)
	}
	write(tb, dir, below)
	return graph(tb, open(tb, dir, nil))
}

// node is the text of a file with dependencies and links.
func node(id, deps string, links ...string) string {
	text := fmt.Sprintf("---\nid: %s\ndepends_on: [%s]\n---\n# %s\n", id, deps, strings.ToUpper(id))
	for _, l := range links {
		text += "[[" + l + "]]\n"
	}
	return text
}

// ids returns the ids of nodes, joined by spaces.
func ids(nodes []changeset.Node) string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.ID)
	}
	return strings.Join(list, " ")
}

// codes returns "code path" of problems, and an E before errors.
func codes(problems []changeset.Problem) []string {
	var list []string
	for _, p := range problems {
		s := p.Code + " " + p.Path
		if p.Severity == changeset.SeverityError {
			s = "E " + s
		}
		list = append(list, s)
	}
	return list
}

// wantCode checks the code of an error.
func wantCode(tb testing.TB, err error, code docgraph.Code) {
	tb.Helper()
	var e *docgraph.Error
	if !errors.As(err, &e) || docgraph.CodeOf(err) != code || e.ErrorCode() != string(code) {
		tb.Errorf("error = %v, want code %s", err, code)
	}
}

// A counter counts files that are opened for reading.
type counter struct {
	mu    sync.Mutex
	paths []string
}

// trace is a trace function for OpenTraced.
func (c *counter) trace(e rootfs.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Op == "open" {
		c.paths = append(c.paths, e.Path)
	}
}

// take returns what was read since the last call.
func (c *counter) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	paths := c.paths
	c.paths = nil
	return paths
}

// many makes a project of n documents of about 2,000 bytes, which depend on and
// link to others, in folders of 100.
func many(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	files := make(map[string]string, n)
	for i := range n {
		files[fmt.Sprintf("docs/part%02d/page%04d.md", i/100, i)] = manyText(i)
	}
	write(tb, dir, files)
	return dir
}

// manyText is the text of document i of many.
func manyText(i int) string {
	words := []string{"storage", "network", "backup", "restore", "monitor", "cluster", "deploy", "rollback", "secret", "policy"}
	var b strings.Builder
	fmt.Fprintf(&b, "---\nid: page-%04d\ntitle: The %s of %s %d\ntags: [%s]\ndepends_on: [page-%04d]\n---\n# Page %d\n", i, words[i%10], words[i/10%10], i, words[i%7], i/2, i)
	for j := range 12 {
		fmt.Fprintf(&b, "\n## About %s %d\n\nWhen the %s fails, look at value%d and ask the %s team about [[page-%04d]] before anything else.\n", words[(i+j)%10], j, words[(i*j)%10], (i*31+j*7)%3000, words[(i+2*j)%10], (i*j)%5000)
	}
	return b.String()
}
