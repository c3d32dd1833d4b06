package page_test

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

func FuzzEdit(f *testing.F) {
	f.Add([]byte("---\nid: a\ntitle: 'b' # c\ntags:\n  - x # y\n---\n# H\n[[l]]\n"), "T", "tag", "body", uint8(0xff))
	f.Add([]byte("\ufeff---\r\ntitle: |\r\n  b\r\nz: {a: b}\r\n---\r\n"), "a: b", "-", "", uint8(0x0a))
	f.Add([]byte("# H\n```\n# x\n"), "yes", "#", "---\nid: x\n---\n", uint8(0x1a))
	f.Add([]byte("---\n{title: a, tags: [b]}\n---"), "é\"\\", "[", "\ufeff", uint8(0x1a))
	f.Add([]byte("---\ntitle: a\xc2\x85z: b\n---\n\xff"), "404", "~", "x", uint8(0x12))
	f.Add([]byte("---\ntags:\n  - a\n  -\n    other\n  -\n---\n"), "T", "q", "", uint8(0x08))
	f.Fuzz(func(t *testing.T, raw []byte, title, item, body string, set uint8) {
		before := page.Parse("d/x.md", raw)
		checkPage(t, raw, before)
		same, err := page.Edit("d/x.md", raw, page.Fields{})
		if err != nil || !bytes.Equal(same, raw) {
			t.Fatalf("an edit of nothing gives %q, %v", same, err)
		}
		fields := someFields(title, item, body, set)
		out, err := page.Edit("d/x.md", raw, fields)
		if err != nil {
			return
		}
		after := page.Parse("d/x.md", out)
		checkPage(t, out, after)
		checkEdited(t, before, after, fields)
		again, err := page.Edit("d/x.md", out, fields)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("the same edit again gives %q, %v; want %q", again, err, out)
		}
	})
}

// someFields sets the fields that have a bit in set.
func someFields(title, item, body string, set uint8) page.Fields {
	var f page.Fields
	list, text := []string{item, "other"}, []byte(body)
	for bit, apply := range []func(){
		func() { f.ID = &item },
		func() { f.Title = &title },
		func() { f.Status = &title },
		func() { f.Tags = &list },
		func() { f.Body = &text },
	} {
		if set>>bit&1 != 0 {
			apply()
		}
	}
	return f
}

// checkPage checks what holds for every page.
func checkPage(t *testing.T, raw []byte, p page.Page) {
	t.Helper()
	if !bytes.HasSuffix(raw, p.Body) {
		t.Fatalf("body %q is not the end of %q", p.Body, raw)
	}
	if p.ID == "" || p.Title == "" || p.Kind == "" || !utf8.ValidString(p.Title) {
		t.Fatalf("id %q, title %q, kind %q", p.ID, p.Title, p.Kind)
	}
	end := 0
	names := make(map[string]bool)
	for i, s := range p.Sections {
		if s.Start != end || s.End <= s.Start || names[s.Name] || (s.Name == "") != (s.Level == 0) || s.Level == 0 && i > 0 {
			t.Fatalf("sections %+v of %q", p.Sections, raw)
		}
		end, names[s.Name] = s.End, true
	}
	if end != len(raw) {
		t.Fatalf("sections end at %d of %d", end, len(raw))
	}
	for _, l := range p.SectionLinks {
		if !slices.Contains(p.Links, l.ID) || l.Section == "" {
			t.Fatalf("link %+v is none of %q", l, p.Links)
		}
	}
}

// checkEdited checks that the fields are set and all others as they were.
func checkEdited(t *testing.T, before, after page.Page, f page.Fields) {
	t.Helper()
	want := before
	for _, s := range []struct{ value, field *string }{{f.ID, &want.ID}, {f.Title, &want.Title}, {f.Status, &want.Status}} {
		if s.value != nil {
			*s.field = *s.value
		}
	}
	if f.Tags != nil {
		want.Tags = *f.Tags
	}
	if f.Body != nil {
		want.Body = *f.Body
	}
	if f.Title == nil && (f.Body != nil || f.ID != nil) {
		want.Title = after.Title // it may come from what was changed
	}
	if after.ID != want.ID || after.Kind != want.Kind || after.Title != want.Title || after.Status != want.Status ||
		!slices.Equal(after.Tags, want.Tags) || !slices.Equal(after.DependsOn, want.DependsOn) || !bytes.Equal(after.Body, want.Body) {
		t.Fatalf("edited page:\n%+v\nwant:\n%+v", after, want)
	}
}
