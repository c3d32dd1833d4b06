package rootfs_test

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

func TestFoldKey(t *testing.T) {
	equal := [][]string{
		{"readme.md", "README.md", "ReadMe.MD"},
		{"stra\u00dfe", "STRASSE", "stra\u1e9ee"},
		{"caf\u00e9", "cafe\u0301", "CAF\u00c9", "CAFE\u0301"},
		{"k", "K", "\u212a"},
		{"s", "\u017f"},
		{"\u00e5", "\u212b", "a\u030a", "\u00c5"},
		{"\u03c3", "\u03c2", "\u03a3"},
		{"\ufb01le", "file", "FILE"},
		{"\u1fb3", "\u03b1\u0345", "\u1fbc", "\u0391\u0399"},
		{"\u1fb4", "\u03b1\u0301\u0345", "\u03b1\u0345\u0301"},
		{"\u0149", "\u02bcn"},
		{"\uac00", "\u1100\u1161"},
		{"\u0390", "\u1fd3", "\u03b9\u0308\u0301"},
		{"\u13a0", "\uab70"},
	}
	keys := map[string]int{}
	for i, names := range equal {
		for _, name := range names {
			key := rootfs.FoldKey(name)
			if want := rootfs.FoldKey(names[0]); key != want {
				t.Errorf("FoldKey(%+q) = %+q, FoldKey(%+q) = %+q", name, key, names[0], want)
			}
			if other, taken := keys[key]; taken && other != i {
				t.Errorf("FoldKey(%+q) is also that of %+q", name, equal[other])
			}
			keys[key] = i
		}
	}
}

// TestFoldKeyOfAll sees for every character that its key is its own key, and
// that the characters which differ from it in case only have the same.
func TestFoldKeyOfAll(t *testing.T) {
	for r := range rune(0x30000) { // no case or composition beyond
		if !utf8.ValidRune(r) {
			continue
		}
		key := rootfs.FoldKey(string(r))
		if again := rootfs.FoldKey(key); again != key {
			t.Errorf("FoldKey(%+q) = %+q, whose key is %+q", r, key, again)
		}
		if other := unicode.SimpleFold(r); other != r && rootfs.FoldKey(string(other)) != key {
			t.Errorf("FoldKey(%+q) = %+q, FoldKey(%+q) = %+q", r, key, other, rootfs.FoldKey(string(other)))
		}
	}
}

// TestCheckLimits refuses the first path beyond each limit, and accepts the last
// before it.
func TestCheckLimits(t *testing.T) {
	path := func(parts, size int) string { // of that many bytes
		p := strings.Repeat("p/", parts-1)
		return p + strings.Repeat("n", size-len(p))
	}
	long := strings.Repeat(strings.Repeat("n", rootfs.MaxName-1)+"/", rootfs.MaxPath/rootfs.MaxName)
	for name, c := range map[string]struct{ last, beyond string }{
		"name":  {path(1, rootfs.MaxName), path(1, rootfs.MaxName+1)},
		"depth": {path(rootfs.MaxDepth, 100), path(rootfs.MaxDepth+1, 100)},
		"path":  {long + strings.Repeat("n", rootfs.MaxPath-len(long)), long + strings.Repeat("n", rootfs.MaxPath-len(long)+1)},
	} {
		if err := rootfs.Check(c.last); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := rootfs.Check(c.beyond); rootfs.CodeOf(err) != rootfs.PathInvalid {
			t.Errorf("%s beyond the limit: %v, want code path_invalid", name, err)
		}
	}
}

// FuzzCheck holds an accepted path against what others call safe.
func FuzzCheck(f *testing.F) {
	f.Fuzz(func(t *testing.T, p string) {
		err := rootfs.Check(p)
		if err != nil {
			if rootfs.CodeOf(err) != rootfs.PathInvalid {
				t.Errorf("Check(%q) has code %q", p, rootfs.CodeOf(err))
			}
			if msg := err.Error(); len(msg) > 2000 || !utf8.ValidString(msg) {
				t.Errorf("Check(%q) says %q", p, msg)
			}
			return
		}
		root := filepath.FromSlash("/root")
		joined := filepath.Join(root, filepath.FromSlash(p))
		switch {
		case !fs.ValidPath(p), !filepath.IsLocal(filepath.FromSlash(p)), path.Clean(p) != p, !utf8.ValidString(p):
			t.Errorf("Check accepts %q", p)
		case joined != root+string(filepath.Separator)+filepath.FromSlash(p):
			t.Errorf("Check accepts %q, which joins to %q", p, joined)
		case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == '\\' || r == ':' }):
			t.Errorf("Check accepts %q", p)
		}
		for part := range strings.SplitSeq(p, "/") {
			if rootfs.FoldKey(part) == ".git" || len(part) > rootfs.MaxName || rootfs.Check(part) != nil {
				t.Errorf("Check accepts %q with the part %q", p, part)
			}
		}
		if dir := path.Dir(p); dir != "." && rootfs.Check(dir) != nil {
			t.Errorf("Check accepts %q but not the directory it is in", p)
		}
	})
}

// FuzzFoldKey sees that a key is its own key, and that keys work part by part.
func FuzzFoldKey(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		key := rootfs.FoldKey(s)
		if again := rootfs.FoldKey(key); again != key {
			t.Errorf("FoldKey(%+q) = %+q, whose key is %+q", s, key, again)
		}
		if low := rootfs.FoldKey(strings.ToLower(key)); utf8.ValidString(s) && low != key {
			t.Errorf("FoldKey(%+q) = %+q, in lower case %+q", s, key, low)
		}
		dir, name, ok := strings.Cut(s, "/")
		if joined := rootfs.FoldKey(dir) + "/" + rootfs.FoldKey(name); ok && joined != key {
			t.Errorf("FoldKey(%+q) = %+q, part by part %+q", s, key, joined)
		}
	})
}

// TestAllocs bounds what the hot paths allocate.
func TestAllocs(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "docs/guide/plan.md", strings.Repeat("x", 4096))
	budget := func(name string, want float64, fn func()) {
		if got := testing.AllocsPerRun(100, fn); got > want {
			t.Errorf("%s: %v allocations, at most %v", name, got, want)
		}
	}
	budget("Check", 0, func() { _ = rootfs.Check("docs/guide/plan.md") })
	budget("FoldKey", 0, func() { _ = rootfs.FoldKey("docs/guide/plan.md") })
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			r := open(t, dir, opts)
			allocs := map[bool]float64{false: 6, true: 55}[opts.Portable]
			budget("Hash", allocs, func() { _, _, _ = r.Hash("docs/guide/plan.md", 1<<20) })
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		must(b, rootfs.Check("docs/guide/getting-started.md"))
	}
}
