package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
)

func Example() {
	type record struct {
		Path   string   `json:"path"`
		Digest string   `json:"digest"`
		Tags   []string `json:"tags,omitempty"`
	}
	text, err := canon.Marshal(record{Path: "docs/a&b.md", Digest: canon.Sum([]byte("hello\n"))[:8]})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	fmt.Println(canon.Digest("example/record/1", text)[:16])
	// Output:
	// {"digest":"5891b5b5","path":"docs/a&b.md"}
	// 02196d37350eaf0a
}

func ExampleDigest() {
	// Where one part ends and the next begins matters, and so does the domain.
	fmt.Println(canon.Digest("example/1", []byte("ab"), []byte("c"))[:8])
	fmt.Println(canon.Digest("example/1", []byte("a"), []byte("bc"))[:8])
	fmt.Println(canon.Digest("example/2", []byte("a"), []byte("bc"))[:8])
	// Output:
	// 140400c8
	// be215716
	// 72792f02
}

func ExampleSum() {
	fmt.Println(canon.Sum(nil))
	// Output: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
}

func TestMarshal(t *testing.T) {
	type inner struct {
		Z, A int
		M    map[string]any `json:"m,omitempty"`
	}
	cases := []struct {
		name string
		in   any
		want string
	}{
		{"null", nil, `null`},
		{"bools", []bool{true, false}, `[true,false]`},
		{"struct order", inner{Z: 1, A: 2}, `{"A":2,"Z":1}`},
		{
			"map order by bytes",
			map[string]int{"b": 1, "B": 2, "a": 3, "\u00e9": 4, "\U0001f600": 5, "\uffff": 6, "": 7},
			`{"":7,"B":2,"a":3,"b":1,"` + "\u00e9" + `":4,"` + "\uffff" + `":6,"` + "\U0001f600" + `":5}`,
		},
		{
			"nesting",
			map[string]any{"b": []any{map[string]any{"y": 1, "x": []any{}}}, "a": map[string]any{}},
			`{"a":{},"b":[{"x":[],"y":1}]}`,
		},
		{"escapes", "a\"b\\c/\b\f\n\r\t\x00\x1f\x7f<>&\u2028\u2029\u00e9\ufffd", `"a\"b\\c/\b\f\n\r\t\u0000\u001f` + "\x7f<>&\u2028\u2029\u00e9\ufffd" + `"`},
		{"escaped key", map[string]int{"a\n\"": 1}, `{"a\n\"":1}`},
		{"raw escapes", json.RawMessage(` { "b" : "\u0041\/\u00E9\ud83d\ude00" , "a":1 } `), `{"a":1,"b":"A/` + "\u00e9\U0001f600" + `"}`},
		{"number text", json.RawMessage(`[1, 1.0, 1e2, 1E2, -0, 12345678901234567890]`), `[1,1.0,1e2,1E2,-0,12345678901234567890]`},
		{"floats", []float64{1, 0.1, 1e21, 1e-7, -2.5}, `[1,0.1,1e+21,1e-7,-2.5]`},
		{"bytes", []byte("hi"), `"aGk="`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := canon.Marshal(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarshalRefuses(t *testing.T) {
	cases := []struct {
		name string
		in   any
		want string // part of the error
		utf8 bool
	}{
		{"bad bytes", "a\xff", "not valid UTF-8", true},
		{"bad bytes beside a good U+FFFD", []string{"\ufffd", "a\xff"}, "not valid UTF-8", true},
		{"bad bytes in a key", map[string]int{"a\xff": 1}, "not valid UTF-8", true},
		{"bad bytes in raw JSON", json.RawMessage("\"a\xff\""), "not valid UTF-8", true},
		{"surrogate alone", json.RawMessage(`"\ud800"`), "not valid UTF-8", true},
		{"key twice", json.RawMessage(`{"a":1,"\u0061":2}`), `the key "a" is there twice`, false},
		{"key twice, nested", json.RawMessage(`[{"b":{"a":1,"a":1}}]`), `the key "a" is there twice`, false},
		{"not a number", math.NaN(), "unsupported value", false},
		{"a channel", make(chan int), "unsupported type", false},
		{"broken raw JSON", json.RawMessage(`{"a":`), "unexpected end", false},
		{"too deep", json.RawMessage(strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)), "exceeded max depth", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := canon.Marshal(c.in)
			if got != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Marshal = %.40q, %v, want an error with %q", got, err, c.want)
			}
			if errors.Is(err, canon.ErrNotUTF8) != c.utf8 {
				t.Errorf("Marshal = %v, ErrNotUTF8: want %v", err, c.utf8)
			}
		})
	}
}

// TestDigests fixes the values: what is stored with them must stay valid.
func TestDigests(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{canon.Sum([]byte("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{canon.Digest("d"), "e7f3ae40b6cc78d7e7b2cc69f4c9c86a0e1fe71f82c88e20c37c962397a513c0"},
		{canon.Digest("d", nil), "377339bdb4f949ced1c88cbb30891b9c121b549e765a15f6b3d20d7b5113084c"},
		{canon.Digest("d", []byte("a"), []byte("b")), "c0fd66b81f65bd8b85b1491075e4ce25418ce8928a006c963100475e537f8fce"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// TestDigestPairs sees that no two of many similar lists have one digest.
func TestDigestPairs(t *testing.T) {
	b := func(parts ...string) [][]byte {
		var out [][]byte
		for _, p := range parts {
			out = append(out, []byte(p))
		}
		return out
	}
	lists := [][][]byte{
		b(), b(""), b("", ""), b("ab"), b("a", "b"), b("", "ab"), b("ab", ""), b("a", "", "b"), b("ba"),
		b("\x00\x00\x00\x00\x00\x00\x00\x00"), b("\x00\x00\x00\x00\x00\x00\x00\x01a"),
	}
	seen := map[string]string{}
	for _, domain := range []string{"", "a", "ab", "\x00"} {
		for _, parts := range lists {
			this := fmt.Sprintf("%q %q", domain, parts)
			digest := canon.Digest(domain, parts...)
			if other, twice := seen[digest]; twice {
				t.Errorf("%s and %s have one digest", this, other)
			}
			seen[digest] = this
		}
	}
}

// FuzzMarshal holds the canonical form of any JSON against its meaning: it
// means the same, is its own form, and depends on neither order nor spelling.
func FuzzMarshal(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		form, err := canon.Marshal(json.RawMessage(text))
		if err != nil {
			return
		}
		if again, err := canon.Marshal(json.RawMessage(form)); err != nil || !bytes.Equal(again, form) {
			t.Errorf("form %q has the form %q, %v", form, again, err)
		}
		value, canonical := decode(t, text), decode(t, form)
		if diff := cmp.Diff(value, canonical); diff != "" {
			t.Errorf("the form means something else (-text +form):\n%s", diff)
		}
		// A decoded map has lost the order of its keys.
		if other, err := canon.Marshal(value); err != nil || !bytes.Equal(other, form) {
			t.Errorf("text %q has the form %q, its value %q, %v", text, form, other, err)
		}
	})
}

func decode(t *testing.T, text []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return v
}

// FuzzDigest cuts one text in two ways: the digests are equal only if the cuts
// are.
func FuzzDigest(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte, i, j, k uint) {
		n := uint(len(text)) + 1
		i, j, k = i%n, j%n, k%n
		a := canon.Digest(string(text[:k]), text[:i], text[i:])
		b := canon.Digest(string(text[:k]), text[:j], text[j:])
		if (a == b) != (i == j) {
			t.Errorf("cutting %q at %d and at %d: equal is %v", text, i, j, a == b)
		}
		if c := canon.Digest(string(text[:k]), text[k:]); c == canon.Digest(string(text[:i]), text[i:]) && i != k {
			t.Errorf("domains %q and %q of %q have one digest", text[:k], text[:i], text)
		}
		if len(a) != 64 || strings.Trim(a, "0123456789abcdef") != "" {
			t.Errorf("digest %q", a)
		}
	})
}

// TestDeep marshals a large text that is nested deeply: the work must not be
// the product of the two.
func TestDeep(t *testing.T) {
	const depth, size = 9_000, 1 << 20
	text := strings.Repeat(`{"a":`, depth) + `"` + strings.Repeat("x", size) + `"` + strings.Repeat("}", depth)
	form, err := canon.Marshal(json.RawMessage(text))
	if err != nil || string(form) != text {
		t.Errorf("the form has %d bytes, %v, want the %d of the text", len(form), err, len(text))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = canon.Marshal(json.RawMessage(text))
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 40*size {
		t.Errorf("allocated %d bytes for %d", got, size)
	}
}

// TestAllocs bounds what the functions allocate.
func TestAllocs(t *testing.T) {
	data := make([]byte, 10_000)
	for name, c := range map[string]struct {
		want float64
		fn   func()
	}{
		"Sum":    {2, func() { _ = canon.Sum(data) }},
		"Digest": {4, func() { _ = canon.Digest("domain", data, data) }},
	} {
		if got := testing.AllocsPerRun(100, c.fn); got > c.want {
			t.Errorf("%s: %v allocations, at most %v", name, got, c.want)
		}
	}
}
