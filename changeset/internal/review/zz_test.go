package review

import ("testing";"time";"strings")

func TestZZ(t *testing.T) {
	for _, s := range []string{"[", "[a]\n", "[a](", "![a](b\n", "*a ", "**a*", "_a*", "`", "`a``", "<", "<a ", "|a", "> a\n", "- a\n", "  - a\n", "[x]: y\n", "&#x1;", "~~a ", "a\n", "\\", "]", "[[a]]", "- [ ] a\n", "![", "# a\n", "|a|\n|-|\n", "<!--", "<?", "a*_b", "http://a ", "1) ", "\t", "[a][b]\n", "<a b='", "|-"} {
		in := strings.Repeat(s, maxMarkdown/len(s))
		start := time.Now()
		_, why := renderMarkdown([]byte(in))
		if d := time.Since(start); d > 300*time.Millisecond {
			t.Logf("%q %v %s", s, d, why)
		}
	}
}
