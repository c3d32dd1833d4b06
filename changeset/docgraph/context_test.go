package docgraph_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
)

// readAll reads all pages and checks what holds for each.
func readAll(t *testing.T, g *docgraph.Graph, r docgraph.ContextRequest) (pieces []docgraph.Piece, pages int) {
	t.Helper()
	for {
		c, err := g.Context(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Pieces) == 0 {
			t.Fatal("an empty page")
		}
		if n := wireSize(t, c.Pieces); r.MaxBytes > 0 && n > r.MaxBytes {
			t.Fatalf("a page of %d bytes, want at most %d", n, r.MaxBytes)
		}
		pieces = append(pieces, c.Pieces...)
		pages++
		if c.Complete {
			if c.Next != (docgraph.Position{}) {
				t.Fatalf("Next of the last page is %+v", c.Next)
			}
			return pieces, pages
		}
		r.From = c.Next
	}
}

// wireSize is the length of pieces as a server may write them.
func wireSize(t *testing.T, pieces []docgraph.Piece) int {
	t.Helper()
	type wire struct {
		ID      string `json:"id"`
		Section string `json:"section"`
		SHA256  string `json:"sha256"`
		Text    string `json:"text,omitempty"`
		Reused  bool   `json:"reused,omitempty"`
		Offset  int    `json:"offset,omitempty"`
		Size    int    `json:"size,omitempty"`
	}
	var list []wire
	for _, p := range pieces {
		list = append(list, wire{p.ID, p.Name, p.SHA256, p.Text, p.Reused, p.Offset, p.Size})
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// shape returns "id#section" of pieces, with marks for parts and reuse.
func shape(pieces []docgraph.Piece) []string {
	var list []string
	for _, p := range pieces {
		s := p.ID + "#" + p.Name
		if p.Partial {
			s += fmt.Sprintf(" %d-%d/%d", p.Offset, p.Offset+len(p.Text), p.Size)
		}
		if p.Reused {
			s += " reused"
		}
		list = append(list, s)
	}
	return list
}

// join returns the text of each node.
func join(pieces []docgraph.Piece) map[string]string {
	texts := make(map[string]string)
	for _, p := range pieces {
		texts[p.ID] += p.Text
	}
	return texts
}

// reading is a project to read from.
func reading() map[string]string {
	return map[string]string{
		"top.md":    "---\nid: top\ndepends_on: [near, other]\n---\n# Top\n\ntext\n\n## Part\n\nmore\n",
		"near.md":   "---\nid: near\ndepends_on: [far]\n---\nnear\n",
		"other.md":  "# Other\n",
		"far.md":    "# Far\n```\n# not closed\n",
		"aside.md":  "# Aside\n",
		"empty.md":  "",
		"needs.md":  "---\ndepends_on: [empty, needs, top, lost]\n---\n",
		"latin.md":  "# caf\xe9\n## Two\n",
		"fences.md": "# A\n```\n# B\n```\n# C\n",
		"code.md":   "# A\n```\nB\n```\n# C\n",
	}
}

func TestContextOrder(t *testing.T) {
	g := load(t, reading())
	tests := []struct {
		id   string
		want []string
	}{
		{"top", []string{"top#", "top#top", "top#part", "near#", "other#other", "far#*"}},
		{"needs", []string{"needs#", "empty#", "top#", "top#top", "top#part", "near#", "other#other", "far#*"}},
		{"latin", []string{"latin#*"}},
		{"fences", []string{"fences#*"}},
		{"code", []string{"code#a", "code#c"}},
		{"empty", []string{"empty#"}},
	}
	for _, tc := range tests {
		pieces, pages := readAll(t, g, docgraph.ContextRequest{ID: tc.id})
		if diff := cmp.Diff(tc.want, shape(pieces)); diff != "" || pages != 1 {
			t.Errorf("Context(%s): %d pages (-want +got):\n%s", tc.id, pages, diff)
		}
		sections, err := g.Sections(tc.id)
		if err != nil || len(sections) != len(pieces) {
			t.Fatalf("%d sections for %d pieces, %v", len(sections), len(pieces), err)
		}
		for i, p := range pieces {
			if sections[i] != p.Section {
				t.Errorf("section %d is %+v, piece is %+v", i, sections[i], p.Section)
			}
			if sum := sha256.Sum256([]byte(p.Text)); p.ID != "latin" && p.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%s#%s: sha256 is not that of the text", p.ID, p.Name)
			}
		}
	}
}

// Whatever the page size, all pages together are the files, byte for byte.
func TestContextPages(t *testing.T) {
	files := map[string]string{
		"a.md": "---\nid: a\ndepends_on: [b, c]\n---\n# A\n" + strings.Repeat("Some \"quoted\" <b>text</b> & more.\n", 60) + "## Two\nshort\n## Three\nshort\n",
		"b.md": "# B\n" + strings.Repeat("文档é😀", 300),
		"c.md": "# C\n\x01\u2028" + strings.Repeat("\\", 500) + "\n",
	}
	g := load(t, files)
	for _, size := range []int{docgraph.MinPage, 300, 511, 1024, 5000, docgraph.MaxPage} {
		pieces, pages := readAll(t, g, docgraph.ContextRequest{ID: "a", MaxBytes: size})
		if diff := cmp.Diff(map[string]string{"a": files["a.md"], "b": files["b.md"], "c": files["c.md"]}, join(pieces)); diff != "" {
			t.Errorf("size %d (-want +got):\n%s", size, diff)
		}
		for i, p := range pieces {
			whole := p.Offset == 0 && len(p.Text) == p.Size
			if p.Partial == whole {
				t.Errorf("size %d: piece %d is partial %v: %s", size, i, p.Partial, shape(pieces[i:i+1]))
			}
		}
		if size == docgraph.MaxPage && pages != 1 || size == 1024 && pages < 5 {
			t.Errorf("size %d: %d pages", size, pages)
		}
	}
}

// Bytes that are replaced in a page count as what is sent for them.
func TestContextOfBrokenText(t *testing.T) {
	text := strings.Repeat("\xffa", 500)
	g := load(t, map[string]string{"a.md": text})
	pieces, pages := readAll(t, g, docgraph.ContextRequest{ID: "a", MaxBytes: 512}) // which holds each page to its size
	if got := join(pieces)["a"]; got != strings.ToValidUTF8(text, "\ufffd") || pages < 4 {
		t.Errorf("%d pages, %q", pages, got)
	}
}

// A section is whole on a page or begins one.
func TestContextSections(t *testing.T) {
	g := load(t, map[string]string{"a.md": "# One\n" + strings.Repeat("x", 150) + "\n# Two\n" + strings.Repeat("line\n", 300) + "# Three\n"})
	var got [][]string
	r := docgraph.ContextRequest{ID: "a", MaxBytes: 600}
	for {
		c, err := g.Context(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, shape(c.Pieces))
		if c.Complete {
			break
		}
		r.From = c.Next
	}
	want := [][]string{
		{"a#one"},
		{"a#two 0-361/1506"},
		{"a#two 361-721/1506"},
		{"a#two 721-1081/1506"},
		{"a#two 1081-1441/1506"},
		{"a#two 1441-1506/1506", "a#three"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// What the caller holds is named and not sent; what changed is sent.
func TestContextKnown(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/a.md": "---\nid: a\ndepends_on: [b]\n---\n# One\nold\n# Two\n", "docs/b.md": "# B\n"})
	p := open(t, dir, nil)
	known, err := graph(t, p).Sections("a")
	if err != nil {
		t.Fatal(err)
	}
	pieces, _ := readAll(t, graph(t, p), docgraph.ContextRequest{ID: "a", Known: known})
	if diff := cmp.Diff([]string{"a# reused", "a#one reused", "a#two reused", "b#b reused"}, shape(pieces)); diff != "" {
		t.Errorf("nothing changed (-want +got):\n%s", diff)
	}
	write(t, dir, map[string]string{"docs/a.md": "---\nid: a\ndepends_on: [b]\n---\n# One\nnew text\n# Two\n"})
	pieces, _ = readAll(t, graph(t, p), docgraph.ContextRequest{ID: "a", Known: known})
	if diff := cmp.Diff([]string{"a# reused", "a#one", "a#two reused", "b#b reused"}, shape(pieces)); diff != "" {
		t.Errorf("one section changed (-want +got):\n%s", diff)
	}
	if got := join(pieces); got["a"] != "# One\nnew text\n" || got["b"] != "" {
		t.Errorf("texts %q", got)
	}
	lies := []docgraph.Section{{ID: "a", Name: "one", SHA256: known[0].SHA256}, {ID: "b", Name: "one", SHA256: known[1].SHA256}}
	pieces, _ = readAll(t, graph(t, p), docgraph.ContextRequest{ID: "a", Known: lies})
	if diff := cmp.Diff([]string{"a#", "a#one", "a#two", "b#b"}, shape(pieces)); diff != "" {
		t.Errorf("sections that nobody holds (-want +got):\n%s", diff)
	}
}

// A change between two pages is an error, a change back is not.
func TestContextDrift(t *testing.T) {
	dir := t.TempDir()
	text := "# A\n" + strings.Repeat("text\n", 200)
	write(t, dir, map[string]string{"docs/a.md": text, "docs/b.md": "# B\n"})
	p := open(t, dir, nil)
	first, err := graph(t, p).Context(docgraph.ContextRequest{ID: "a", MaxBytes: 300})
	if err != nil || first.Complete {
		t.Fatal("the first page is the last", err)
	}
	next := docgraph.ContextRequest{ID: "a", MaxBytes: 300, From: first.Next}
	write(t, dir, map[string]string{"docs/a.md": "# A\nchanged"})
	_, err = graph(t, p).Context(next)
	wantCode(t, err, docgraph.CodeChanged)
	write(t, dir, map[string]string{"docs/a.md": text})
	if _, err = graph(t, p).Context(next); err != nil {
		t.Errorf("after the change was undone: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "docs", "a.md")); err != nil {
		t.Fatal(err)
	}
	_, err = graph(t, p).Context(next)
	wantCode(t, err, docgraph.CodeNode)
}

func TestContextRefuses(t *testing.T) {
	g := load(t, reading())
	revision := g.Snapshot().Revision
	tests := []struct {
		name    string
		request docgraph.ContextRequest
		code    docgraph.Code
	}{
		{"unknown node", docgraph.ContextRequest{ID: "lost"}, docgraph.CodeNode},
		{"small page", docgraph.ContextRequest{ID: "top", MaxBytes: docgraph.MinPage - 1}, docgraph.CodeBudget},
		{"large page", docgraph.ContextRequest{ID: "top", MaxBytes: docgraph.MaxPage + 1}, docgraph.CodeBudget},
		{"too much known", docgraph.ContextRequest{ID: "top", Known: make([]docgraph.Section, 65_537)}, docgraph.CodeTooMany},
		{"other revision", docgraph.ContextRequest{ID: "top", From: docgraph.Position{Revision: "x", ID: "top"}}, docgraph.CodeChanged},
		{"other node", docgraph.ContextRequest{ID: "top", From: docgraph.Position{Revision: revision, ID: "near"}}, docgraph.CodePosition},
		{"no such node", docgraph.ContextRequest{ID: "top", From: docgraph.Position{Revision: revision, ID: "top", Node: 4}}, docgraph.CodePosition},
		{"no such section", docgraph.ContextRequest{ID: "top", From: docgraph.Position{Revision: revision, ID: "top", Section: 3}}, docgraph.CodePosition},
		{"no such byte", docgraph.ContextRequest{ID: "top", From: docgraph.Position{Revision: revision, ID: "top", Offset: 99}}, docgraph.CodePosition},
		{"negative", docgraph.ContextRequest{ID: "top", From: docgraph.Position{Revision: revision, ID: "top", Node: -1}}, docgraph.CodePosition},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := g.Context(tc.request)
			wantCode(t, err, tc.code)
		})
	}
	_, err := g.Sections("lost")
	wantCode(t, err, docgraph.CodeNode)
}

func FuzzContext(f *testing.F) {
	f.Add("# A\ntext\n# B\n", "---\ndepends_on: [a]\n---\n", 256)
	f.Add("文\xff\xfe\n\x00<>&\"", "```\n# x\n", 300)
	f.Add(strings.Repeat("\\", 700), "", 999)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, a, b string, size int) {
		if len(a)+len(b) > 8192 || size < docgraph.MinPage || size > 4096 {
			return
		}
		write(t, dir, map[string]string{"docs/a.md": "---\nid: a\ndepends_on: [b]\n---\n" + a, "docs/b.md": "---\nid: b\n---\n" + b})
		p := open(t, dir, nil)
		defer p.Close()
		g := graph(t, p)
		pieces, _ := readAll(t, g, docgraph.ContextRequest{ID: "a", MaxBytes: size})
		end := make(map[docgraph.Section]int)
		for i, piece := range pieces {
			if piece.Offset != end[piece.Section] {
				t.Fatalf("piece %d starts at %d, the one before ended at %d", i, piece.Offset, end[piece.Section])
			}
			end[piece.Section] = piece.Size
			if i+1 < len(pieces) && pieces[i+1].Section == piece.Section {
				end[piece.Section] = pieces[i+1].Offset
			}
		}
		sections, err := g.Sections("a")
		if err != nil || len(sections) != len(end) {
			t.Fatalf("%d sections delivered of %d, %v", len(end), len(sections), err)
		}
	})
}
