package review_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/mcpcontract/mcpcontract/changeset/internal/review"
)

// payloads are texts that would do something if they reached a page as they are.
func payloads() map[string]string {
	return map[string]string{
		"script":              `<script>alert(1)</script>`,
		"script in block":     "<div>\n<script src=https://attacker.example/a.js></script>\n</div>",
		"script closes style": `</style><script>alert(1)</script>`,
		"closes comment":      `--><script>alert(1)</script><!--`,
		"closes title":        `</title><script>alert(1)</script>`,
		"closes pre":          "```\n</code></pre><script>alert(1)</script>\n```",
		"closes table":        `</td></tr></table><img src=x onerror=alert(1)>`,
		"closes attribute":    `" onmouseover="alert(1)" x="`,
		"closes in single":    `' onfocus='alert(1)' autofocus='`,
		"image handler":       `<img src=x onerror=alert(1)>`,
		"image remote":        `![receipt](https://attacker.example/pixel.png "title")`,
		"image by reference":  "![receipt][r]\n\n[r]: https://attacker.example/ref.png",
		"image data":          `![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)`,
		"image alt":           `![a"onerror="alert(1)](x"onerror="alert(1))`,
		"svg":                 `<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x></svg>`,
		"math":                `<math><mi xlink:href="javascript:alert(1)">x</mi></math>`,
		"iframe":              `<iframe srcdoc="<script>alert(1)</script>" src=https://attacker.example/frame></iframe>`,
		"object":              `<object data=https://attacker.example/o></object><embed src=https://attacker.example/e>`,
		"meta refresh":        `<meta http-equiv=refresh content="0;url=https://attacker.example/refresh">`,
		"meta policy":         `<meta http-equiv="Content-Security-Policy" content="default-src *">`,
		"base":                `<base href=https://attacker.example/>`,
		"link element":        `<link rel=stylesheet href=https://attacker.example/s.css><link rel=prefetch href=https://attacker.example/p>`,
		"style element":       `<style>@import url(https://attacker.example/i.css); *{background:url(https://attacker.example/b)}</style>`,
		"style attribute":     `<p style="background:url(https://attacker.example/st)">x</p>`,
		"form":                `<form action=https://attacker.example/f><input autofocus onfocus=alert(1)><button>go</button></form>`,
		"anchor script":       `[go](javascript:alert(1))`,
		"anchor entity":       `[go](&#x6A;avascript&colon;alert(1))`,
		"anchor spaced":       "[go](<java\tscript:alert(1)>)",
		"anchor case":         `[go](JaVaScRiPt:alert(1))`,
		"anchor data":         `[go](data:text/html,<script>alert(1)</script>)`,
		"anchor vbscript":     `[go](vbscript:msgbox(1))`,
		"anchor file":         `[go](file:///etc/passwd)`,
		"anchor blob":         `[go](blob:https://attacker.example/1)`,
		"anchor external":     `[go](https://attacker.example/click "t")`,
		"anchor protocol":     `[go](//attacker.example/relative)`,
		"anchor title":        `[go](https://a.example "x\" onclick=\"alert(1)")`,
		"autolink":            `<https://attacker.example/auto> and <javascript:alert(1)>`,
		"raw anchor":          `<a href="javascript:alert(1)" target=_blank ping=https://attacker.example/ping>x</a>`,
		"video":               `<video poster=https://attacker.example/v src=https://attacker.example/m autoplay></video><audio src=https://attacker.example/a>`,
		"template":            `{{.Policy}} {{template "x"}} ${alert(1)}`,
		"dialog":              `<dialog open><details open ontoggle=alert(1)>x</details></dialog>`,
		"code language":       "```x\" onload=\"alert(1)\ncode\n```",
		"table align":         "| a |\n|:-:|\n| <img src=x onerror=alert(1)> |",
		"heading id":          `# title {#main onclick=alert(1)}`,
		"comment":             `<!-- hidden words --> <!--> <!--->`,
		"processing":          `<?xml version="1.0"?> <![CDATA[<script>alert(1)</script>]]> <!DOCTYPE html>`,
		"unclosed":            `<script`,
		"bidi":                "access \u202e\u2066// check\u2069 \u2066 level",
		"zero width":          "pay\u200bload \u200d\u200c\ufeff\u00ad end",
		"controls":            "bell\a escape\x1b[31m null\x00 delete\x7f next\u0085 cr\r end",
		"tags and fillers":    "a\U000e0041\U000e007f b\u3164 c\u115f d\u2800 e\ufe00 f\U000e0101 g\ue000",
		"separators":          "one\u2028two\u2029three",
		"bidi by reference":   `plain &#x202e;reversed&#8238; &rlm;&zwnj;&shy; &#0; &#27;`,
		"invalid bytes":       "a\xffb\xc0\xafc\xed\xa0\x80d",
		"overlong script":     "\xc0\xbcscript\xc0\xbe",
		"utf-7":               `+ADw-script+AD4-alert(1)+ADw-/script+AD4-`,
	}
}

// everywhere returns a model with the payload in each of its fields.
func everywhere(payload string) *review.Model {
	doc := []byte("---\ntitle: x\n---\n\n# Text\n\n" + payload + "\n\n> quote " + payload + "\n\n- item " + payload + "\n")
	return &review.Model{
		Project: payload, Revision: payload, ChangesetID: payload, Title: payload, Description: payload, Writer: payload, View: payload, Digest: payload,
		Problems: []review.Problem{{Code: payload, Severity: payload, ID: payload, Path: payload, Message: payload}},
		Changes: []review.Change{
			{Op: "create", ID: payload, Kind: payload, Title: payload, NewPath: payload, New: doc, NewHash: payload},
			{Op: "update", ID: payload, Title: payload, OldPath: payload, NewPath: payload, Old: []byte("# Text\n\nplain words " + payload), New: doc, BaseHash: payload},
			{Op: "move", ID: payload, Title: payload, OldPath: payload, NewPath: "to/" + payload, Old: doc, New: doc},
			{Op: payload, OldPath: payload, NewPath: payload, Old: []byte(payload), New: []byte("# " + payload)},
			{Op: "delete", ID: payload, OldPath: payload, Old: doc},
		},
		Nodes: []review.Node{{
			ID: payload, Kind: payload, Title: payload, Status: payload, Path: "folder" + payload + "/x", Op: payload,
			Tags: []string{payload}, DependsOn: []string{payload, "gone" + payload}, Links: []string{payload},
		}},
	}
}

// hostileModel is a changeset that holds every payload in every field.
func hostileModel() *review.Model {
	m := &review.Model{}
	for _, name := range slices.Sorted(maps.Keys(payloads())) {
		one := everywhere(payloads()[name])
		m.Title, m.ChangesetID, m.Project, m.Description = one.Title, one.ChangesetID, one.Project, one.Description+m.Description
		m.Problems = append(m.Problems, one.Problems...)
		m.Changes = append(m.Changes, one.Changes...)
		m.Nodes = append(m.Nodes, one.Nodes...)
	}
	return m
}

// TestInert parses the page of each payload in each field, and finds nothing in
// the tree that could run, load or lead away.
func TestInert(t *testing.T) {
	for name, payload := range payloads() {
		t.Run(name, func(t *testing.T) {
			for _, renderer := range review.Renderers() {
				raw := render(t, renderer, everywhere(payload))
				checkInert(t, raw)
				checkVisible(t, raw)
			}
		})
	}
}

// The elements and attributes that pages have. None of the attributes takes an
// address but href, which checkInert holds to the page itself.
func elements() []string {
	return strings.Fields("html head meta title style body a header main nav section article footer div p span h1 h2 h3 h4 h5 h6 " +
		"dl dt dd ul ol li details summary table thead tbody tr th td ins del mark strong em code pre blockquote hr br")
}

func attributes() []string {
	return strings.Fields("lang http-equiv content charset name class id href aria-label aria-labelledby aria-hidden role tabindex scope open align start")
}

func checkInert(t *testing.T, raw []byte) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	head := find(doc, "head")[0]
	var first *html.Node
	for c := head.FirstChild; c != nil && first == nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			first = c
		}
	}
	styles := find(doc, "style")
	if len(styles) != 1 {
		t.Fatalf("%d style elements, want 1", len(styles))
	}
	sum := sha256.Sum256([]byte(styles[0].FirstChild.Data))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
	if first.Data != "meta" || attr(first, "http-equiv") != "Content-Security-Policy" || attr(first, "content") != policy {
		t.Errorf("the head begins with %s %v, want the policy %q", first.Data, first.Attr, policy)
	}
	if n := len(find(doc, "meta")); n != 5 {
		t.Errorf("%d meta elements, want 5", n)
	}
	ids := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			ids[attr(n, "id")]++
		}
	}
	for n := range doc.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("comment %q", n.Data)
		case html.ElementNode:
			checkElement(t, n, ids)
		}
	}
}

func checkElement(t *testing.T, n *html.Node, ids map[string]int) {
	t.Helper()
	if !slices.Contains(elements(), n.Data) {
		t.Errorf("element %q %v", n.Data, n.Attr)
	}
	for _, a := range n.Attr {
		if !slices.Contains(attributes(), a.Key) {
			t.Errorf("attribute %s=%q of %s", a.Key, a.Val, n.Data)
		}
		switch a.Key {
		case "href":
			if id, ok := strings.CutPrefix(a.Val, "#"); !ok || ids[id] != 1 {
				t.Errorf("a link to %q, which is on the page %d times", a.Val, ids[id])
			}
		case "id":
			if ids[a.Val] != 1 {
				t.Errorf("id %q is there %d times", a.Val, ids[a.Val])
			}
		case "http-equiv":
			if a.Val != "Content-Security-Policy" {
				t.Errorf("meta %q", a.Val)
			}
		}
	}
}

// checkVisible checks that a reader sees each character of the page. The list of
// kinds is written out anew here, so that a kind that is missing in the code is
// missed.
func checkVisible(t *testing.T, raw []byte) {
	t.Helper()
	if !utf8.Valid(raw) {
		t.Error("the page is not UTF-8")
	}
	for _, r := range string(raw) {
		switch {
		case r == '\n' || r == '\t':
		case r == '\ufffc' || unicode.Is(unicode.Zs, r) && r != ' ' && r != '\u3000':
			t.Errorf("character %U is on the page", r)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && r != '\ufe0f':
			t.Errorf("character %U is on the page", r)
		}
	}
}

func find(doc *html.Node, name string) []*html.Node {
	var out []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf returns the text of a node.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
