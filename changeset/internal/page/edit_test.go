package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

// awkward are texts that YAML would read as something else if they were written
// as they are.
func awkward() []string {
	return []string{
		"plain", "two words", "yes", "No", "null", "~", "1", "1.5", "0x1f", "1e3", ".inf", "2020-01-02", "12:30", "a: b", "a:b", "# x", "a # b",
		"- x", "-", "? x", "*a", "&a", "!t", "%x", "@x", "`x`", "'q'", `"q"`, `it's`, `a\b`, `\n`, "[x]", "x]", "{x}", "a, b", "=", "<<",
		"|", ">", "größe", "文档", "😀", "می\u200cخواهم", "👩\u200d👧 ❤\ufe0f\u200d🔥", "क्\u200dष", "---", "...", "x---", "a\u00a0b", "\u00e9t\u00e9", strings.Repeat("long ", 100) + "end",
	}
}

func TestEditKeepsAnyText(t *testing.T) {
	files := map[string]string{
		"no front matter": "# H\nbody\n",
		"plain":           "---\ntitle: old # c\nother: 1\n---\nbody\n",
		"quoted":          "---\ntitle: \"o\\\"ld\" # c\nother: 1\n---\nbody\n",
		"single quotes":   "---\ntitle: 'o''ld: # no comment' # c\nother: 1\n---\nbody\n",
		"block":           "---\ntitle: |-\n  old\n\n  # text\nother: 1\n---\nbody\n",
		"folded, CRLF":    "---\r\ntitle: >\r\n  old\r\n  text\r\nother: 1\r\n---\r\nbody\r\n",
		"over lines":      "---\ntitle: \"old\n  text\"\nother: 1\n---\nbody\n",
		"empty":           "---\ntitle:\nother: 1\n---\nbody\n",
		"list":            "---\ntitle: [a, 'b]', \"c\"] # c\nother: 1\n---\nbody\n",
		"list on lines":   "---\ntitle:\n  - a\n  - b\nother: 1\n---\nbody\n",
		"last":            "---\nother: 1\ntitle: old\n---\nbody\n",
		"flow":            "---\n{title: old, other: 1}\n---\nbody\n",
	}
	for name, raw := range files {
		for _, text := range awkward() {
			out, err := page.Edit("x.md", []byte(raw), page.Fields{Title: &text})
			if err != nil {
				t.Errorf("%s, title %q: %v", name, text, err)
				continue
			}
			p := page.Parse("x.md", out)
			if p.Title != text || len(p.Problems) > 0 {
				t.Errorf("%s: title %q is read as %q, %v, from\n%s", name, text, p.Title, p.Problems, out)
			}
			if name != "no front matter" && strings.Count(string(out), "other: 1") != 1 {
				t.Errorf("%s: title %q damages the next key:\n%s", name, text, out)
			}
			if strings.Contains(raw, "# c") && !strings.Contains(string(out), " # c\n") {
				t.Errorf("%s: title %q loses the comment:\n%s", name, text, out)
			}
		}
	}
}

func TestEditKeepsAnyList(t *testing.T) {
	texts := awkward()
	for name, raw := range map[string]string{
		"none":      "---\nother: 1\n---\n",
		"flow":      "---\ntags: [yes, 'a # b', \"c, d\"] # c\nother: 1\n---\n",
		"over line": "---\ntags: [\n  yes, # one\n  no\n]\nother: 1\n---\n",
		"lines":     "---\ntags:\n  # first\n  - plain # p\n  - \"yes\" # y\n\n  - 'a: b'\n# end\nother: 1\n---\n",
		"margin":    "---\ntags:\n- plain\n-   'yes'\nother: 1\n---\n",
	} {
		for n := range len(texts) / 3 {
			list := texts[3*n : 3*n+3]
			out, err := page.Edit("x.md", []byte(raw), page.Fields{Tags: &list})
			if err != nil {
				t.Errorf("%s, %q: %v", name, list, err)
				continue
			}
			p := page.Parse("x.md", out)
			if diff := cmp.Diff(list, p.Tags); diff != "" || len(p.Problems) > 0 || !strings.Contains(string(out), "\nother: 1\n") {
				t.Errorf("%s: tags %v (-want +got):\n%s from\n%s", name, p.Problems, diff, out)
			}
		}
	}
}

// Each field can be set alone: every line of the file that does not belong to it
// is there afterwards, in order.
func TestEditTouchesOneField(t *testing.T) {
	raw := "\ufeff---\r\n# head\r\nid: a   # the id\r\nkind: guide\r\n\r\ntitle: 'T'\r\nstatus: draft\r\n# deps\r\ndepends_on: [b]\r\ntags:\r\n  - x\r\nextra: {k: [1, 2]} # kept\r\n---\r\n# T\r\n\r\nbody without end"
	text, list, body := "new", []string{"n1", "n2"}, []byte("other\n")
	for own, fields := range map[string]page.Fields{
		"id:": {ID: &text}, "kind:": {Kind: &text}, "title:": {Title: &text}, "status:": {Status: &text},
		"depends_on:": {DependsOn: &list}, "  - x": {Tags: &list}, "# T\r": {Body: &body},
	} {
		out, err := page.Edit("x.md", []byte(raw), fields)
		if err != nil {
			t.Errorf("%s %v", own, err)
			continue
		}
		rest := strings.Split(string(out), "\n")
		for line := range strings.SplitSeq(raw, "\n") {
			if strings.HasPrefix(line, own) {
				if own == "# T\r" {
					break
				}
				continue
			}
			i := slices.Index(rest, line)
			if i < 0 {
				t.Errorf("%s: line %q is gone from\n%s", own, line, out)
				break
			}
			rest = rest[i+1:]
		}
		if own != "# T\r" && strings.Count(string(out), "\n") != strings.Count(string(out), "\r\n") {
			t.Errorf("%s: mixed line ends in %q", own, out)
		}
	}
}

// All fields at once are the fields one after the other.
func TestEditOrderDoesNotMatter(t *testing.T) {
	id, kind, title, status := "i", "k", "t: t", "s"
	deps, tags, body := []string{"d"}, []string{"g"}, []byte("b\n")
	all := page.Fields{ID: &id, Kind: &kind, Title: &title, Status: &status, DependsOn: &deps, Tags: &tags, Body: &body}
	single := []page.Fields{{ID: &id}, {Kind: &kind}, {Title: &title}, {Status: &status}, {DependsOn: &deps}, {Tags: &tags}, {Body: &body}}
	for _, raw := range []string{"", "old\n", "---\ntags: [x]\n# c\ntitle: old\n---\nold\n"} {
		want, err := page.Edit("x.md", []byte(raw), all)
		if err != nil {
			t.Fatal(err)
		}
		got := []byte(raw)
		for _, f := range single {
			if got, err = page.Edit("x.md", got, f); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%q: one by one (-all +single):\n%s", raw, diff)
		}
		again, err := page.Edit("x.md", want, all)
		if err != nil || string(again) != string(want) {
			t.Errorf("%q: the same edit again gives %q, %v", raw, again, err)
		}
	}
}

// What Edit returns is the caller's.
func TestEditSharesNothing(t *testing.T) {
	raw := []byte("---\nid: a\n---\nbody\n")
	body := []byte("new\n")
	for _, f := range []page.Fields{{}, {Body: &body}} {
		out, err := page.Edit("x.md", raw, f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			out[i] = 'x'
		}
	}
	if string(raw) != "---\nid: a\n---\nbody\n" || string(body) != "new\n" {
		t.Errorf("the text is now %q, the body %q", raw, body)
	}
}
