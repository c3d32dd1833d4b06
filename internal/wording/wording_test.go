package wording_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

func ExampleQuote() {
	fmt.Println(wording.Quote("line one\nline two", 10))
	// Output: "line one\nl..."
}

func ExampleQuoteAll() {
	fmt.Println(wording.QuoteAll([]string{"a.md", "b.md", "c.md"}, 2, 100))
	// Output: "a.md", "b.md", and 1 more
}

func ExampleNearest() {
	fmt.Println(wording.Nearest("entry-pionts", []string{"entrypoints", "entry_points", "owner"}))
	// Output: entry_points
}

func TestFault(t *testing.T) {
	cause := errors.New("no space")
	for _, test := range []struct{ got, want string }{
		{wording.Fault("create", []string{"a", "", "b.md"}, "it is taken", "take another", cause), `create "a" "b.md": it is taken: take another: no space`},
		{wording.Fault("open", nil, "it is gone", "", nil), `open: it is gone`},
		{wording.Fault("", []string{"a"}, "it is gone", "", nil), `"a": it is gone`},
		{wording.Fault("", nil, "it is gone", "", cause), `it is gone: no space`},
		{wording.Fault("", nil, "", "", nil), ``},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	if got := wording.Fault("open", []string{strings.Repeat("x", 1000)}, "", "", nil); len(got) > 200 {
		t.Errorf("a name of 1,000 bytes gives a message of %d", len(got))
	}
}

func TestClip(t *testing.T) {
	for name, test := range map[string]struct {
		in    string
		limit int
		want  string
	}{
		"shorter":          {"abc", 4, "abc"},
		"as long":          {"abcd", 4, "abcd"},
		"longer":           {"abcde", 4, "abcd..."},
		"inside character": {"abcé!", 4, "abc..."},
		"only characters":  {"日本", 2, "..."},
		"nothing allowed":  {"abc", 0, "..."},
		"stray bytes":      {"\x80\x80\x80", 2, "..."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wording.Clip(test.in, test.limit); got != test.want {
				t.Errorf("Clip(%q, %d) = %q, want %q", test.in, test.limit, got, test.want)
			}
			if got, want := wording.Head(test.in, test.limit), strings.TrimSuffix(test.want, wording.Mark); got != want {
				t.Errorf("Head(%q, %d) = %q, want %q", test.in, test.limit, got, want)
			}
		})
	}
}

func TestQuoteIsOneLine(t *testing.T) {
	got := wording.Quote("a\r\nb\x00\u202e", 100)
	if strings.ContainsAny(got, "\r\n\x00\u202e") {
		t.Errorf("Quote kept a control or format character: %q", got)
	}
}

func TestQuoteAllEmpty(t *testing.T) {
	if got := wording.QuoteAll(nil, 3, 10); got != "" {
		t.Errorf("QuoteAll(nil) = %q, want nothing", got)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 0, 0},
		{"owner", "owner", 2, 0},
		{"ownr", "owner", 2, 1},   // insert
		{"ownerr", "owner", 2, 1}, // remove
		{"owmer", "owner", 2, 1},  // replace
		{"onwer", "owner", 2, 1},  // swap
		{"onwre", "owner", 2, 2},
		{"abcdef", "ghijkl", 2, 3}, // over the limit
		{"a", "abcdef", 2, 3},      // over it by length alone
		{"kitten", "sitting", 9, 3},
	} {
		if got := wording.Distance(test.a, test.b, test.limit); got != test.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", test.a, test.b, test.limit, got, test.want)
		}
		if got := wording.Distance(test.b, test.a, test.limit); got != test.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", test.b, test.a, test.limit, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"mcpServers", "command", "args", "env"}
	for in, want := range map[string]string{
		"mcpServer":             "mcpServers",
		"MCP_SERVERS":           "mcpServers",
		"comand":                "command",
		"arg":                   "args",
		"transport":             "",
		"":                      "",
		strings.Repeat("e", 65): "",
	} {
		if got := wording.Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("abcdé", 5)
	f.Add("日本語", 4)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 0 || limit > 1000 {
			t.Skip("a limit is a small constant of the caller")
		}
		got := wording.Clip(s, limit)
		if got == s {
			return
		}
		head, marked := strings.CutSuffix(got, wording.Mark)
		if !marked || len(head) > limit || !strings.HasPrefix(s, head) {
			t.Fatalf("Clip(%q, %d) = %q", s, limit, got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(head) {
			t.Fatalf("Clip(%q, %d) split a character: %q", s, limit, got)
		}
	})
}

// The limit changes only how far a distance is counted.
func TestDistanceLimit(t *testing.T) {
	words := []string{""}
	for i := 0; len(words[i]) < 5; i++ {
		words = append(words, words[i]+"a", words[i]+"b")
	}
	for _, a := range words {
		for _, b := range words {
			whole := wording.Distance(a, b, 10)
			for limit := range 4 {
				if got, want := wording.Distance(a, b, limit), min(whole, limit+1); got != want {
					t.Fatalf("Distance(%q, %q, %d) = %d, want %d", a, b, limit, got, want)
				}
			}
		}
	}
}
