package discovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
