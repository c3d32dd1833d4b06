package secrets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

func unique(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"https://u:p@x.example.com/mcp?api_key=k&a=b#c":          "https://***@x.example.com/mcp?api_key=***&a=b#c",
		"https://x.example.com/mcp?token=${TOKEN}&x":             "https://x.example.com/mcp?token=${TOKEN}&x",
		"https://x.example.com/a@b":                              "https://x.example.com/a@b",
		"${URL}":                                                 "${URL}",
		"https://${input:tenant}.example.com/mcp":                "https://${input:tenant}.example.com/mcp",
		"https://mcp.example.com/s/SECRETPATHTOKEN1234/mcp":      "https://mcp.example.com/s/***/mcp",
		"https://mcp.example.com/PLUMPLUMPLUM.JAMJAMJAMJAM.0123": "https://mcp.example.com/***",
		"notes --password plumjam please":                        "notes --password *** please",
		"notes password: plumjam please":                         "notes password: *** please",
		"the token plum is at plum":                              "the token plum is at plum",
		"with token=plum and plum again":                         "with token=*** and *** again",
		"with token=plumjam in xplumjamx":                        "with token=*** in x***x",
		"with token=abab in ababab":                              "with token=*** in ***",
		"pin=7 of 77":                                            "pin=***",
		"a server for keys and tokens":                           "a server for keys and tokens",
		"":                                                       "",
	} {
		if got := secrets.Redact(text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestRedactArgs(t *testing.T) {
	args := []string{
		"-y", "@acme/token", "--api-key", "k1", "--token=k2", "--verbose", "--header", "Authorization: Bearer k3",
		"--header=X-Key: k4", "-e", "SECRET=k5", "--url", "db://u:k6@h/x", "sk-abcdefghijklmnop", "--key", "${KEY}", "--port=80", "of k1",
	}
	want := []string{
		"-y", "@acme/token", "--api-key", "***", "--token=***", "--verbose", "--header", "Authorization: ***",
		"--header=X-Key: ***", "-e", "SECRET=***", "--url", "db://***@h/x", "***", "--key", "${KEY}", "--port=80", "of ***",
	}
	given := slices.Clone(args)
	if diff := cmp.Diff(want, secrets.RedactArgs(args)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(args, given) {
		t.Error("the arguments were changed")
	}
}

// TestRedactIsBounded has texts that are made to cost time.
func TestRedactIsBounded(t *testing.T) {
	var many strings.Builder
	for i := range 520 {
		fmt.Fprintf(&many, "token=plum%d ", i)
	}
	for name, text := range map[string]string{
		"secrets":  many.String(),
		"brackets": strings.Repeat("[{", 1<<10),
		"pairs":    strings.Repeat("a=", 1<<10),
		"colons":   strings.Repeat("key:", 1<<9) + "x",
		"nested":   strings.Repeat(`{"token":`, 1<<8) + `"x"`,
	} {
		begin := time.Now()
		got := secrets.Redact(text)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: %d bytes took %v", name, len(text), took)
		}
		if name == "secrets" && got != secrets.Hidden {
			t.Errorf("%d bytes are left of too many secrets", len(got))
		}
	}
}

// FuzzRedact holds for any value under any name in any text: the first level is a
// part of the second, what either finds is not in the text once it is redacted, and
// redacting again changes nothing.
func FuzzRedact(f *testing.F) {
	f.Add("API_KEY", "plum-jam-7", "serve --mode fast ")
	f.Add("Authorization", "Bearer plumjam", `{"a": "b", "c": `)
	f.Add("x", "https://u:plum@x.example.com/Ab12cd34Ef56gh78?key=c#token=d", "see ")
	f.Add("--password", "***", "***")
	f.Add("a", `{"token":"pl\"um"}`, "b;")
	f.Add("PW", "=;:,", "Password={")
	f.Fuzz(check)
}

func check(t *testing.T, name, value, before string) {
	t.Helper()
	if secrets.Is(name, value) && !secrets.May(name, value) {
		t.Errorf("%q=%q is sealed and not hidden", name, value)
	}
	secrets.ReplaceValue(name, value, func(_, secret string) string {
		if !slices.Contains(secrets.Pieces(name, value), secret) && strings.Trim(secret, "*") != "" {
			t.Errorf("%q of %q=%q is sealed and not hidden", secret, name, value)
		}
		return "${A}"
	})
	for _, text := range []string{value, before + value, before + name + "=" + value, before + name + ": " + value} {
		checkRedacted(t, text)
	}
	args := []string{before, name, value, name + "=" + value}
	redacted := secrets.RedactArgs(args)
	if again := secrets.RedactArgs(redacted); !slices.Equal(again, redacted) {
		t.Errorf("arguments %q, and again %q", redacted, again)
	}
	checkGone(t, secrets.ArgPieces(args), strings.Join(redacted, "\x00"))
}

func checkRedacted(t *testing.T, text string) {
	t.Helper()
	redacted := secrets.Redact(text)
	if again := secrets.Redact(redacted); again != redacted {
		t.Errorf("%q, and again %q", redacted, again)
	}
	found := secrets.Pieces("", text)
	secrets.Replace(text, func(_, value string) string {
		if !slices.Contains(found, value) && strings.Trim(value, "*") != "" {
			t.Errorf("%q of %q is replaced and not hidden", value, text)
		}
		return "${A}"
	})
	checkGone(t, found, redacted)
}

// checkGone looks for pieces that do not look like what hides them. Short ones may
// stand in longer words.
func checkGone(t *testing.T, pieces []string, redacted string) {
	t.Helper()
	for _, piece := range pieces {
		if len(piece) >= 4 && !strings.Contains(piece, "*") && strings.Contains(redacted, piece) {
			t.Errorf("%q is in %q", piece, redacted)
		}
	}
}
