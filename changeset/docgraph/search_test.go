package docgraph_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
)

// found returns the ids of hits.
func found(hits []docgraph.Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Node.ID)
	}
	return strings.Join(list, " ")
}

func TestSearch(t *testing.T) {
	g := load(t, map[string]string{
		"backup.md":   "# Something\n",
		"title.md":    "# Backup\n",
		"tagged.md":   "---\ntitle: T\ntags: [backup]\n---\n",
		"headed.md":   "# T\n## About backup\n",
		"two.md":      "# T\nbackup and backup\n",
		"once.md":     "# T\none backup\n",
		"begin.md":    "# T\nthe backups\n",
		"other.md":    "# T\nreback up\n",
		"both.md":     "# Restore from backup\nquickly\n",
		"latin.md":    "# Café Größe\n",
		"greek.md":    "# ΟΔΟΣ\n",
		"cjk.md":      "# 文档 服务器\n",
		"names.md":    "# T\nset max_retry_count now\n",
		"code.md":     "# T\n```\nfrobnicate()\n```\n",
		"front.md":    "---\nowner: hiddenword\n---\n",
		"ligature.md": "# T\nﬁnal oﬃce\n",
		"bytes.md":    "# T\ncaf\xe9 broken\n",
		"eight.md":    "# T\n" + strings.Repeat("tidal ", 8) + "\n",
		"many.md":     "# T\n" + strings.Repeat("tidal ", 80) + "\n",
	})
	tests := []struct{ query, want string }{
		{"backup", "backup title both tagged headed two once begin"},
		{"BACKUP!", "backup title both tagged headed two once begin"},
		{"backup restore", "both"},
		{"restore from backup", "both"},
		{"quick restore", "both"},
		{"cafe", "latin"},
		{"CAFÉ GRÖSSE", "latin"},
		{"cafe\u0301", "latin"},
		{"οδος", "greek"},
		{"οδοσ", "greek"},
		{"档", "cjk"},
		{"服务", "cjk"},
		{"max_retry", "names"},
		{"retry count", "names"},
		{"frobnicate", "code"},
		{"final office", "ligature"},
		{"broken", "bytes"},
		{"tidal", "eight many"}, // what repeats on and on is no better
		{"hiddenword", ""},
		{"backup nowhere", ""},
	}
	for _, tc := range tests {
		hits, total, err := g.Search(tc.query, 0, 0)
		if err != nil {
			t.Errorf("Search(%q): %v", tc.query, err)
			continue
		}
		if got := found(hits); got != tc.want || total != len(hits) {
			t.Errorf("Search(%q) = %q of %d, want %q", tc.query, got, total, tc.want)
		}
	}
}

// Pages of a search are the search.
func TestSearchPages(t *testing.T) {
	files := make(map[string]string)
	for i := range 45 {
		files[fmt.Sprintf("f%02d.md", i)] = "# T\n" + strings.Repeat("word ", i%4+1)
	}
	g := load(t, files)
	all, total, err := g.Search("word", 0, 100)
	if err != nil || total != 45 || len(all) != 45 {
		t.Fatalf("%d hits of %d, %v", len(all), total, err)
	}
	var pages []docgraph.Hit
	for skip := 0; skip < total; skip += 7 {
		hits, n, err := g.Search("word", skip, 7)
		if err != nil || n != total {
			t.Fatalf("total %d, %v", n, err)
		}
		pages = append(pages, hits...)
	}
	if found(pages) != found(all) {
		t.Errorf("pages: %s\nall: %s", found(pages), found(all))
	}
	for i := 1; i < len(all); i++ {
		if all[i].Score > all[i-1].Score || all[i].Score == all[i-1].Score && all[i].Node.ID < all[i-1].Node.ID {
			t.Errorf("hit %d is out of order", i)
		}
	}
	if hits, n, err := g.Search("word", 100, 7); err != nil || len(hits) != 0 || n != total {
		t.Errorf("beyond the end: %d hits of %d, %v", len(hits), n, err)
	}
}

func TestSearchRefuses(t *testing.T) {
	g := load(t, map[string]string{"a.md": "a"})
	for _, tc := range []struct {
		query       string
		skip, limit int
	}{
		{"", 0, 0},
		{" -*- ", 0, 0},
		{"\xff", 0, 0},
		{strings.Repeat("x", 513), 0, 0},
		{"a b c d e f g h i j k l m n o p q", 0, 0},
		{"a", -1, 0},
		{"a", 0, -1},
		{"a", 0, 101},
	} {
		_, _, err := g.Search(tc.query, tc.skip, tc.limit)
		wantCode(t, err, docgraph.CodeQuery)
	}
}

func TestSnippets(t *testing.T) {
	long := strings.Repeat("filler ", 60)
	tests := []struct{ name, text, query, want string }{
		{"line with most words", "# T\n\nsome alpha here\n\nalpha and beta\n", "alpha beta", "alpha and beta"},
		{"rather no heading", "# alpha\n\nsome alpha\n", "alpha", "some alpha"},
		{"a heading with more words", "# alpha beta\n\nsome alpha\n", "alpha beta", "# alpha beta"},
		{"first of equals", "one alpha\n\ntwo alpha\n", "alpha", "one alpha"},
		{"no match in the text", "---\ntitle: Alpha\n---\n# H\n\nThe first line.\n", "alpha", "The first line."},
		{"nothing at all", "---\ntitle: Alpha\n---\n", "alpha", ""},
		{"spaces and control characters", "a \t alpha\x00\x07  b\n", "alpha", "a alpha b"},
		{"start of a long line", "alpha " + long + "\n", "alpha", "alpha " + strings.TrimSpace(long[:234]) + "…"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			hits, _, err := load(t, map[string]string{"a.md": tc.text}).Search(tc.query, 0, 0)
			if err != nil || len(hits) != 1 {
				t.Fatalf("%d hits, %v", len(hits), err)
			}
			if hits[0].Snippet != tc.want {
				t.Errorf("snippet %q, want %q", hits[0].Snippet, tc.want)
			}
		})
	}
}

// A snippet is bounded, valid text, and shows what was found.
func TestSnippetsOfLongLines(t *testing.T) {
	for _, filler := range []string{"x ", "é ", "文", "ﬁ ", "İ ", "\xff "} {
		text := strings.Repeat(filler, 900) + " needle " + strings.Repeat(filler, 900)
		hits, _, err := load(t, map[string]string{"a.md": text}).Search("needle", 0, 0)
		if err != nil || len(hits) != 1 {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
		s := hits[0].Snippet
		if len(s) > 240+2*len("…") || !utf8.ValidString(s) || !strings.HasPrefix(s, "…") || !strings.HasSuffix(s, "…") {
			t.Errorf("%q: snippet of %d bytes: %q", filler, len(s), s)
		}
		if filler != "ﬁ " && filler != "İ " && !strings.Contains(s, "needle") {
			t.Errorf("%q: the snippet does not show the word: %q", filler, s)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("# Größe\ntext needle\n", "needle")
	f.Add("İ\u0345ﬁ\xff", "i\u0307")
	f.Add("文档\n", "档")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, query string) {
		if len(text) > 4096 {
			return
		}
		write(t, dir, map[string]string{"docs/a.md": "---\nid: only\ntitle: t\n---\n" + text})
		p := open(t, dir, nil)
		defer p.Close()
		g := graph(t, p)
		hits, total, err := g.Search(query, 0, 0)
		if err != nil {
			wantCode(t, err, docgraph.CodeQuery)
			return
		}
		if len(hits) != total || total > 1 {
			t.Fatalf("%d hits of %d", len(hits), total)
		}
		for _, h := range hits {
			if len(h.Snippet) > 250 || !utf8.ValidString(h.Snippet) || strings.ContainsAny(h.Snippet, "\n\r\x00") {
				t.Fatalf("snippet %q", h.Snippet)
			}
		}
		// What stands in the text on its own is found.
		if words := strings.Fields(text); len(words) > 0 && utf8.ValidString(text) && len(words[0]) <= 64 {
			if _, n, err := g.Search(words[0], 0, 0); err == nil && n != 1 {
				t.Fatalf("%q is not found in %q", words[0], text)
			}
		}
	})
}
