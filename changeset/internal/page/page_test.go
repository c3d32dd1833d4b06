package page_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

func TestParseFields(t *testing.T) {
	type want struct {
		ID, Kind, Title, Status string
		DependsOn, Tags         []string
		Front                   bool
		Body                    string
		Problems                []page.Problem
	}
	tests := []struct {
		name, path, raw string
		want            want
	}{
		{
			name: "all fields", path: "guides/setup.md",
			raw:  "---\nid: setup\nkind: guide\ntitle: Set-up\nstatus: draft\ndepends_on: [base, net]\ntags:\n  - a\n  - b\nowner: ann\n---\n# Other\n",
			want: want{ID: "setup", Kind: "guide", Title: "Set-up", Status: "draft", DependsOn: []string{"base", "net"}, Tags: []string{"a", "b"}, Front: true, Body: "# Other\n"},
		},
		{
			name: "no front matter", path: "guides/setup.md", raw: "text\n\n## First *thing* ##\n",
			want: want{ID: "guides/setup", Kind: "page", Title: "First *thing*", Body: "text\n\n## First *thing* ##\n"},
		},
		{
			name: "neither front matter nor heading", path: "a/README.MD", raw: "text",
			want: want{ID: "a/README", Kind: "page", Title: "a/README", Body: "text"},
		},
		{
			name: "empty file with an odd name", path: "notes.txt",
			want: want{ID: "notes.txt", Kind: "page", Title: "notes.txt"},
		},
		{
			name: "byte order mark and CRLF", path: "x.md", raw: "\ufeff---\r\nid: y\r\n---\r\ntext\r\n",
			want: want{ID: "y", Kind: "page", Title: "y", Front: true, Body: "text\r\n"},
		},
		{
			name: "empty front matter", path: "x.md", raw: "---\n# nothing\n---\ntext\n",
			want: want{ID: "x", Kind: "page", Title: "x", Front: true, Body: "text\n"},
		},
		{
			name: "closing fence is the last line", path: "x.md", raw: "---\nid: y\n---",
			want: want{ID: "y", Kind: "page", Title: "y", Front: true},
		},
		{
			name: "empty values are no values", path: "x.md", raw: "---\nid:\ntitle: ''\ntags:\ndepends_on: []\n---\n",
			want: want{ID: "x", Kind: "page", Title: "x", Front: true},
		},
		{
			name: "repeated items count once", path: "x.md", raw: "---\ntags: [a, b, a, '']\n---\n",
			want: want{ID: "x", Kind: "page", Title: "x", Tags: []string{"a", "b"}, Front: true},
		},
		{
			name: "block text is one line", path: "x.md", raw: "---\ntitle: |\n  One\n  two\n---\n",
			want: want{ID: "x", Kind: "page", Title: "One two", Front: true},
		},
		{
			name: "wrong types", path: "x.md", raw: "---\nid: {a: b}\ntitle: 404\nstatus: [x]\ntags: one\ndepends_on: {a: b}\n---\n",
			want: want{ID: "x", Kind: "page", Title: "404", Tags: []string{"one"}, Front: true, Problems: []page.Problem{
				{Code: "field_invalid", Line: 2, Message: "id is not a text; it is left out"},
				{Code: "field_invalid", Line: 3, Message: "title is not a text; put it in quotes"},
				{Code: "field_invalid", Line: 4, Message: "status is not a text; it is left out"},
				{Code: "field_invalid", Line: 5, Message: "tags is not a list; it is read as a list of one"},
				{Code: "field_invalid", Line: 6, Message: "depends_on is not a list; it is left out"},
			}},
		},
		{
			name: "wrong item", path: "x.md", raw: "---\ntags: [a, [b]]\n---\n",
			want: want{ID: "x", Kind: "page", Title: "x", Tags: []string{"a"}, Front: true, Problems: []page.Problem{
				{Code: "field_invalid", Line: 2, Message: "an item of tags is not a text; it is left out"},
			}},
		},
		{
			name: "an id no link can name", path: "x.md", raw: "---\nid: 'a]]b'\n---\n",
			want: want{ID: "x", Kind: "page", Title: "x", Front: true, Problems: []page.Problem{
				{Code: "field_invalid", Line: 2, Message: "an id has none of [ ] | #; the path is used in its place"},
			}},
		},
		{
			name: "not a mapping", path: "x.md", raw: "---\n- a\n---\n# T\n",
			want: want{ID: "x", Kind: "page", Title: "T", Front: true, Body: "# T\n", Problems: []page.Problem{
				{Code: "front_matter_invalid", Line: 2, Message: `front matter: not a mapping; write lines of the form "key: value"`},
			}},
		},
		{
			name: "not UTF-8", path: "x.md", raw: "# T\n\ncaf\xe9\n",
			want: want{ID: "x", Kind: "page", Title: "T", Body: "# T\n\ncaf\xe9\n", Problems: []page.Problem{
				{Code: "not_utf8", Line: 3, Message: "the file is not UTF-8"},
			}},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := page.Parse(tc.path, []byte(tc.raw))
			got := want{p.ID, p.Kind, p.Title, p.Status, p.DependsOn, p.Tags, p.Front, string(p.Body), p.Problems}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Parse (-want +got):\n%s", diff)
			}
		})
	}
}

// Front matter that cannot be read is one problem, and what can be read counts.
func TestParseBrokenFront(t *testing.T) {
	tests := []struct {
		name, raw, id string
		line          int
	}{
		{"syntax", "---\nid: y\ntitle: [a\n---\n", "x", 3},
		{"tab", "---\nid: y\n\ttitle: b\n---\n", "x", 3},
		{"repeated key", "---\nid: y\nid: z\n---\n", "y", 3},
		{"alias", "---\nid: y\na: &q b\nc: *q\n---\n", "y", 3},
		{"not closed", "---\nid: y\n\n# Head\n", "x", 1},
		{"too large", "---\nid: y\n#" + strings.Repeat("x", page.MaxFront) + "\n---\n", "x", 1},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := page.Parse("x.md", []byte(tc.raw))
			if len(p.Problems) == 0 || p.Problems[0].Code != page.CodeFront || p.Problems[0].Line != tc.line || p.ID != tc.id {
				t.Errorf("Parse gives id %q, problems %+v; want id %q and %s on line %d", p.ID, p.Problems, tc.id, page.CodeFront, tc.line)
			}
		})
	}
}

func TestParseSections(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []string // the first line of each section behind its name
		ambiguous bool
	}{
		{"empty", "", nil, false},
		{"only text", "a\nb\n", []string{":a"}, false},
		{"front matter belongs to the first", "---\nid: x\n---\n\n# A\n", []string{":---", "a:# A"}, false},
		{"byte order mark is no section", "\ufeff# A\n", []string{"a:\ufeff# A"}, false},
		{"levels", "# A\n### B ###\n####### no\n#no\n###### C#\n#\n", []string{"a:# A", "b:### B ###", "c:###### C#", "section:#"}, false},
		{"names are unique", "# A-1\n# A\n# A\n# A\n", []string{"a-1:# A-1", "a:# A", "a-2:# A", "a-3:# A"}, false},
		{"names keep letters", "# Größe & *Maß* v2.0\n", []string{"größe--maß-v20:# Größe & *Maß* v2.0"}, false},
		{"underlined", "A\n=\n\ntwo\nlines\n---\n\n---\n\nB\n\n---\n", []string{"a:A", "two-lines:two"}, false},
		{"no underline of quotes and items", "> q\n---\n- i\n---\n", []string{":> q"}, false},
		{"indented heading and code", "   # A\n\n    # code\n", []string{"a:   # A"}, false},
		{"backtick fence", "# A\n```sh\n# no\n```\n# B\n", []string{"a:# A", "b:# B"}, false},
		{"tilde fence holds backticks", "~~~\n```\n# no\n~~~\n# B\n", []string{":~~~", "b:# B"}, false},
		{"longer fence holds shorter", "````\n```\n# no\n```\n# no\n`````\n# B\n", []string{":````", "b:# B"}, false},
		{"closing fence has no words", "```\n``` no\n# no\n```\n# B\n", []string{":```", "b:# B"}, false},
		{"fence in an item", "- a\n\n  ```\n  # no\n  ```\n\n# B\n", []string{":- a", "b:# B"}, false},
		{"fence behind a marker", "1. ~~~\n   # no\n   ~~~\n\n# B\n", []string{":1. ~~~", "b:# B"}, false},
		{"deep fence", "- a\n    - b\n\n      ```\n      # no\n      ```\n# B\n", []string{":- a", "b:# B"}, false},
		{"code span is no fence", "``` a ` b\n# A\n", []string{":``` a ` b", "a:# A"}, false},
		{"comment", "<!--\n# no\n\n# no\n-->\n# A\n", []string{":<!--", "a:# A"}, false},
		{"comment on a line", "<!-- x -->\n# A\n", []string{":<!-- x -->", "a:# A"}, false},
		{"pre", "<pre>\n# no\n\n# no\n</PRE>\n# A\n", []string{":<pre>", "a:# A"}, false},
		{"autolink is no HTML", "<https://example.com>\n# A\n", []string{":<https://example.com>", "a:# A"}, false},
		{"block ends at an empty line", "<div>\n\n# A\n</div>\n", []string{":<div>", "a:# A"}, false},
		{"text with a tag is no HTML", "<b>x</b> y\n# A\n", []string{":<b>x</b> y", "a:# A"}, false},
		{"tag in a paragraph", "text\n<b>\n# A\n", []string{":text", "a:# A"}, false},
		{"block tag ends a paragraph", "text\n<div>\n\nB\n-\n", []string{":text", "b:B"}, false},
		{"rules", "a\n\n* * *\n___\n- - -\n    # code\n# A\n", []string{":a", "a:# A"}, false},
		{"a fence is not closed by an indented one", "```\n# no\n    ```\n# no\n```\n# A\n", []string{":```", "a:# A"}, false},
		{"indented fence in a paragraph is text", "a\n    ```\n# A\n", []string{":a", "a:# A"}, false},
		{"underlined below a quote", "> q\n===\n\nA\n=\n", []string{":> q", "a:A"}, false},
		{"a quote ends a paragraph", "a\n> q\n---\n# A\n", []string{":a", "a:# A"}, false},
		{"carriage returns", "# A\rtext\r## B\r", []string{"a:# A", "b:## B"}, false},

		{"fence not closed", "# A\n```\n# B\n", []string{"a:# A"}, true},
		{"comment not closed", "<!-- a\n# B\n", []string{":<!-- a"}, true},
		{"heading in HTML", "<div>\n# A\n</div>\n", []string{":<div>"}, true},
		{"heading left of its fence", "- a\n  ```\n# B\n  ```\n", []string{":- a"}, true},
		{"heading in an item", "- a\n\n  # B\n", []string{":- a"}, true},
		{"underline in HTML", "<br/>\nA\n===\n", []string{":<br/>"}, true},
		{"fence in HTML", "<details>\n```\n\n# B\n```\n", []string{":<details>", "b:# B"}, true},
		{"underlined behind a quote", "> q\ntext\n---\n", []string{":> q"}, true},
		{"underlined target", "[a]: b\n---\n", []string{"a-b:[a]: b"}, true},
		{"item ends its fence", "- ```\ncode\n  ```\n", []string{":- ```"}, true},
		{"fence closed left of its item", "- a\n\n  ```\n```\n", []string{":- a"}, true},
		{"front matter not closed", "---\nid: x\n# A\n", []string{":---", "a:# A"}, true},
		{"not UTF-8", "# A\n\xff\n", []string{"a:# A"}, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := page.Parse("x.md", []byte(tc.raw))
			var got []string
			for _, s := range p.Sections {
				first := strings.FieldsFunc(tc.raw[s.Start:s.End], func(r rune) bool { return r == '\n' || r == '\r' })[0]
				got = append(got, s.Name+":"+strings.TrimRight(first, " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("sections (-want +got):\n%s", diff)
			}
			if p.Ambiguous != tc.ambiguous {
				t.Errorf("Ambiguous = %v, want %v", p.Ambiguous, tc.ambiguous)
			}
		})
	}
}

func TestParseFencedHeading(t *testing.T) {
	for raw, want := range map[string]bool{
		"# A\n": false, "```\ncode\n```\n# A\n": false, "    # code\n": false, "```\n#no\n```\n": false,
		"```sh\n# comment\n```\n": true, "- a\n  ~~~\n  ## b\n  ~~~\n": true,
	} {
		if p := page.Parse("x.md", []byte(raw)); p.FencedHeading != want || p.Ambiguous {
			t.Errorf("%q: FencedHeading %v, Ambiguous %v; want %v, false", raw, p.FencedHeading, p.Ambiguous, want)
		}
	}
}

func TestParseLinks(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []string
	}{
		{"forms", "[[a]] [[b|the b]] [[c#part]] [[d#part|x]] [[ e ]] ![[f]]", []string{"a", "b", "c", "d", "e", "f"}},
		{"everywhere", "# [[a]]\n> [[b]]\n\n- [[c]]\n  [[d]]\n\n| [[e]] |\n|---|\n\nS [[f]]\n===\n<div>[[g]]\n</div>\n", []string{"a", "b", "c", "d", "e", "f", "g"}},
		{"repeats", "[[b]] [[a]] [[b]]", []string{"b", "a"}},
		{"code", "`[[a]]` ``[[b]] ` [[c]]`` [[d]]\n\n```\n[[e]]\n```\n\n    [[f]]\n\n<!-- [[g]] -->\n", []string{"d"}},
		{"a lone backtick hides nothing", "` [[a]]\n\n`` [[b]] `\n", []string{"a", "b"}},
		{"code over lines", "`a\n[[b]]` [[c]]", []string{"c"}},
		{"escaped", `\[[a]] \\[[b]] \` + "`[[c]]", []string{"b", "c"}},
		{"plain Markdown", "[[1]](u) [[2]][r] [[3]]: u", nil},
		{"no target", "[[]] [[ ]] [[#s]] [[|l]] [[a\nb]] [[a]b]] [[x", nil},
		{"front matter has none", "---\ntitle: '[[a]]'\n---\n", nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, page.Parse("x.md", []byte(tc.raw)).Links); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseSectionLinks(t *testing.T) {
	raw := "[[a#x]] [[b]] [[a]] [[ a # How to | words]] [[a#x|again]] [[a#x#y]] [[b#]] [[#own]] `[[c#x]]` [[d#\xff]]\n"
	got := page.Parse("x.md", []byte(raw))
	want := []page.SectionLink{{ID: "a", Section: "x"}, {ID: "a", Section: "How to"}, {ID: "a", Section: "x#y"}}
	if diff := cmp.Diff(want, got.SectionLinks); diff != "" {
		t.Errorf("section links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "d"}, got.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// The title of a section, and its name, lead to the name, except where an
// earlier section has it.
func TestAnchor(t *testing.T) {
	raw := "# How to `restore` a *Backup*\n## ÜBER_all 2-3\n## C# & D\n## !!!\n## C D\n## C D\n"
	var names []string
	for _, s := range page.Parse("x.md", []byte(raw)).Sections {
		names = append(names, s.Name)
		if again := page.Anchor(s.Name); again != s.Name {
			t.Errorf("the anchor of the name %q is %q", s.Name, again)
		}
		if a := page.Anchor(s.Title); a != s.Name && s.Name != "c-d-1" {
			t.Errorf("the anchor of the title %q is %q, want %q", s.Title, a, s.Name)
		}
	}
	want := []string{"how-to-restore-a-backup", "über_all-2-3", "c--d", "section", "c-d", "c-d-1"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestEdit(t *testing.T) {
	title, status, id, none := "New title", "final", "new", ""
	odd := `a: "b" #c`
	two, empty := []string{"b", "c"}, []string{}
	body := []byte("new\n")
	tests := []struct {
		name, raw string
		fields    page.Fields
		want      string
	}{
		{"nothing", "---\nid: x\n---\nt", page.Fields{}, "---\nid: x\n---\nt"},
		{"plain value and its comment", "---\ntitle: Old one  # why\nid: x\n---\nt", page.Fields{Title: &title}, "---\ntitle: New title  # why\nid: x\n---\nt"},
		{"quoted stays quoted", "---\n\"title\" : 'it''s' # c\n---\n", page.Fields{Title: &title}, "---\n\"title\" : \"New title\" # c\n---\n"},
		{"text that needs quotes", "---\ntitle: a\n---\n", page.Fields{Title: &odd}, "---\ntitle: \"a: \\\"b\\\" #c\"\n---\n"},
		{"block text", "---\ntitle: >-\n  a\n  # b\n# c\nid: x\n---\n", page.Fields{Title: &title}, "---\ntitle: New title\n# c\nid: x\n---\n"},
		{"text over lines", "---\ntitle: a\n  b\n\nid: x\n---\n", page.Fields{Title: &title}, "---\ntitle: New title\n\nid: x\n---\n"},
		{"empty value", "---\ntitle: # c\nid: x\n---\n", page.Fields{Title: &title}, "---\ntitle: New title # c\nid: x\n---\n"},
		{"missing key", "---\n# c\nid: x\n\n---\n", page.Fields{Title: &title}, "---\n# c\nid: x\n\ntitle: New title\n---\n"},
		{"CRLF", "---\r\nid: x\r\n---\r\nt\r\n", page.Fields{Status: &status}, "---\r\nid: x\r\nstatus: final\r\n---\r\nt\r\n"},
		{"byte order mark", "\ufeff# A\n", page.Fields{ID: &id}, "\ufeff---\nid: new\n---\n# A\n"},
		{"no front matter", "# A\r\n", page.Fields{ID: &id, Tags: &two}, "---\r\nid: new\r\ntags: [b, c]\r\n---\r\n# A\r\n"},
		{"flow list", "---\ntags: [a, b,\n  c] # c\nx: y\n---\n", page.Fields{Tags: &two}, "---\ntags: [b, c] # c\nx: y\n---\n"},
		{"list on lines keeps comments", "---\ntags: # t\n  - a # 1\n  - b # 2\n  # below b\n# end\nx: y\n---\n", page.Fields{Tags: &two}, "---\ntags: # t\n  - b # 2\n  # below b\n  - c\n# end\nx: y\n---\n"},
		{"list on lines at the margin", "---\ntags:\n- a\nx: y\n---\n", page.Fields{Tags: &two}, "---\ntags:\n- b\n- c\nx: y\n---\n"},
		{"list emptied", "---\ntags:\n- a\n- b\nx: y\n---\n", page.Fields{Tags: &empty}, "---\ntags: []\nx: y\n---\n"},
		{"text for a list", "---\ntags: a\n---\n", page.Fields{Tags: &two}, "---\ntags: [b, c]\n---\n"},
		{"status emptied", "---\nstatus: a\n---\n", page.Fields{Status: &none}, "---\nstatus: \"\"\n---\n"},
		{"mapping on one line", "---\n{id: x, z: [1, 2]}\n---\n", page.Fields{Title: &title}, "---\nid: x\nz: [1, 2]\ntitle: New title\n---\n"},
		{"explicit key", "---\n? title\n: b\n---\n", page.Fields{Title: &title}, "---\n? title\n: New title\n---\n"},
		{"indented mapping", "---\n  id: x\n---\n", page.Fields{Title: &title}, "---\n  id: x\n  title: New title\n---\n"},
		{"body", "---\nid: x # c\n---\nold\n", page.Fields{Body: &body}, "---\nid: x # c\n---\nnew\n"},
		{"body after a fence without line end", "---\nid: x\n---", page.Fields{Body: &body}, "---\nid: x\n---\nnew\n"},
		{"body of a file with broken front matter", "---\nid: [\n---\nold\n", page.Fields{Body: &body}, "---\nid: [\n---\nnew\n"},
		{"a title that was a heading", "# New title\n", page.Fields{Title: &title, Body: &body}, "---\ntitle: New title\n---\nnew\n"},
		{"the value it has", "---\ntitle: 'New title'\n---\n", page.Fields{Title: &title}, "---\ntitle: 'New title'\n---\n"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := page.Edit("x.md", []byte(tc.raw), tc.fields)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("Edit (-want +got):\n%s", diff)
			}
		})
	}
}

// A body that looks like a file with front matter must not become one.
func TestEditBodyLikeFront(t *testing.T) {
	for _, text := range []string{"---\nid: evil\n---\n", "\ufeff---\nid: evil\n---\n", "\ufeffx"} {
		body := []byte(text)
		for _, raw := range []string{"old\n", "---\nid: x\n---\nold\n"} {
			out, err := page.Edit("x.md", []byte(raw), page.Fields{Body: &body})
			if err != nil {
				t.Errorf("Edit(%q) with body %q: %v", raw, text, err)
				continue
			}
			if p := page.Parse("x.md", out); p.ID != "x" || !bytes.Equal(p.Body, body) {
				t.Errorf("Edit(%q) with body %q gives %q", raw, text, out)
			}
		}
	}
}

func TestFronted(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want bool
	}{
		"fields":                  {"---\nid: a\n---\nText\n", true},
		"fields of others":        {"---\nweight: 3\n---\n", true},
		"one mapping in braces":   {"---\n{id: a}\n---\n", true},
		"after a byte order mark": {"\ufeff---\r\nid: a\r\n--- \r\n", true},
		"that cannot be read":     {"---\nother\n title : [\n---\n", true},
		"nothing":                 {"---\n---\nText\n", false},
		"two rules":               {"---\n\nA remark: see *there*.\nMore\n\n---\n", false},
		"two rules and a list":    {"---\n- a\n- b\n---\n", false},
		"words of fields":         {"---\n**kind** of [\nsubtitle: [\n---\n", false},
		"one rule":                {"---\nid: a\n", false},
		"after an empty line":     {"\n---\nid: a\n---\n", false},
		"plain":                   {"# A\n\n---\nid: a\n---\n", false},
		"empty":                   {"", false},
	} {
		if got := page.Fronted([]byte(tc.body)); got != tc.want {
			t.Errorf("%s: Fronted(%q) = %v", name, tc.body, got)
		}
	}
}

func TestEditRefuses(t *testing.T) {
	title, lines, long, bad := "T", "a\nb", strings.Repeat("x", page.MaxID+1), "a]]"
	twice := []string{"a", "a"}
	tests := []struct {
		name, raw string
		fields    page.Fields
		code      string
	}{
		{"broken front matter", "---\na: [\n---\n", page.Fields{Title: &title}, page.CodeEdit},
		{"front matter not closed", "---\na: b\n", page.Fields{Title: &title}, page.CodeEdit},
		{"repeated key", "---\ntitle: a\ntitle: b\n---\n", page.Fields{Title: &title}, page.CodeEdit},
		{"not UTF-8", "\xff\xfea\x00", page.Fields{Title: &title}, page.CodeUTF8},
		{"line break", "", page.Fields{Title: &lines}, page.CodeField},
		{"too long", "", page.Fields{Status: &long}, page.CodeField},
		{"id", "", page.Fields{ID: &bad}, page.CodeField},
		{"item twice", "", page.Fields{Tags: &twice}, page.CodeField},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := page.Edit("x.md", []byte(tc.raw), tc.fields)
			var e *page.Error
			if !errors.As(err, &e) || e.ErrorCode() != tc.code || !strings.Contains(err.Error(), `"x.md": `) {
				t.Errorf("Edit error = %v, want code %s", err, tc.code)
			}
		})
	}
}

func TestNew(t *testing.T) {
	id, kind, title, status := "x", "page", "T", ""
	deps, tags := []string{"yes", "b"}, []string{}
	body := []byte("text\n")
	got, err := page.New("x.md", page.Fields{ID: &id, Kind: &kind, Title: &title, Status: &status, DependsOn: &deps, Tags: &tags, Body: &body})
	if err != nil {
		t.Fatal(err)
	}
	want := "---\nid: x\nkind: page\ntitle: T\ndepends_on: [\"yes\", b]\n---\ntext\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("New (-want +got):\n%s", diff)
	}
	empty := ""
	if _, err := page.New("x.md", page.Fields{ID: &empty}); err == nil {
		t.Error("New accepts an empty id")
	}
}

func TestCheckID(t *testing.T) {
	for id, ok := range map[string]bool{
		"a": true, "guides/set up": true, "größe": true, strings.Repeat("x", page.MaxID): true,
		"": false, " a": false, "a|b": false, "a#b": false, "a\u202eb": false, "a\u200db": false, "a\xff": false, strings.Repeat("x", page.MaxID+1): false,
	} {
		if why := page.CheckID(id); (why == "") != ok {
			t.Errorf("CheckID(%.40q) = %q, want ok %v", id, why, ok)
		}
	}
}

func TestStrayJoiner(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "plain": false, "می\u200cخواهم": false, "👩\u200d👩\u200d👧": false, "🏳\ufe0f\u200d🌈": false,
		"ශ්\u200dරී ලංකා": false, "\u200c": true, "\u200da": true, "a\u200d": true, "a \u200db": true, "a\u200d b": true,
		"a\u200c\u200db": true, "a\u200d\u0301": true, "\u3164\u200da": true, "a\u200d\u202eb": true,
	} {
		if got := page.StrayJoiner(text); got != want {
			t.Errorf("StrayJoiner(%+q) = %v, want %v", text, got, want)
		}
		_, err := page.Edit("x.md", nil, page.Fields{Title: &text})
		if text != "" && (err != nil) != want {
			t.Errorf("Edit with the title %+q: %v", text, err)
		}
	}
}

// Reading is linear: hostile texts cost little more than others.
func TestParseHostile(t *testing.T) {
	big := page.Parse("x.md", []byte(strings.Repeat("# a\n", page.MaxSections+1)))
	if len(big.Sections) != page.MaxSections || !big.Ambiguous {
		t.Errorf("%d sections, ambiguous %v", len(big.Sections), big.Ambiguous)
	}
	for _, unit := range []string{"`", "```", "[[", "[[a]", "\\", "<!--", "<", "#", "# a\n", "- ", "> ", "\r", "a\r", "``a`", "- - - ```\n", "=\n", "a\n=\n", "<div>\n", "> a\n"} {
		raw := []byte(strings.Repeat(unit, 1<<18/len(unit)))
		p := page.Parse("x.md", raw)
		end := 0
		for _, s := range p.Sections {
			if s.Start != end {
				t.Fatalf("%q repeated: section at %d, want %d", unit, s.Start, end)
			}
			end = s.End
		}
		if end != len(raw) {
			t.Errorf("%q repeated: sections end at %d of %d", unit, end, len(raw))
		}
	}
}
