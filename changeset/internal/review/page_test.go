package review_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/mcpcontract/mcpcontract/changeset/internal/review"
)

func parse(t *testing.T, raw []byte) *html.Node {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// withClass returns the nodes of a class, in order.
func withClass(doc *html.Node, class string) []*html.Node {
	var out []*html.Node
	for n := range doc.Descendants() {
		for c := range strings.FieldsSeq(attr(n, "class")) {
			if c == class {
				out = append(out, n)
			}
		}
	}
	return out
}

// change renders one change and returns its page.
func change(t *testing.T, before, after string) *html.Node {
	t.Helper()
	m := &review.Model{Changes: []review.Change{{Op: "update", ID: "x", OldPath: "x.md", NewPath: "x.md", Old: []byte(before), New: []byte(after)}}}
	return parse(t, render(t, "review", m))
}

// rows writes the rows of the first unified table: numbers, sign and text, with
// marked words in brackets.
func rows(doc *html.Node) []string {
	var out []string
	for _, tr := range find(withClass(doc, "unified")[0], "tr")[1:] {
		out = append(out, cells(tr))
	}
	return out
}

func cells(tr *html.Node) string {
	var out []string
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		for _, mark := range find(c, "mark") {
			mark.InsertBefore(&html.Node{Type: html.TextNode, Data: "["}, mark.FirstChild)
			mark.AppendChild(&html.Node{Type: html.TextNode, Data: "]"})
		}
		out = append(out, textOf(c))
	}
	return strings.Join(out, "|")
}

func TestUnified(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"several words": {
			"the red fox and the old dog\n", "the blue fox and the new dog\n",
			[]string{"1||-|the [red] fox and the [old] dog", "|1|+|the [blue] fox and the [new] dog"},
		},
		"unequal counts": {
			"first line of text\nsecond line here\n", "first line of prose\na wholly different thing\nsecond line there\n",
			[]string{
				"1||-|first line of [text]", "2||-|second line [here]",
				"|1|+|first line of [prose]", "|2|+|a wholly different thing", "|3|+|second line [there]",
			},
		},
		"context":       {"c\nd\ne\nf\n", "c\nd\ne\nF\n", []string{"1|1||c", "2|2||d", "3|3||e", "4||-|[f]", "|4|+|[F]"}},
		"no end":        {"a\n", "a", []string{"1||-|a", "|1|+|ano line end"}},
		"empty lines":   {"a\n", "a\n\n", []string{"1|1||a", "|2|+|"}},
		"carriage":      {"a b\r\n", "a b\n", []string{"1||-|a b[[U+000D]]", "|1|+|a b"}},
		"all CR LF":     {"a b c\r\n", "a b d\r\n", []string{"1||-|a b [c]", "|1|+|a b [d]"}},
		"bidi":          {"a b\n", "a \u202eb\n", []string{"1||-|a b", "|1|+|a [[U+202E]]b"}},
		"blanks":        {"a b\n", "a\u00a0b\n", []string{"1||-|a[ ]b", "|1|+|a[[U+00A0]]b"}},
		"wide blanks":   {"a b c d\n", "a b c d\u2003\u3000\n", []string{"1||-|a b c d", "|1|+|a b c d[[U+2003]][\u3000]"}},
		"object":        {"a b\n", "a \ufffcb\n", []string{"1||-|a b", "|1|+|a [[U+FFFC]]b"}},
		"selectors":     {"a b ♥\n", "a b\ufe0f ♥\ufe0f\ufe0f\n", []string{"1||-|[a b ♥]", "|1|+|[a b][[U+FE0F]][ ♥\ufe0f][[U+FE0F]]"}},
		"keycap":        {"a b 1\n", "a b 1\ufe0f\u20e3 <\ufe0e\n", []string{"1||-|[a b 1]", "|1|+|[a b 1\ufe0f\u20e3 <][[U+FE0E]]"}},
		"invalid bytes": {"a \xff c\n", "a \xfe c\n", []string{"1||-|a [[0xFF]] c", "|1|+|a [[0xFE]] c"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := rows(change(t, c.before, c.after))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

// TestSides checks which lines stand side by side.
func TestSides(t *testing.T) {
	doc := change(t,
		"same\nfirst line of text\nto be removed whole\nsecond line here\nend\n",
		"same\na thing in front\nfirst line of prose\nsecond line there\nand one behind it\nend\n")
	var got []string
	for _, tr := range find(withClass(doc, "split")[0], "tr")[1:] {
		got = append(got, cells(tr))
	}
	want := []string{
		"1|same|1|same",
		"||2+|a thing in front",
		"2-|first line of [text]|3+|first line of [prose]",
		"3-|to be removed whole||",
		"4-|second line [here]|4+|second line [there]",
		"||5+|and one behind it",
		"5|end|6|end",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// numbered returns lines from to to.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestFolds(t *testing.T) {
	before := "# Top\n\n" + numbered(3, 300) + "## Low\n\n" + numbered(303, 320)
	after := strings.NewReplacer("line 150\n", "line one fifty\n", "line 310\n", "").Replace(before)
	doc := change(t, before, after)
	var folds, heads []string
	for _, n := range withClass(doc, "gap") {
		folds = append(folds, textOf(find(n, "summary")[0]))
	}
	for _, n := range withClass(doc, "hunk") {
		heads = append(heads, textOf(n))
	}
	wantFolds := []string{"146 unchanged lines, 46 of them not shown", "153 unchanged lines, 53 of them not shown", "7 unchanged lines"}
	if d := cmp.Diff(wantFolds, folds); d != "" {
		t.Errorf("folded lines (-want +got):\n%s", d)
	}
	wantHeads := []string{"Old and new lines 147 to 153 under Top", "Old lines 307 to 313, new lines 307 to 312 under Low"}
	if d := cmp.Diff(append(wantHeads, wantHeads...), heads); d != "" {
		t.Errorf("headings, in both forms (-want +got):\n%s", d)
	}
	first := rows(doc)
	if got := []string{first[0], first[99]}; len(first) != 100 || got[0] != "47|47||line 47" || got[1] != "146|146||line 146" {
		t.Errorf("%d folded rows, first and last %q", len(first), got)
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("word ", 20_000)
	doc := change(t, long+"old end\n", long+"new end\n")
	got := rows(doc)
	if len(got) != 2 || len(got[0]) > 2000 || !strings.Contains(got[0], "bytes not shown)") || !strings.HasSuffix(got[1], "new end") {
		t.Errorf("rows of a long line: %.2000q", got)
	}
	medium := strings.Repeat("word ", 1_500)
	got = rows(change(t, medium+"old end\n", medium+"new end\n"))
	if len(got) != 2 || !strings.HasSuffix(got[0], "[old] end") || !strings.HasSuffix(got[1], "[new] end") {
		t.Errorf("a long line lost its marks: %.2000q", got)
	}
}

func TestMoves(t *testing.T) {
	m := &review.Model{Changes: []review.Change{
		{Op: "move", ID: "a", OldPath: "a.md", NewPath: "b/a.md", Old: []byte("x\n"), New: []byte("x\n")},
		{Op: "move", ID: "c", OldPath: "c.md", NewPath: "d/c.md", Old: []byte("x\n"), New: []byte("y\n")},
	}}
	doc := parse(t, render(t, "review", m))
	moved := withClass(doc, "moved")
	if len(moved) != 2 || textOf(moved[0]) != "Movedfrom a.md \u2192 to  b/a.md" {
		t.Errorf("%d moves, first %q", len(moved), textOf(moved[0]))
	}
	articles := find(doc, "article")
	if len(articles) != 2 || len(find(articles[0], "table")) != 0 || len(find(articles[1], "table")) != 2 {
		t.Error("a diff where only the path changed, or none where the text did too")
	}
}

func TestBlockMoves(t *testing.T) {
	block := "## A section that goes elsewhere\n\nwith its text\n\n"
	rest := numbered(1, 30)
	doc := change(t, "# T\n\n"+block+rest, "# T\n\n"+rest+"\n"+block)
	var got []string
	for _, n := range withClass(doc, "block-move") {
		got = append(got, textOf(n))
	}
	note := "Moved: old lines 3 to 6, new lines 33 to 37."
	if d := cmp.Diff([]string{note, note, note, note}, got); d != "" {
		t.Errorf("both ends in both forms (-want +got):\n%s", d)
	}
	doc = change(t, "a\n"+rest+"b\n", "b\n"+rest+"a\n")
	if n := len(withClass(doc, "block-move")); n != 0 {
		t.Errorf("%d moves of a line that is there by chance", n)
	}
}

// TestProblemsFirst checks that errors come before warnings, and both before the
// contents.
func TestProblemsFirst(t *testing.T) {
	text := textOf(parse(t, render(t, "review", sample())))
	last := -1
	for _, part := range []string{"1 error, 1 warning", "dangling_reference", "base_stale", "Contents", "Set up the bench", "Old lines"} {
		at := strings.Index(text[max(last, 0):], part)
		if at < 0 {
			t.Fatalf("%q does not follow what comes before it", part)
		}
		last = max(last, 0) + at
	}
}

// A problem leads to the change that it is about, if the page shows one.
func TestProblemLinks(t *testing.T) {
	text := []byte("Text.\n")
	m := &review.Model{
		Changes: []review.Change{
			{Op: "create", ID: "new", NewPath: "a.md", New: text},
			{Op: "delete", ID: "old", OldPath: "a.md", Old: text},
			{Op: "delete", ID: "gone", OldPath: "b.md", Old: text},
			{Op: "move", ID: "moved", OldPath: "c.md", NewPath: "d.md", Old: text, New: text},
		},
	}
	for _, p := range []string{"a.md", "b.md", "c.md", "d.md", "", "x\">y"} {
		m.Problems = append(m.Problems, review.Problem{Code: "c", Severity: "error", ID: "n", Path: p, Message: "m"})
	}
	var got []string
	for line := range strings.Lines(string(render(t, "review", m))) {
		if _, where, ok := strings.Cut(line, `<span class="where">`); ok && strings.HasPrefix(line, `<li class="error">`) {
			where, _, _ = strings.Cut(where, "</span>")
			got = append(got, where)
		}
	}
	want := []string{
		`<a href="#change-1">n</a> (a.md)`, `<a href="#change-3">n</a> (b.md)`, `n (c.md)`, `<a href="#change-4">n</a> (d.md)`, `n`, `n (x&#34;&gt;y)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("where problems lead (-want +got):\n%s", diff)
	}
}

func TestDigests(t *testing.T) {
	text := textOf(parse(t, render(t, "review", sample())))
	for _, want := range []string{strings.Repeat("9f", 32), strings.Repeat("1a", 32), strings.Repeat("a0", 32), strings.Repeat("b1", 32)} {
		if !strings.Contains(text, want) {
			t.Errorf("digest %s is not on the page", want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"link":        {"[a](https://x.example/y)", `<p><span class="link">a</span> <span class="address">(https://x.example/y)</span></p>`},
		"relative":    {"[a](../y.md#z)", `<p><span class="link">a</span> <span class="address">(../y.md#z)</span></p>`},
		"script":      {"[a](javascript:x)", `<p><span class="link">a</span> <span class="tag">javascript address dropped</span></p>`},
		"entity":      {"[a](&#106;avascript&colon;x)", `<p><span class="link">a</span> <span class="tag">javascript address dropped</span></p>`},
		"mail":        {"<me@x.example>", `<p><span class="address">(me@x.example)</span></p>`},
		"image":       {"![a *b*](i.png)", `<p><span class="image"><span class="tag">image</span> a b <span class="address">(i.png)</span></span></p>`},
		"raw":         {"a <b>c</b>", `<p>a <code class="raw">&lt;b&gt;</code>c<code class="raw">&lt;/b&gt;</code></p>`},
		"raw block":   {"<meta charset=x>", `<pre class="raw"><code>&lt;meta charset=x&gt;</code></pre>`},
		"heading":     {"# a\n\n###### b", "<h4>a</h4>\n<h6>b</h6>"},
		"in quote":    {"> # a", "<blockquote>\n<h4>a</h4>\n</blockquote>"},
		"task":        {"- [x] a\n- [ ] b", "<ul>\n<li>[x] a</li>\n<li>[ ] b</li>\n</ul>"},
		"front":       {"---\ntitle: t\n---\na", "<p>a</p>"},
		"reference":   {"a&#x202e;b", "<p>a[U+202E]b</p>"},
		"blanks":      {"a\u00a0(b)&nbsp;c\n\n\u2003: d", "<p>a[U+00A0](b)[U+00A0]c</p>\n<p>[U+2003]: d</p>"},
		"nothing":     {"a\ufffc ❤\ufe0f b\ufe0f", "<p>a[U+FFFC] ❤\ufe0f b[U+FE0F]</p>"},
		"table":       {"|a|\n|-:|\n|b|", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">b</td>\n</tr>\n</tbody>\n</table>"},
		"long target": {"[a](" + strings.Repeat("x", 400) + ")", `<p><span class="link">a</span> <span class="address">(` + strings.Repeat("x", 300) + `... (400 bytes))</span></p>`},
	} {
		t.Run(name, func(t *testing.T) {
			m := &review.Model{Changes: []review.Change{{Op: "create", ID: "x", NewPath: "x.md", New: []byte(c.in)}}}
			raw := string(render(t, "review", m))
			_, rest, _ := strings.Cut(raw, `<div class="document">`)
			got, _, _ := strings.Cut(rest, "</div>")
			if d := cmp.Diff(c.want, strings.TrimSpace(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestMarkers holds what one block may cost: its first 400 markers count, and a
// new block begins anew. Unlimited, the second document takes minutes.
func TestMarkers(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want int // emphasised words
	}{
		"two blocks": {strings.Repeat("*a* ", 300) + "\n\n" + strings.Repeat("*a* ", 300), 400},
		"unmatched":  {strings.Repeat("_a*", 40_000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := &review.Model{Changes: []review.Change{{Op: "create", ID: "x", NewPath: "x.md", New: []byte(c.in)}}}
			doc := withClass(parse(t, render(t, "review", m)), "document")[0]
			if got := len(find(doc, "em")); got != c.want {
				t.Errorf("%d emphasised words, want %d", got, c.want)
			}
			if got, want := strings.Count(textOf(doc), "a"), strings.Count(c.in, "a"); got != want {
				t.Errorf("%d of %d words are there", got, want)
			}
		})
	}
}

func TestUnknownRenderer(t *testing.T) {
	_, err := review.Render("sh -c\x00", &review.Model{})
	want := `renderer "sh -c\x00" does not exist: use one of ["outline" "review"]`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestBounds gives more of everything than fits.
func TestBounds(t *testing.T) {
	wide := strings.Repeat("\u202e<", 2000)
	tall := strings.Repeat("\x01\n\n", 10_000)
	long := strings.Repeat("text ", 20_000)
	for name, c := range map[string]struct {
		renderer string
		model    func(*review.Model)
		says     string
	}{
		"changes": {"review", func(m *review.Model) {
			for i := range 8 {
				m.Changes = append(m.Changes, review.Change{Op: "create", ID: fmt.Sprint(i), NewPath: wide, New: []byte(tall)})
			}
		}, "more are not shown: the page would be too large"},
		"one change": {"review", func(m *review.Model) {
			m.Changes = []review.Change{{Op: "create", ID: "x", NewPath: "x", New: []byte(tall)}}
		}, "17,000 more changed lines are not shown"},
		"a hunk behind the limit": {"review", func(m *review.Model) {
			m.Changes = []review.Change{{Op: "update", ID: "x", OldPath: "x", NewPath: "x", Old: []byte(numbered(1, 100)), New: []byte(tall + numbered(1, 99) + "end\n")}}
		}, "17,002 more changed lines are not shown"},
		"bytes": {"review", func(m *review.Model) {
			m.Changes = []review.Change{{Op: "create", ID: "x", NewPath: "x", New: []byte(strings.Repeat(strings.Repeat("y", 4000)+"\n", 100))}}
		}, "34 more changed lines are not shown"},
		"document": {"review", func(m *review.Model) {
			m.Changes = []review.Change{{Op: "create", ID: "x", NewPath: "x", New: []byte(strings.Repeat("text ", 30_000))}}
		}, "The document has 150,000 bytes; above 131,072 it is not rendered."},
		"documents": {"review", func(m *review.Model) {
			for range 45 {
				m.Changes = append(m.Changes, review.Change{Op: "move", OldPath: "x", NewPath: "y", Old: []byte(long), New: []byte(long)})
			}
		}, "The document is not rendered: the page has rendered enough already."},
		"nesting": {"review", func(m *review.Model) {
			m.Changes = []review.Change{{Op: "create", ID: "x", NewPath: "x", New: []byte(strings.Repeat("> ", 30_000) + "x")}}
		}, "Quotes and lists are nested too deeply to be rendered."},
		"problems": {"review", func(m *review.Model) {
			for range 1000 {
				m.Problems = append(m.Problems, review.Problem{Code: wide, Severity: "error", ID: wide, Path: wide, Message: wide})
			}
		}, "more are not listed: the page would be too large"},
		"nodes": {"outline", func(m *review.Model) {
			for i := range 2_500 {
				m.Nodes = append(m.Nodes, review.Node{ID: fmt.Sprint(i), Path: fmt.Sprintf("%d/%d.md", i%2000, i), Title: wide, DependsOn: []string{"a", "b"}})
			}
		}, "more are not shown: the page would be too large"},
		"kinds": {"outline", func(m *review.Model) {
			for i := range 80 {
				m.Nodes = append(m.Nodes, review.Node{ID: fmt.Sprint(i), Kind: fmt.Sprintf("kind %02d", i)})
			}
		}, "1 kind 49\n30 of other kinds\n80 in all"},
		"a change too large": {"review", func(m *review.Model) {
			for range 7 {
				m.Changes = append(m.Changes, review.Change{Op: "create", NewPath: "x", New: []byte(strings.Repeat(strings.Repeat("\x01\"", 1000)+"\n", 400))})
			}
			m.Changes = append(m.Changes, review.Change{Op: "create", NewPath: "x", New: []byte("the last change")})
		}, "the last change"},
		"references": {"outline", func(m *review.Model) {
			m.Nodes = []review.Node{{ID: "x", Links: strings.Fields(strings.Repeat("y ", 80))}}
		}, "and 30 more"},
		"texts": {"review", func(m *review.Model) {
			m.Title, m.Description, m.Project, m.Digest = strings.Repeat(wide, 50), strings.Repeat(wide, 50), wide, wide
		}, "... (400,000 bytes)"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &review.Model{}
			c.model(m)
			raw := render(t, c.renderer, m)
			if len(raw) > review.MaxPage {
				t.Errorf("the page has %d bytes, more than %d", len(raw), review.MaxPage)
			}
			checkAnchors(t, string(raw))
			text := string(raw)
			if len(raw) < 1<<20 { // trees of larger pages take most of the time of all tests
				checkInert(t, raw)
				text = textOf(parse(t, raw))
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("the page of %d bytes does not say %q", len(raw), c.says)
			}
		})
	}
}

// checkAnchors checks that each link leads to a place on the page.
func checkAnchors(t *testing.T, raw string) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(raw, -1) {
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(raw, -1) {
		if !ids[m[1]] {
			t.Errorf("a link to %q, which is not on the page", m[1])
		}
	}
}

// TestDeterministic renders the same model twice, and checks that it is left as
// it was.
func TestDeterministic(t *testing.T) {
	for _, renderer := range review.Renderers() {
		m := hostileModel()
		first, second := render(t, renderer, m), render(t, renderer, m)
		if !bytes.Equal(first, second) {
			t.Errorf("%s: two pages of one model differ", renderer)
		}
		if d := cmp.Diff(hostileModel(), m); d != "" {
			t.Errorf("%s: the model changed (-want +got):\n%s", renderer, d)
		}
	}
}

// TestContrast computes the contrast of each pair of colours that the style puts
// on each other, in both themes, as WCAG 2 defines it.
func TestContrast(t *testing.T) {
	raw := string(render(t, "review", sample()))
	_, css, _ := strings.Cut(raw, "<style>")
	light, dark, found := strings.Cut(css, "prefers-color-scheme: dark")
	dark, _, _ = strings.Cut(dark, "\n}")
	if !found {
		t.Fatal("there is no dark theme")
	}
	pairs := [][2]string{
		{"fg", "bg"},
		{"fg", "panel"},
		{"muted", "bg"},
		{"muted", "panel"},
		{"link", "bg"},
		{"link", "panel"},
		{"ins-fg", "ins-bg"},
		{"ins-fg", "ins-mark"},
		{"del-fg", "del-bg"},
		{"del-fg", "del-mark"},
		{"warn-fg", "warn-bg"},
		{"err-fg", "err-bg"},
		{"move-fg", "move-bg"},
		{"esc-fg", "esc-bg"},
	}
	for theme, text := range map[string]string{"light": light, "dark": dark} {
		colours := variables(t, text)
		used := map[string]bool{"line": true} // frames only
		for _, pair := range pairs {
			if got := contrast(colours[pair[0]], colours[pair[1]]); got < 4.5 {
				t.Errorf("%s theme: %s on %s has a contrast of %.2f, less than 4.5", theme, pair[0], pair[1], got)
			}
			used[pair[0]], used[pair[1]] = true, true
		}
		for name := range colours {
			if !used[name] {
				t.Errorf("%s theme: colour %s is in no pair", theme, name)
			}
		}
		if len(colours) != len(used) {
			t.Errorf("%s theme: %d colours, want %d", theme, len(colours), len(used))
		}
	}
}

func variables(t *testing.T, css string) map[string][3]float64 {
	t.Helper()
	out := map[string][3]float64{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
		n, err := strconv.ParseUint(m[2], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		out[m[1]] = [3]float64{float64(n >> 16 & 255), float64(n >> 8 & 255), float64(n & 255)}
	}
	return out
}

func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c [3]float64) float64 {
	for i, v := range c {
		if v /= 255; v <= 0.04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
}
