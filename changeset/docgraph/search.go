package docgraph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/changeset"
)

// Limits of a search.
const (
	maxQuery   = 512 // bytes
	maxWords   = 16
	maxHits    = 100
	usualHits  = 20
	maxSimilar = 32       // words with one prefix that are looked at per document
	maxScan    = 32 << 10 // bytes of a body that a snippet is taken from
	maxSnippet = 240      // bytes, without the marks of what was cut
)

// A Hit is a node that a search found.
type Hit struct {
	// Node is the node.
	Node changeset.Node
	// Score is higher for better hits; it compares within one search only.
	Score int
	// Snippet is a line of the text that has words of the query, or its first
	// line: at most 240 bytes and "…" where something was cut.
	Snippet string
}

// Search returns the nodes that have every word of the query in their id,
// title, tags, headings or text, and how many there are in all. A word finds
// those that begin with it, without regard to case and accents. Whole words
// count more than beginnings, and a little more if they repeat, up to eight
// times; id and title count more than tags, headings and text, in that order.
// Equals are in the order of their ids. The first skip hits are left out, and at
// most limit are returned: 1 to 100, 0 means 20. The error's code is
// query_invalid.
func (g *Graph) Search(query string, skip, limit int) (hits []Hit, total int, err error) {
	phrase, words, err := parseQuery(query)
	if err != nil {
		return nil, 0, err
	}
	if skip < 0 || limit < 0 || limit > maxHits {
		return nil, 0, queryError(fmt.Sprintf("limit is not 0 to %d, or skip is negative", maxHits))
	}
	// Many nodes have few scores, so that these are sorted and not those.
	byScore := make(map[int][]*node)
	for _, n := range g.nodes {
		if score := n.doc.score(phrase, words); score > 0 {
			byScore[score] = append(byScore[score], n)
			total++
		}
	}
	limit = orDefault(limit, usualHits)
	for _, score := range slices.Backward(slices.Sorted(maps.Keys(byScore))) {
		nodes := byScore[score]
		nodes = nodes[min(skip, len(nodes)):]
		skip -= len(byScore[score]) - len(nodes)
		for _, n := range nodes[:min(len(nodes), limit-len(hits))] {
			hits = append(hits, Hit{Node: n.Node, Score: score, Snippet: n.doc.snippet(words)})
		}
	}
	return hits, total, nil
}

// queryError is a fault of a query.
func queryError(detail string) error {
	return &Error{Code: CodeQuery, Op: "search", Detail: detail}
}

// parseQuery returns the query in plain form and its words, each once.
func parseQuery(query string) (phrase string, words []string, err error) {
	if len(query) > maxQuery {
		return "", nil, queryError(fmt.Sprintf("it has more than %d bytes", maxQuery))
	}
	phrase = plain(strings.ToValidUTF8(query, " "))
	for word := range strings.FieldsSeq(phrase) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	switch {
	case len(words) == 0:
		return "", nil, queryError("it has no word")
	case len(words) > maxWords:
		return "", nil, queryError(fmt.Sprintf("it has more than %d words", maxWords))
	}
	return phrase, words, nil
}

// score rates a document, 0 if a word is missing.
func (d *doc) score(phrase string, words []string) int {
	total := 0
	for _, word := range words {
		s := d.scoreWord(word)
		if s == 0 {
			return 0
		}
		total += s
	}
	switch {
	case d.id == phrase:
		total += 400
	case d.title == phrase:
		total += 300
	case len(words) > 1 && strings.Contains(d.title, phrase):
		total += 60
	}
	return total
}

// scoreWord rates a document for one word.
func (d *doc) scoreWord(word string) int {
	i, _ := slices.BinarySearchFunc(d.terms, word, func(t term, w string) int { return strings.Compare(t.word, w) })
	best := 0
	for _, t := range d.terms[i:min(i+maxSimilar, len(d.terms))] {
		if !strings.HasPrefix(t.word, word) {
			break
		}
		s := 2 * weight(t.where)
		if len(t.word) == len(word) {
			s = 2*s + min(int(t.count), 8)
		}
		best = max(best, s)
	}
	return best
}

// weight rates where a word occurs by the best place.
func weight(where uint8) int {
	switch {
	case where >= inTitle: // title or id
		return 24
	case where >= inTag:
		return 12
	case where >= inHeading:
		return 6
	}
	return 2
}

// snippet returns the first line of the text with the most words of a query,
// rather one that is no heading: the title is shown anyway.
func (d *doc) snippet(words []string) string {
	body := d.page.Body
	text := strings.ToValidUTF8(string(body[:min(len(body), maxScan)]), "\ufffd")
	first, bestLine, best, bestAt := "", "", 0, 0
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		heading := strings.HasPrefix(line, "#")
		if first == "" && !heading {
			first = strings.TrimSpace(line)
		}
		n, at := countWords(line, words)
		rank := 2 * n
		if heading && n > 0 {
			rank--
		}
		if rank > best {
			bestLine, best, bestAt = line, rank, at
		}
		if best == 2*len(words) {
			break
		}
	}
	if best == 0 {
		return excerpt(first, 0)
	}
	return excerpt(bestLine, bestAt)
}

// countWords counts the words of a query in a line, and says about where the
// first is.
func countWords(line string, words []string) (n, at int) {
	folded := fold(line)
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(folded, w) }) {
		return 0, 0 // most lines, and this is quicker than to look at their words
	}
	var met uint32 // as a set of at most maxWords
	eachWord(folded, func(word string, pos int) bool {
		for i, w := range words {
			if met>>i&1 == 0 && strings.HasPrefix(word, w) {
				met |= 1 << i
				if n == 0 {
					at = pos * len(line) / len(folded)
				}
				n++
			}
		}
		return n < len(words)
	})
	return n, at
}

// excerpt cuts a line to what is around at, and makes it plain text.
func excerpt(line string, at int) string {
	start, end := 0, len(line)
	if end > maxSnippet {
		start = min(max(0, at-maxSnippet/3), len(line)-maxSnippet)
		end = start + maxSnippet
		for start > 0 && start < len(line) && !utf8.RuneStart(line[start]) {
			start++
		}
		for end < len(line) && !utf8.RuneStart(line[end]) {
			end--
		}
	}
	words := strings.FieldsFunc(line[start:end], func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	s := strings.Join(words, " ")
	if start > 0 {
		s = "…" + s
	}
	if end < len(line) {
		s += "…"
	}
	return s
}
