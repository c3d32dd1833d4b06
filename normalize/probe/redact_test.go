package probe_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

func TestRedact(t *testing.T) {
	tests := []struct {
		name   string
		values []string
		text   string
		cut    bool
		want   string
	}{
		{"nothing to hide", nil, "a line", false, "a line"},
		{"twice", []string{"plum"}, "plum and plum", false, "*** and ***"},
		{"the longer one", []string{"plum", "plumjam"}, "plumjam", false, "***"},
		{"side by side", []string{"plum", "pear"}, "plumpear", false, "***"},
		{"short alone", []string{"no"}, "no, not now: no", false, "***, not now: ***"},
		{"empty", []string{"", "  ", "\n"}, "a b", false, "a b"},
		{"with a line break", []string{"plum\n"}, "is plum.", false, "is ***."},
		{"begun before the cut", []string{"plumjam"}, "mjam is what it was, " + strings.Repeat("#", 40), true, "***" + strings.Repeat("#", 15)},
		{"split by what is not seen", []string{"plumjam", "pe\u200bar"}, "plu\u200bmj\x1ba\u00adm\ufe0f pear", false, "*** ***"},
		{"split at the end", []string{"plum-jam-jar"}, "is plum\x00-jam-j", false, "is ***"},
		{"in bytes that are no text", []string{"plumjam\xff"}, "plumjam\xfe", false, "***"},
		{"spaces run together", []string{"plum  jam"}, "plum jam", false, "***"},
		{"all is cut", []string{"plumjam"}, "mjam", true, "***"},
		{"control characters", nil, "a\x1b[31m\rb\u202ec\x00\n\td", false, "a[31mbc\n\td"},
		{"no text", nil, "a\xff\xfe", false, "a\uFFFD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, probe.Redact(test.values, test.text, test.cut)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRedactIsBounded has more values and escapes than any launch has for a reason.
func TestRedactIsBounded(t *testing.T) {
	var values []string
	for i := range 500 {
		values = append(values, strings.Repeat("%2", 20)+strconv.Itoa(i))
	}
	text := strings.Repeat(`%2%25\\u0025&amp;+`, 1<<10)
	begin := time.Now()
	probe.Redact(values, text, true)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("%d values in %d bytes took %v", len(values), len(text), took)
	}
	t.Log(time.Since(begin))
	for i := range 500 {
		values = append(values, strings.Repeat("y", i))
	}
	if got := probe.Redact(values, "any text", false); got != "***" {
		t.Errorf("with too many values: %q", got)
	}
	if got := probe.Redact(values, "", false); got != "" {
		t.Errorf("of no text: %q", got)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("plum+jam/7", "key ", " end", true)
	f.Add("plum\njam jar and more", "", "plum", false)
	f.Add("***", "*", "**", false)
	f.Add("0000", "00", "000", true)
	f.Fuzz(func(t *testing.T, secret, before, after string, cut bool) {
		got := probe.Redact([]string{secret}, before+secret+after, cut)
		if strings.ContainsAny(got, "\x00\x1b\r\u200b") || !utf8.ValidString(got) {
			t.Errorf("Redact(%q) = %q", before+secret+after, got)
		}
		// What hides a secret may look like one, and what is not shown cannot be
		// looked for.
		if len(secret) < 4 || strings.TrimSpace(secret) == "" || strings.ContainsAny(secret, "*\uFFFD") || probe.Redact(nil, secret, false) != secret {
			return
		}
		half := len(secret) / 2
		for !utf8.RuneStart(secret[half]) {
			half--
		}
		for _, text := range []string{before + secret + after, before + secret[:half] + "\u200b\x1b" + secret[half:] + after} {
			got := probe.Redact([]string{secret}, text, cut)
			if strings.Contains(got, secret) || !strings.Contains(got, "***") {
				t.Errorf("Redact(%q) = %q, with %q", text, got, secret)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"ping","id":"a"},{"jsonrpc":"2.0","method":"note"}]`))
	f.Add([]byte(`{"level":"info"}`))
	f.Add([]byte(`[`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, line []byte) {
		n, err := probe.Decode(line)
		if (err == nil) != (n > 0) && string(line) != "[]" {
			t.Errorf("Decode(%q) = %d messages, %v", line, n, err)
		}
		if err == nil && strings.Count(string(line), "jsonrpc") < n {
			t.Errorf("Decode(%q) found %d messages", line, n)
		}
	})
}
