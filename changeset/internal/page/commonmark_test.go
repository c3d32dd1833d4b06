package page_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

// A whole parser of CommonMark sees the same headings in texts made of awkward
// lines, unless the page says that it is ambiguous.
func TestSectionsAreThoseOfCommonMark(t *testing.T) {
	lines := []string{
		"", "", "", "text", "# H", "## H", "  # H", "    # H", "===", "---", "- item", "  para", "1. num", "   cont",
		"```", "~~~", "````", "  ```", "    ```", "> quote", "<div>", "</div>", "<!-- c", "-->", "<b>x</b>", "* * *",
		"+ a", "- ```", "    code", "|a|", "<https://x.y>", "text  ", "\\# H", "  - sub", "      deep", "<pre>", "</PRE>", "#", "",
	}
	random := rand.New(rand.NewPCG(1, 2))
	sure := 0
	for range 20_000 {
		parts := []string{""}
		for range 2 + random.IntN(5) {
			parts = append(parts, lines[random.IntN(len(lines))])
		}
		raw := []byte(strings.Join(parts, "\n") + "\n")
		p := page.Parse("x.md", raw)
		if p.Ambiguous {
			continue
		}
		sure++
		var got []string
		for _, s := range p.Sections {
			if s.Title != "" {
				got = append(got, fmt.Sprintf("level %d on line %d", s.Level, 1+bytes.Count(raw[:s.Start], []byte("\n"))))
			}
		}
		if diff := cmp.Diff(commonMarkHeadings(raw), got); diff != "" {
			t.Errorf("headings of %q (-want +got):\n%s", raw, diff)
		}
	}
	if sure < 5_000 {
		t.Errorf("only %d texts were not ambiguous", sure)
	}
}

// commonMarkHeadings lists the headings at the top level that have text.
func commonMarkHeadings(raw []byte) []string {
	var list []string
	doc := goldmark.DefaultParser().Parse(text.NewReader(raw))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Lines().Len() > 0 {
			line := 1 + bytes.Count(raw[:h.Lines().At(0).Start], []byte("\n"))
			list = append(list, fmt.Sprintf("level %d on line %d", h.Level, line))
		}
	}
	return list
}
