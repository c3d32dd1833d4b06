package registry_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/registry"
)

// repeat gives n numbered copies of a format.
func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// bombs gives documents whose aliases or merge keys multiply what they name at each of nine levels.
func bombs() (aliases, merges string) {
	aliases, merges = "a: &a ["+strings.Repeat("x, ", 9)+"]\n", "a: &a {x: 1}\n"
	for c := 'b'; c <= 'i'; c++ {
		p := string(c - 1)
		aliases += fmt.Sprintf("%c: &%c [%s*%s]\n", c, c, strings.Repeat("*"+p+", ", 8), p)
		merges += fmt.Sprintf("%c: &%c {<<: [%s*%s]}\n", c, c, strings.Repeat("*"+p+", ", 8), p)
	}
	return aliases, merges
}

const (
	yamlHead = "schema_version: \"1.0\"\nkind: workspace_registry\n"
	jsonHead = `{"schema_version": "1.0", "kind": "workspace_registry", `
	tomlHead = "schema_version = \"1.0\"\nkind = \"workspace_registry\"\n"
)

// TestHostile checks that input made to hurt is refused where it hurts, quickly and without much memory.
// Time is only logged, as it says more about the machine; the memory is the same everywhere.
func TestHostile(t *testing.T) {
	aliases, merges := bombs()
	const entry = "- {repo_id: a, manifest_source: generated, entrypoints: [README.md]}\n"
	tests := []struct {
		file, text string
		want       string // place and code of a problem
		alloc      int    // MiB that may be allocated
	}{
		{"aliases.yaml", aliases, "1:4 alias", 2},
		{"merges.yaml", merges, "1:4 alias", 2},
		{"cycle.yaml", "repos: &a [*a]\n", "1:8 alias", 2},
		{"brackets.yaml", yamlHead + "repos: " + strings.Repeat("[", 10_000), "3:1 syntax", 32},
		{"closed-brackets.yaml", yamlHead + "repos: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "3:39 too_deep", 16},
		{"million-brackets.yaml", strings.Repeat("[", 1_000_001), "1:1 too_many_nodes", 4},
		{"braces.yaml", yamlHead + "repos: " + strings.Repeat("{a: ", 10_000), "3:1 syntax", 32},
		{"brackets.json", jsonHead + `"repos": ` + strings.Repeat("[", 10_000), "1:97 too_deep", 2},
		{"closed-brackets.json", jsonHead + `"repos": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}", "1:97 too_deep", 2},
		{"million-brackets.json", strings.Repeat("[", 1_000_000), "1:1 wrong_type", 4},
		{"braces.json", strings.Repeat(`{"a":`, 10_000), "1:161 too_deep", 2},
		{"brackets.toml", tomlHead + "repos = " + strings.Repeat("[", 10_000), "3:41 too_deep", 2},
		{"closed-brackets.toml", tomlHead + "repos = " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "3:41 too_deep", 2},
		{"braces.toml", tomlHead + "repos = " + strings.Repeat("{a=", 10_000), "3:103 too_deep", 2},
		{"dotted.toml", strings.Repeat("a.", 10_000) + "a = 1", "1:1 too_deep", 2},
		{"header.toml", "[" + strings.Repeat("a.", 10_000) + "a]", "1:2 too_deep", 2},
		{"keys.yaml", yamlHead + "repos:\n- repo_id: a\n  views:\n" + repeat(50_000, "    v%d: README.md\n"), "4102:5 too_many_keys", 16},
		{"root-keys.yaml", repeat(50_000, "key%d: 1\n"), "4097:1 too_many_keys", 16},
		{"flow-keys.yaml", yamlHead + "repos: [{" + repeat(50_000, "k%05d: 1,") + "}]", "3:40970 too_many_keys", 64},
		{"keys.json", jsonHead + `"repos": [{` + repeat(50_000, `"k%d": 1,`) + `"x": 1}]}`, "1:44014 too_many_keys", 8},
		{"root-keys.json", "{" + repeat(50_000, `"k%d": 1,`) + `"x": 1}`, "1:2 unknown_field", 8},
		{"map.json", jsonHead + `"repos": {` + repeat(50_000, `"k%d": {},`) + `"x": 1}}`, "1:48109 too_many_keys", 8},
		{"keys.toml", tomlHead + "[[repos]]\n" + repeat(50_000, "k%d = 1\n"), "4100:1 too_many_keys", 8},
		{"root-keys.toml", repeat(50_000, "k%d = 1\n"), "4097:1 too_many_keys", 8},
		{"inline-keys.toml", "x = {" + repeat(50_000, "k%d = 1,") + "}", "1:39856 too_many_keys", 8},
		{"items.json", jsonHead + `"repos": [{"former_ids": [` + strings.Repeat(`"a",`, 10_000) + `"a"]}]}`, "1:40083 too_many_items", 8},
		{"items.toml", "x = [" + strings.Repeat("1,", 10_000) + "1]", "1:20006 too_many_items", 8},
		{"items.yaml", yamlHead + "repos:\n- former_ids: [" + strings.Repeat("a,", 10_000) + "a]", "4:20016 too_many_items", 16},
		{"values.json", jsonHead + `"repos": [{` + repeat(4000, `"k%d": [`+strings.Repeat("1,", 40)+"1],") + `"x": 1}]}`, "1:109674 too_many_nodes", 40},
		{"repos.json", jsonHead + `"repos": [` + strings.Repeat("{},", 250_000) + `{}]}`, "1:67 missing_field", 8},
		{"text.json", jsonHead + `"generator": "` + strings.Repeat("x", 1<<20) + `"}`, "1:70 text_too_long", 4},
		{"text.yaml", yamlHead + "generator: " + strings.Repeat("x", 1<<20), "3:12 text_too_long", 16},
		{"text.toml", tomlHead + "generator = '" + strings.Repeat("x", 1<<20) + "'", "3:1 text_too_long", 4},
		{"second.yaml", yamlHead + "repos: []\n--- {}\n", "4:5 second_document", 2},
		{"second.json", jsonHead + `"repos": []} {}`, "1:70 second_document", 2},
		{"bom.yaml", "\xef\xbb\xbf" + yamlHead, "1:1 byte_order_mark", 2},
		{"bom.json", "\xef\xbb\xbf{}", "1:1 byte_order_mark", 2},
		{"bom.toml", "\xef\xbb\xbf" + tomlHead, "1:1 byte_order_mark", 2},
		{"utf16.json", "\xff\xfe{\x00}\x00", "1:1 byte_order_mark", 2},
		{"nul.yaml", yamlHead + "generator: a\x00b\n", "3:13 control_character", 2},
		{"nul.json", jsonHead + "\"generator\": \"a\x00b\"}", "1:72 control_character", 2},
		{"nul.toml", tomlHead + "generator = \"a\x00b\"\n", "3:15 control_character", 2},
		{"latin1.yaml", yamlHead + "generator: caf\xe9\n", "3:15 invalid_utf8", 2},
		{"duplicates.yaml", yamlHead + "repos:\n" + strings.Repeat(entry, 2000), "5:13 id_duplicate", 16},
		{"large.yaml", yamlHead + strings.Repeat("#", 8<<20), "1:1 too_large", 2},
		{"large.toml", tomlHead + strings.Repeat("#", 8<<20), "1:1 too_large", 2},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := registry.Parse([]byte(tt.text), &registry.ParseOptions{File: tt.file, Root: "/ws"})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var got []string
			for _, p := range problems(t, err) {
				got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Code))
			}
			if !slices.Contains(got, tt.want) {
				t.Errorf("got %v, want %s among them", got[:min(len(got), 3)], tt.want)
			}
			used := int((after.TotalAlloc - before.TotalAlloc) >> 20)
			t.Logf("%8d bytes: %v, %d MiB", len(tt.text), took.Round(time.Microsecond), used)
			if used > tt.alloc+len(tt.text)>>20 {
				t.Errorf("allocated %d MiB, want at most %d and the text", used, tt.alloc)
			}
		})
	}
}

// TestHostileFiles loads files of 100 MB, which are refused by their size.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"r.yaml", "r.json", "r.toml"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, 100_000_000); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err := registry.Load(file, nil)
		t.Logf("%s: %v", name, time.Since(start).Round(time.Microsecond))
		if p := problems(t, err)[0]; p.Code != registry.TooLarge || p.Line != 1 || p.Column != 1 || p.File != file {
			t.Errorf("%s: got %+v", name, p)
		}
	}
}

// TestHostileText checks texts that hold one thing very often.
func TestHostileText(t *testing.T) {
	const size = 256 << 10
	tests := []struct{ file, unit string }{
		{"dashes.yaml", "- "},
		{"lines.yaml", "- \n"},
		{"commas.yaml", "a,"},
		{"questions.yaml", "? "},
		{"colons.yaml", ": "},
		{"spaces.yaml", " "},
		{"tabs.yaml", "\t"},
		{"quotes.yaml", "'"},
		{"quotes2.yaml", "\""},
		{"anchors.yaml", "&a "},
		{"documents.yaml", "---\n"},
		{"bars.yaml", "|\n"},
		{"pairs.yaml", "a: b\n"},
		{"spaces.json", " "},
		{"commas.json", ","},
		{"quotes.json", "\""},
		{"objects.json", "{"},
		{"escapes.json", "\\"},
		{"pairs.json", "\"a\":"},
		{"lines.toml", "\n"},
		{"quotes.toml", "\""},
		{"apostrophes.toml", "'"},
		{"headers.toml", "[a]\n"},
		{"lists.toml", "[[a]]\n"},
		{"deep-lists.toml", "[[a.b.c]]\n"},
		{"pairs.toml", "a=1\n"},
		{"dots.toml", "a."},
		{"hashes.toml", "#"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			text := bytes.Repeat([]byte(tt.unit), size/len(tt.unit))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := registry.Parse(text, &registry.ParseOptions{File: tt.file, Root: "/ws"})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if p := problems(t, err)[0]; p.Line < 1 || p.Column < 1 || p.Code == "" {
				t.Errorf("no place or code: %+v", p)
			} else {
				t.Logf("%v, %d MiB: %s", took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, p)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 300 {
				t.Errorf("allocated %d MiB", used)
			}
		})
	}
}
