package documents_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/mcpkit/documents"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

type contextSection struct {
	ID, Section, SHA256, Text string
	Reused, Partial           bool
	Offset                    int
}

type contextPage struct {
	Sections             []contextSection
	Complete             bool
	NextCursor           string
	RetainedContextToken string
	Provenance           provenance
}

// readAll reads every page of a context.
func readAll(tb testing.TB, c *wiretest.Peer, fields ...any) []contextPage {
	tb.Helper()
	var pages []contextPage
	args := fields
	for range 1000 {
		page := get[contextPage](tb, c, "get_context", object(args...))
		pages = append(pages, page)
		if page.Complete != (page.NextCursor == "") || page.Complete != (page.RetainedContextToken != "") {
			tb.Fatalf("page %d: complete %v, cursor %q, token %q", len(pages), page.Complete, page.NextCursor, page.RetainedContextToken)
		}
		if page.Complete {
			return pages
		}
		args = append(append([]any{}, fields...), "cursor", page.NextCursor)
	}
	tb.Fatal("no end")
	return nil
}

func sections(pages []contextPage) []contextSection {
	var all []contextSection
	for _, p := range pages {
		all = append(all, p.Sections...)
	}
	return all
}

// text joins what was delivered.
func text(pages []contextPage) string {
	var b strings.Builder
	for _, s := range sections(pages) {
		b.WriteString(s.Text)
	}
	return b.String()
}

func TestContext(t *testing.T) {
	t.Parallel()
	files := sample()
	files["docs/storage.md"] += "\n## Details\n\n" + strings.Repeat("More \"details\" about tapes.\n", 300)
	want := files["docs/backup.md"] + files["docs/storage.md"]
	clients(t, func(t *testing.T, name string, era wiretest.Era) {
		t.Helper()
		p := newProject(t, files)
		c := wiretest.Dial(t, p.server(t), era, name)
		pages := readAll(t, c, "id", "backup", "maxBytes", 2000)
		if len(pages) < 4 || text(pages) != want {
			t.Fatalf("%d bytes in %d pages, want %d", len(text(pages)), len(pages), len(want))
		}
		retained := pages[len(pages)-1].RetainedContextToken

		// Who has it all gets nothing twice.
		again := readAll(t, c, "id", "backup", "retainedContextToken", retained)
		if len(again) != 1 || text(again) != "" {
			t.Errorf("%d pages with %d bytes again", len(again), len(text(again)))
		}
		for _, s := range again[0].Sections {
			if !s.Reused || len(s.SHA256) != 64 {
				t.Errorf("section %+v is sent again", s)
			}
		}

		// Of a file that changed only the section that changed is sent.
		p.write(t, "docs/backup.md", strings.Replace(files["docs/backup.md"], "Ask the", "Call the", 1))
		changed := readAll(t, c, "id", "backup", "retainedContextToken", retained)
		if got := text(changed); !strings.Contains(got, "Call the") || strings.Contains(got, "every night") || strings.Contains(got, "tapes") {
			t.Errorf("sent %q", got)
		}
		p.write(t, "docs/backup.md", files["docs/backup.md"])

		// The same by naming sections.
		known := []map[string]string{}
		for _, s := range again[0].Sections {
			if s.ID == "storage" {
				known = append(known, map[string]string{"id": s.ID, "section": s.Section, "sha256": s.SHA256})
			}
		}
		if got := text(readAll(t, c, "id", "backup", "knownSources", known)); got != files["docs/backup.md"] {
			t.Errorf("sent %q", got)
		}
		known[0]["sha256"] = strings.Repeat("0", 64)
		if got := text(readAll(t, c, "id", "backup", "knownSources", known)); got == files["docs/backup.md"] {
			t.Error("a section of another digest was taken for the one that the caller has")
		}

		// Another node has the token's sections in part.
		if got := text(readAll(t, c, "id", "storage", "retainedContextToken", retained)); got != "" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestContextRefusals(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	first := get[contextPage](t, c, "get_context", `{"id":"backup","maxBytes":256}`)
	if first.NextCursor == "" {
		t.Fatal("one page")
	}
	fail(t, c, "cursor_invalid", "get_context", object("id", "storage", "cursor", first.NextCursor))
	fail(t, c, "cursor_invalid", "get_context", object("id", "backup", "cursor", first.NextCursor[1:]))
	fail(t, c, "node_unknown", "get_context", `{"id":"none"}`)
	fail(t, c, "retained_invalid", "get_context", `{"id":"backup","retainedContextToken":"x1_nothing"}`)
	fail(t, c, "invalid_arguments", "get_context", `{"id":"backup","maxBytes":100}`)
	fail(t, c, "invalid_arguments", "get_context", `{"id":"backup","knownSources":[{"id":"a","section":"","sha256":"x"}]}`)
	// A token belongs to the session that got the text.
	token := readAll(t, c, "id", "storage")[0].RetainedContextToken
	get[contextPage](t, c, "get_context", object("id", "storage", "retainedContextToken", token))
	other := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	fail(t, other, "retained_invalid", "get_context", object("id", "storage", "retainedContextToken", token))
	// What is paged has to stay as it is.
	p.write(t, "docs/new.md", "# New\n")
	fail(t, c, documents.CodeSnapshotChanged, "get_context", object("id", "backup", "maxBytes", 256, "cursor", first.NextCursor))
}

// A read that cannot tell the sections of a file delivers all of it.
func TestContextAmbiguous(t *testing.T) {
	t.Parallel()
	files := map[string]string{"docs/odd.md": "# Odd\n\n```\nnever closed\n\n# not a heading\n"}
	p := newProject(t, files)
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "codex")
	got := sections(readAll(t, c, "id", "odd"))
	if len(got) != 1 || got[0].Section != "*" || got[0].Text != files["docs/odd.md"] {
		t.Errorf("sections %+v", got)
	}
}

// A project may have its own idea of what belongs to a read.
func TestContextProvider(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	var asked docgraph.ContextRequest
	p.opts.Context = func(_ context.Context, _ *docgraph.Graph, r docgraph.ContextRequest) (*docgraph.Context, error) {
		asked = r
		if r.ID == "storage" {
			return nil, errors.New("nothing to say")
		}
		return &docgraph.Context{Complete: true, Pieces: []docgraph.Piece{{
			Section: docgraph.Section{ID: r.ID, Name: "summary", SHA256: strings.Repeat("a", 64)}, Text: "in short",
		}}}, nil
	}
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	got := get[contextPage](t, c, "get_context", `{"id":"backup","maxBytes":300}`)
	if len(got.Sections) != 1 || got.Sections[0].Text != "in short" || got.RetainedContextToken != "" {
		t.Errorf("page %+v", got)
	}
	if want := (docgraph.ContextRequest{ID: "backup", MaxBytes: 300}); !cmp.Equal(want, asked) {
		t.Errorf("asked for %+v", asked)
	}
	fail(t, c, "internal", "get_context", `{"id":"storage"}`)
}

// Pages stay within what was asked for, and a page of any text within the
// budget of the server.
func TestContextBudget(t *testing.T) {
	t.Parallel()
	files := map[string]string{"docs/dear.md": "# Dear\n\n" + strings.Repeat("\"\\\x01<&>\u2028€", 800)}
	p := newProject(t, files)
	for _, name := range []string{"zed", "codex"} {
		c := wiretest.Dial(t, p.server(t), wiretest.Stateless, name)
		for _, maxBytes := range []int{256, 9_000, 16_000} {
			pages := readAll(t, c, "id", "dear", "maxBytes", maxBytes)
			if got := text(pages); got != files["docs/dear.md"] {
				t.Errorf("%s, %d: %d bytes, want %d", name, maxBytes, len(got), len(files["docs/dear.md"]))
			}
			if least := len(files["docs/dear.md"]) / maxBytes; len(pages) < least {
				t.Errorf("%s, %d: %d pages", name, maxBytes, len(pages))
			}
		}
	}
}

// Every section has its text or says that it is reused, an empty file too.
func TestContextOfNothing(t *testing.T) {
	t.Parallel()
	files := sample()
	files["docs/empty.md"] = ""
	c := wiretest.Dial(t, newProject(t, files).server(t), wiretest.Stateless, "zed")
	payload := c.Call(t, "get_context", `{"id":"empty"}`).JSON()
	if !strings.Contains(payload, `"text":""`) || strings.Contains(payload, "reused") {
		t.Errorf("got %s, want an empty text", payload)
	}
	page := get[contextPage](t, c, "get_context", `{"id":"empty"}`)
	payload = c.Call(t, "get_context", object("id", "empty", "retainedContextToken", page.RetainedContextToken)).JSON()
	if strings.Contains(payload, `"text"`) || !strings.Contains(payload, `"reused":true`) {
		t.Errorf("got %s, want it reused", payload)
	}
}
