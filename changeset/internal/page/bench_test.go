package page_test

import (
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

// typical is a page of about 2,000 bytes.
func typical() []byte {
	return []byte("---\nid: backup\nkind: guide\ntitle: Backups\ndepends_on: [storage, network]\ntags: [ops]\n---\n# Backups\n\n" +
		strings.Repeat("## Part\n\nSome words about [[storage]] and `code` in a line of text.\n\n```sh\n# no heading\nrun --all\n```\n\n- one\n- two\n\n", 15))
}

func TestParseAllocs(t *testing.T) {
	raw := typical()
	plain := raw[strings.Index(string(raw), "# Backups"):]
	for _, tc := range []struct {
		name   string
		raw    []byte
		budget float64
	}{{"front matter", raw, 220}, {"no front matter", plain, 110}} {
		got := testing.AllocsPerRun(20, func() { page.Parse("guides/backup.md", tc.raw) })
		if got > tc.budget {
			t.Errorf("%s: Parse allocates %.0f times, budget %.0f", tc.name, got, tc.budget)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	raw := typical()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		page.Parse("guides/backup.md", raw)
	}
}

func BenchmarkEdit(b *testing.B) {
	raw, title := typical(), "New title"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := page.Edit("guides/backup.md", raw, page.Fields{Title: &title}); err != nil {
			b.Fatal(err)
		}
	}
}
