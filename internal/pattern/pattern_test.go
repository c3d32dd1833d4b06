package pattern_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

func ExampleMatch() {
	allow := []string{"plans/**/*.md", "notes/*"}
	fmt.Println(pattern.Match(allow, "plans/2027/roads.md"), pattern.Match(allow, "notes/a/b"))
	// Output: true false
}

func ExampleReaches() {
	fmt.Println(pattern.Reaches("**/*.md", "docs"), pattern.Reaches("plans/**", "docs"))
	// Output: true false
}

func TestCheck(t *testing.T) {
	for in, ok := range map[string]bool{
		"docs/**": true, "**": true, "a/*.md": true, "[a-c]/?": true,
		"": false, "/a": false, "a/": false, "a//b": false, "./a": false, "a/..": false, "a/[": false,
		strings.Repeat("a", rootfs.MaxPath+1): false,
	} {
		if err := pattern.Check(in); (err == nil) != ok {
			t.Errorf("Check(%.40q) = %v, want accepted %v", in, err, ok)
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"docs/a.md", "docs/a.md", true},
		{"docs/a.md", "docs/A.md", false},
		{"docs/*", "docs/a.md", true},
		{"docs/*", "docs/a/b.md", false},
		{"docs/**", "docs", true},
		{"docs/**", "docs/a/b.md", true},
		{"**/x/**/y", "x/y", true},
		{"**/x/**/y", "a/x/b/x/c/y", true},
		{"**/x/**/y", "a/x/b", false},
		{"**", "a/b/c", true},
		{"**/*.md", "a.md", true},
		{"a/**/b/**/c", "a/b/b/x", false},
		{"a/[", "a/[", false},
	}
	for _, test := range tests {
		if got := pattern.Match([]string{"never/there", test.pattern}, test.path); got != test.want {
			t.Errorf("Match(%q, %q) = %v, want %v", test.pattern, test.path, got, test.want)
		}
	}
	if pattern.Match(nil, "a") {
		t.Error("no pattern matches something")
	}
}

func TestReaches(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"docs/**", "docs", true},
		{"docs/a.md", "docs", true},
		{"DOCS/a.md", "docs", true},
		{"d*/a.md", "docs", true},
		{"**/a.md", "docs", true},
		{"**", "docs/guide", true},
		{"*/*/a.md", "docs/guide", true},
		{"*/a.md", "docs/guide", false},
		{"*", "docs", true},
		{"plans/**", "docs", false},
		{"plans/**/docs/*", "docs", false},
		{"docs-old/**", "docs", false},
		{"docs", "docs/guide", false}, // a file in place of a folder
		{"site/*.html", "site/outline.html", true},
		{"site/index.html", "site/outline.html", false},
		{"[A-F]ocs/x", "docs", true},
		{`\Docs/x`, "docs", true},
		{"STRASSE/*", "straße", true},
	}
	for _, test := range tests {
		if got := pattern.Reaches(test.pattern, test.path); got != test.want {
			t.Errorf("Reaches(%q, %q) = %v, want %v", test.pattern, test.path, got, test.want)
		}
	}
}

// Whatever a pattern matches at or below a path, Reaches has to have said so.
func FuzzReaches(f *testing.F) {
	f.Add("docs/**/*.md", "docs", "docs/a/b.md")
	f.Add("[D-d]ocs/?", "DOCS", "docs/x")
	f.Add("**/x", "a/b", "a/b/c/x")
	f.Add("[^x]ocs", "docs", "docs")
	f.Fuzz(func(t *testing.T, p, dir, file string) {
		if pattern.Check(p) != nil || rootfs.Check(dir) != nil || rootfs.Check(file) != nil {
			t.Skip("not what a caller passes on")
		}
		folded, below := rootfs.FoldKey(file), rootfs.FoldKey(dir)
		if folded != below && !strings.HasPrefix(folded, below+"/") {
			t.Skip("not below")
		}
		if pattern.Match([]string{p}, file) && !pattern.Reaches(p, dir) {
			t.Fatalf("%q matches %q, which is at or below %q, and is said not to reach it", p, file, dir)
		}
	})
}
