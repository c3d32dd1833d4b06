package paging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/result"
)

func TestText(t *testing.T) {
	tests := []struct {
		name, text string
		budget     int
		want       []string
	}{
		{"empty", "", 10, []string{""}},
		{"fits", "abc\ndef\n", 20, []string{"abc\ndef\n"}},
		{"at a line end", "abc\ndef\nghi", 14, []string{"abc\ndef\n", "ghi"}},
		{"a line over the budget", "0123456789abc\nx", 10, []string{"0123456789", "abc\nx"}},
		{"between characters", "ääääää", 9, []string{"ääää", "ää"}},
		{"one character over the budget", "\"\"", 1, []string{`"`, `"`}},
		{"escapes count", "\\\\\\\\", 8, []string{`\\`, `\\`}},
		{"line ends of two characters", "a\r\nb\r\n", 9, []string{"a\r\n", "b\r\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for from := 0; ; {
				page, next := paging.Text(tt.text, from, tt.budget)
				if got = append(got, page); next == 0 || len(got) > 10 {
					break
				}
				from = next
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzText: pages joined are the text, none is empty or over the budget or
// splits a character, and a page ends within a line only if that line does not
// fit.
func FuzzText(f *testing.F) {
	f.Add("plain\ntext\n", 8)
	f.Add("\x01<\"\\\u2028ä\r\n", 16)
	f.Fuzz(func(t *testing.T, text string, budget int) {
		if !utf8.ValidString(text) || budget < 8 || budget > 1<<20 {
			t.Skip()
		}
		var joined strings.Builder
		for from := 0; ; {
			page, next := paging.Text(text, from, budget)
			joined.WriteString(page)
			if next == 0 {
				break
			}
			if page == "" || next != from+len(page) || !utf8.ValidString(page) {
				t.Fatalf("page %q from %d, next %d", page, from, next)
			}
			if !strings.HasSuffix(page, "\n") && strings.Contains(page, "\n") {
				t.Fatalf("page %q ends within a line and holds a whole one", page)
			}
			if spent := wireCost(t, page); spent > budget {
				t.Fatalf("page %q costs %d of %d", page, spent, budget)
			}
			from = next
		}
		if joined.String() != text {
			t.Fatalf("joined pages differ: %q, want %q", joined.String(), text)
		}
	})
}

// wireCost is the length of text in a JSON string in a JSON string.
func wireCost(t *testing.T, text string) int {
	t.Helper()
	inner, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := json.Marshal(string(inner[1 : len(inner)-1]))
	if err != nil {
		t.Fatal(err)
	}
	return len(outer) - 2
}

func TestCost(t *testing.T) {
	value := map[string]string{"a \"quoted\" name\n": "<&>\u2028\\ ä \x01"}
	inner, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paging.Cost(value), wireCost(t, string(inner)); got > want+20 || got < len(inner) {
		t.Errorf("got %d, the wire takes at most %d", got, want)
	}
	if paging.Cost(func() {}) != 0 {
		t.Error("what cannot be encoded costs something")
	}
}

func ExampleItems() {
	pager, err := paging.New(result.NewSealer(0), "example", 1_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	q := pager.Query("list_numbers")
	numbers := []string{strings.Repeat("1", 300), strings.Repeat("2", 300), "3"}
	for cursor := ""; ; {
		page, err := paging.Items(q, cursor, "v1", 0, numbers)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(page.Items))
		if cursor = page.NextCursor; cursor == "" {
			return
		}
	}
	// Output:
	// 1
	// 1
	// 1
}

func newPager(t *testing.T, feature string) *paging.Pager {
	t.Helper()
	pager, err := paging.New(result.NewSealer(0), feature, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return pager
}

func TestQuery(t *testing.T) {
	pager := newPager(t, "a")
	q := pager.Query("list", "x")
	cursor, err := q.Seal(7, "v1")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name             string
		q                paging.Query
		cursor, snapshot string
		want             int
		code             string
	}{
		{"start", q, "", "v1", 0, ""},
		{"same", q, cursor, "v1", 7, ""},
		{"the same query again", pager.Query("list", "x"), cursor, "v1", 7, ""},
		{"another snapshot", q, cursor, "v2", 0, paging.CodeSnapshotChanged},
		{"another query", pager.Query("list", "y"), cursor, "v1", 0, result.CodeCursorInvalid},
		{"parts joined otherwise", pager.Query("listx"), cursor, "v1", 0, result.CodeCursorInvalid},
		{"another process", newPager(t, "a").Query("list", "x"), cursor, "v1", 0, result.CodeCursorInvalid},
		{"altered", q, cursor[:len(cursor)-1], "v1", 0, result.CodeCursorInvalid},
		{"no cursor", q, "x", "v1", 0, result.CodeCursorInvalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.q.Open(test.cursor, test.snapshot)
			var coded interface{ ErrorCode() string }
			code := ""
			if errors.As(err, &coded) {
				code = coded.ErrorCode()
			}
			if got != test.want || code != test.code || (err == nil) != (test.code == "") {
				t.Errorf("got %d, %v; want %d with code %q", got, err, test.want, test.code)
			}
		})
	}
}

func TestQueryValue(t *testing.T) {
	q := newPager(t, "a").Query("walk")
	type place struct{ IDs []string }
	cursor, err := q.SealValue(place{[]string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	var got place
	if err := q.OpenValue(cursor, &got); err != nil || !cmp.Equal(got, place{[]string{"a", "b"}}) {
		t.Errorf("got %v, %v", got, err)
	}
	var wrong []int
	var e *result.Error
	if err := q.OpenValue(cursor, &wrong); !errors.As(err, &e) || e.Code != result.CodeCursorInvalid {
		t.Errorf("a cursor of another kind: %v", err)
	}
	if _, err := q.SealValue(func() {}); err == nil {
		t.Error("sealed what has no JSON")
	}
}

// A page holds as many items as fit, at least one, and leaves room for what else
// the reply has.
func TestItems(t *testing.T) {
	q := newPager(t, "a").Query("list")
	items := make([]string, 100)
	for i := range items {
		items[i] = strings.Repeat("x", 300)
	}
	plain, err := paging.Items(q, "", "v1", 0, items)
	if err != nil {
		t.Fatal(err)
	}
	less, err := paging.Items(q, "", "v1", 5_000, items)
	if err != nil {
		t.Fatal(err)
	}
	one, err := paging.Items(q, "", "v1", 50_000, items)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(plain.Items); n < 25 || n > 31 {
		t.Errorf("%d items of 300 bytes in a page of 10,000", n)
	}
	if len(less.Items) >= len(plain.Items)-10 || len(less.Items) < 8 || len(one.Items) != 1 {
		t.Errorf("%d, %d and %d items", len(plain.Items), len(less.Items), len(one.Items))
	}
}

func TestDigest(t *testing.T) {
	if paging.Digest([]string{"a", "b"}) == paging.Digest([]string{"ab"}) {
		t.Error("the digest does not tell lists apart")
	}
	if one, again := paging.Digest([]string{"a"}), paging.Digest([]string{"a"}); one != again {
		t.Error("the digest tells equal lists apart")
	}
	if paging.Digest([]func(){nil}) == paging.Digest([]func(){nil, nil}) {
		t.Error("lists of what has no JSON are not told apart by their length")
	}
}
