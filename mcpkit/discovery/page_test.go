package discovery_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
)

func TestPageText(t *testing.T) {
	tests := []struct {
		name, text string
		budget     int
		want       []string
	}{
		{"empty", "", 10, []string{""}},
		{"fits", "abc\ndef\n", 20, []string{"abc\ndef\n"}},
		{"at a line end", "abc\ndef\nghi", 14, []string{"abc\ndef\n", "ghi"}},
		{"a line over the budget", "0123456789abc\nx", 10, []string{"0123456789", "abc\nx"}},
		{"between characters", "ääääää", 9, []string{"ääää", "ää"}},
		{"one character over the budget", "\"\"", 1, []string{`"`, `"`}},
		{"escapes count", "\\\\\\\\", 8, []string{`\\`, `\\`}},
		{"line ends of two characters", "a\r\nb\r\n", 9, []string{"a\r\n", "b\r\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for from := 0; ; {
				page, next := discovery.PageText(tt.text, from, tt.budget)
				if got = append(got, page); next == 0 || len(got) > 10 {
					break
				}
				from = next
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzPageText: pages joined are the text, none is empty or over the budget or
// splits a character, and a page ends within a line only if that line does not
// fit.
func FuzzPageText(f *testing.F) {
	f.Add("plain\ntext\n", 8)
	f.Add("\x01<\"\\\u2028ä\r\n", 16)
	f.Fuzz(func(t *testing.T, text string, budget int) {
		if !utf8.ValidString(text) || budget < 8 || budget > 1<<20 {
			t.Skip()
		}
		var joined strings.Builder
		for from := 0; ; {
			page, next := discovery.PageText(text, from, budget)
			joined.WriteString(page)
			if next == 0 {
				break
			}
			if page == "" || next != from+len(page) || !utf8.ValidString(page) {
				t.Fatalf("page %q from %d, next %d", page, from, next)
			}
			if !strings.HasSuffix(page, "\n") && strings.Contains(page, "\n") {
				t.Fatalf("page %q ends within a line and holds a whole one", page)
			}
			if spent := wireCost(t, page); spent > budget {
				t.Fatalf("page %q costs %d of %d", page, spent, budget)
			}
			from = next
		}
		if joined.String() != text {
			t.Fatalf("joined pages differ: %q, want %q", joined.String(), text)
		}
	})
}

// wireCost is the length of text in a JSON string in a JSON string.
func wireCost(t *testing.T, text string) int {
	t.Helper()
	inner, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := json.Marshal(string(inner[1 : len(inner)-1]))
	if err != nil {
		t.Fatal(err)
	}
	return len(outer) - 2
}

func TestCost(t *testing.T) {
	value := map[string]string{"a \"quoted\" name\n": "<&>\u2028\\ ä \x01"}
	inner, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := discovery.Cost(value), wireCost(t, string(inner)); got > want+20 || got < len(inner) {
		t.Errorf("got %d, the wire takes at most %d", got, want)
	}
	if discovery.Cost(func() {}) != 0 {
		t.Error("what cannot be encoded costs something")
	}
}

type textPage struct {
	Text       string
	SHA256     string
	Size       int
	NextCursor string
}

// nasty is text in which every character is dear on the wire.
func nasty() string {
	return strings.Repeat("\"quoted\" \\back\\ <tag> & \x01\x02 \u2028 ä€𝄞\r\n", 300) + strings.Repeat("\x01", 5000) + strings.Repeat("\n", 4000) + strings.Repeat("€", 9000)
}

func TestReadPages(t *testing.T) {
	text := nasty()
	each(t, func(t *testing.T, p *peer, root string) {
		t.Helper()
		write(t, filepath.Join(root, "shop/docs/long.md"), text)
		var joined strings.Builder
		cursor, pages := "", 0
		for ; pages < 1000; pages++ {
			got, size := get[textPage](p, "read_entrypoint", fmt.Sprintf(`{"repo_id":"shop","path":"docs/long.md","cursor":%q}`, cursor))
			if size > 10_000 {
				t.Fatalf("page %d has %d bytes on the wire", pages, size)
			}
			if got.Size != len(text) {
				t.Fatalf("page %d says the file has %d bytes, want %d", pages, got.Size, len(text))
			}
			joined.WriteString(got.Text)
			if cursor = got.NextCursor; cursor == "" {
				break
			}
		}
		if joined.String() != text {
			t.Errorf("%d bytes in %d pages differ from the %d bytes of the file", joined.Len(), pages, len(text))
		}
	})
}

// A page of ordinary text uses most of the budget.
func TestReadPagesAreFull(t *testing.T) {
	each(t, func(t *testing.T, p *peer, root string) {
		t.Helper()
		write(t, filepath.Join(root, "shop/docs/long.md"), strings.Repeat("An ordinary line of a document, as people write it.\n", 1000))
		if _, size := get[textPage](p, "read_entrypoint", `{"repo_id":"shop","path":"docs/long.md"}`); size < 8_000 {
			t.Errorf("the page has only %d bytes on the wire", size)
		}
	})
}

func TestReadStale(t *testing.T) {
	each(t, func(t *testing.T, p *peer, root string) {
		t.Helper()
		name := filepath.Join(root, "shop/docs/contracts.md")
		for tool, args := range map[string]string{
			"read_entrypoint": `{"repo_id":"shop","path":"docs/contracts.md"%s}`,
			"read_view":       `{"repo_id":"shop","view":"contracts"%s}`,
		} {
			write(t, name, strings.Repeat("before\n", 3000))
			got, _ := get[textPage](p, tool, fmt.Sprintf(args, ""))
			if got.NextCursor == "" {
				t.Fatalf("%s: one page", tool)
			}
			next := fmt.Sprintf(args, fmt.Sprintf(`,"cursor":%q`, got.NextCursor))
			write(t, name, strings.Repeat("after!\n", 3000))
			if e := p.refused(tool, next); e.Code != "snapshot_changed" {
				t.Errorf("%s: got %+v, want snapshot_changed", tool, e)
			}
			if again, _ := get[textPage](p, tool, fmt.Sprintf(args, "")); !strings.HasPrefix(again.Text, "after!") {
				t.Errorf("%s: starting again gives %.20q", tool, again.Text)
			}
			// A cursor of one tool does not open in another query.
			other := fmt.Sprintf(`{"repo_id":"ledger","view":"capabilities","cursor":%q}`, got.NextCursor)
			if e := p.refused("read_view", other); e.Code != "cursor_invalid" {
				t.Errorf("%s: got %+v, want cursor_invalid", tool, e)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if e := p.refused(tool, next); e.Code != "file_missing" {
				t.Errorf("%s: got %+v, want file_missing", tool, e)
			}
		}
	})
}

func TestScanPages(t *testing.T) {
	type file struct {
		Path string
		Size int64
	}
	each(t, func(t *testing.T, p *peer, root string) {
		t.Helper()
		const n = 200
		for i := range n {
			write(t, filepath.Join(root, "shop/docs/adr", fmt.Sprintf("%04d-a decision & its <reasons>.md", i)[:20]), "x")
		}
		var paths []string
		args, first := `{"repo_id":"shop","type":"adr"}`, ""
		for {
			got, size := get[page[file]](p, "scan_root", args)
			if size > 10_000 {
				t.Fatalf("a page has %d bytes on the wire", size)
			}
			for _, f := range got.Items {
				paths = append(paths, f.Path)
			}
			if got.NextCursor == "" {
				break
			}
			args = fmt.Sprintf(`{"repo_id":"shop","type":"adr","cursor":%q}`, got.NextCursor)
			first = args
		}
		if len(paths) != n || paths[n-1] != "docs/adr/0199-a decision & it" {
			t.Errorf("got %d paths, the last %q", len(paths), paths[len(paths)-1])
		}
		write(t, filepath.Join(root, "shop/docs/adr/more.md"), "x")
		if e := p.refused("scan_root", first); e.Code != "snapshot_changed" {
			t.Errorf("got %+v, want snapshot_changed", e)
		}
	})
}
