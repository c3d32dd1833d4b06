package review

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits of what is rendered.
const (
	maxMarkdown = 128 << 10 // bytes of a document
	maxNesting  = 60        // quotes and lists inside each other, on one line
	maxMarkers  = 400       // characters in one block that may begin or end emphasis, links or code
	maxAddress  = 300       // bytes of a link's address
	topHeading  = 3         // a document's first level of heading is one below this
)

// renderMarkdown returns the document as HTML that loads nothing and leads
// nowhere, or a sentence that says why it does not.
func renderMarkdown(body []byte) (html template.HTML, why string) {
	source := visible(string(body), "\n\r\t"+quiet+selectors)
	if len(source) > maxMarkdown {
		return "", fmt.Sprintf("The document has %s bytes; above %s it is not rendered.", count(len(source)), count(maxMarkdown))
	}
	if nesting(body) > maxNesting {
		return "", "Quotes and lists are nested too deeply to be rendered."
	}
	var b bytes.Buffer
	if err := newMarkdown().Convert([]byte(source), &b); err != nil {
		return "", "The document cannot be rendered."
	}
	// Character references are only resolved while the text is rendered, and what
	// looks like a space must be seen as none by whoever parses the text.
	return template.HTML(visible(b.String(), "\n\t")), "" //nolint:gosec // goldmark without raw HTML, and our own renderers below
}

// nesting returns the greatest number of markers of quotes and lists that begin
// one line: each is a level of the tree, and all who walk it recurse.
func nesting(body []byte) int {
	deepest := 0
	for line := range bytes.Lines(body) {
		n := 0
		for _, c := range line {
			if c == '>' || c == '-' || c == '*' || c == '+' || c == ')' || c == '.' {
				n++
			} else if c != ' ' && c != '\t' && (c < '0' || c > '9') {
				break
			}
		}
		deepest = max(deepest, n)
	}
	return deepest
}

func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), // the policy of the page forbids style attributes
			extension.Strikethrough,
			extension.TaskList,
		),
		goldmark.WithParserOptions(
			parser.WithInlineParsers(util.Prioritized(&markerLimit{}, 0)),
			parser.WithASTTransformers(util.Prioritized(lowerHeadings{}, 100)),
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(inert{}, 100))),
	)
}

// A markerLimit stands before all other inline parsers. Matching the markers of a
// block takes goldmark quadratic time, so that a few kilobytes could hold up the
// page for minutes; what is beyond the limit stays text.
type markerLimit struct {
	block ast.Node
	seen  int
}

func (*markerLimit) Trigger() []byte { return []byte("*_[]!~`<") }

func (l *markerLimit) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	if parent != l.block {
		l.block, l.seen = parent, 0
	}
	if l.seen++; l.seen <= maxMarkers {
		return nil
	}
	_, at := block.PeekLine()
	block.Advance(1)
	return ast.NewTextSegment(at.WithStop(at.Start + 1))
}

// lowerHeadings puts the headings of a document below those of the page.
type lowerHeadings struct{}

func (lowerHeadings) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		lower(n)
	}
}

func lower(n ast.Node) {
	if h, ok := n.(*ast.Heading); ok {
		h.Level = min(h.Level+topHeading, 6)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeBlock {
			lower(c)
		}
	}
}

// inert renders what would load or lead anywhere as text.
type inert struct{}

func (inert) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindImage, image)
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(east.KindTaskCheckBox, checkBox)
}

// link leaves the text and writes the address behind it.
func link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, err := w.WriteString(`<span class="link">`)
		return ast.WalkContinue, err
	}
	_, err := w.WriteString(`</span> ` + address(node.(*ast.Link).Destination))
	return ast.WalkContinue, err
}

func autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, err := w.WriteString(address(node.(*ast.AutoLink).URL(source)))
	return ast.WalkContinue, err
}

// image writes the alternative text and where the picture lies.
func image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.Image)
	var alt strings.Builder
	_ = ast.Walk(n, func(c ast.Node, in bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && in {
			alt.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	_, err := w.WriteString(`<span class="image"><span class="tag">image</span> ` + text2html(plain(alt.String())) + ` ` + address(n.Destination) + `</span>`)
	return ast.WalkSkipChildren, err
}

// address writes where a link leads, for reading only. Addresses that would run
// or hold something instead of naming a place are not shown.
func address(destination []byte) string {
	to := strings.TrimSpace(plain(string(destination)))
	if scheme, _, ok := strings.Cut(to, ":"); ok && !strings.ContainsAny(scheme, "/?#") {
		switch strings.ToLower(strings.TrimSpace(scheme)) {
		case "http", "https", "mailto", "ftp", "tel":
		default:
			return fmt.Sprintf(`<span class="tag">%s address dropped</span>`, text2html(shorten(scheme, 40)))
		}
	}
	return `<span class="address">(` + text2html(shorten(to, maxAddress)) + `)</span>`
}

// plain resolves the escapes and character references of Markdown.
func plain(s string) string {
	b := util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(s))))
	return visible(string(b), "")
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("... (%s bytes)", count(len(s)))
}

func text2html(s string) string { return template.HTMLEscapeString(s) }

func rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	n := node.(*ast.RawHTML)
	var raw strings.Builder
	for i := range n.Segments.Len() {
		s := n.Segments.At(i)
		raw.Write(s.Value(source))
	}
	_, err := w.WriteString(`<code class="raw">` + text2html(raw.String()) + `</code>`)
	return ast.WalkSkipChildren, err
}

func htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.HTMLBlock)
	var raw strings.Builder
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		raw.Write(s.Value(source))
	}
	if n.HasClosure() {
		raw.Write(n.ClosureLine.Value(source))
	}
	_, err := w.WriteString(`<pre class="raw"><code>` + text2html(raw.String()) + "</code></pre>\n")
	return ast.WalkContinue, err
}

func checkBox(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	box := "[ ] "
	if node.(*east.TaskCheckBox).IsChecked {
		box = "[x] "
	}
	if !entering {
		return ast.WalkContinue, nil
	}
	_, err := w.WriteString(box)
	return ast.WalkContinue, err
}
