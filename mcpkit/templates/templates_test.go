package templates_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/mcpkit/templates"
)

const (
	planText   = "# Plan\n\n<what & why>\n"
	recordText = "# Decision\n"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sample returns a set of three templates, of which one is empty.
func sample() fstest.MapFS {
	manifest := `schema_version: "1"
set: v2
templates:
  plan:
    file: provider/plan.tmpl
    artifact_path: docs/plan.md
    media_type: text/markdown
    sha256: ` + sumOf(planText) + `
  decision-record:
    file: provider/record
    artifact_path: docs/decisions/decision.md
    media_type: text/markdown
  ignore.file:
    file: empty
    artifact_path: .gitignore
    media_type: text/plain; charset=utf-8
`
	return fstest.MapFS{
		"templates.yaml":     {Data: []byte(manifest)},
		"provider/plan.tmpl": {Data: []byte(planText)},
		"provider/record":    {Data: []byte(recordText)},
		"empty":              {},
	}
}

func newServer(tb testing.TB) *mcp.Server {
	tb.Helper()
	set, err := templates.Load(sample(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, set.Install)
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

func TestContract(t *testing.T) {
	contracttest.Run(t, func() *mcp.Server { return newServer(t) }, &contracttest.Options{Calls: []contracttest.Call{
		{Tool: "template_get_many", Arguments: map[string]any{"ids": []string{"plan", "ignore.file"}}},
		{Tool: "template_get_many", Arguments: map[string]any{"ids": []string{"plan"}, "contentMode": "text"}},
		{Tool: "template_get_many", Arguments: map[string]any{"ids": []string{"plan", "nope"}}, Fails: true},
	}})
}

func descriptorOf(id, artifact, media, text, content string) string {
	return fmt.Sprintf(`{"id":%q,"uri":"template://v2/%s","artifactPath":%q,"mediaType":%q,"sha256":%q,"size":%d%s}`,
		id, id, artifact, media, sumOf(text), len(text), content)
}

// sameJSON compares what the SDK escaped anew.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Fatalf("not JSON: %s, %s", a, b)
	}
	return cmp.Equal(x, y)
}

// Each body is sent once, wherever the client reads it.
func TestGetMany(t *testing.T) {
	const args = `{"ids":["plan","ignore.file"]%s}`
	plain := `{"items":[` + descriptorOf("plan", "docs/plan.md", "text/markdown", planText, "") + "," +
		descriptorOf("ignore.file", ".gitignore", "text/plain; charset=utf-8", "", "") + `]}`
	full := `{"items":[` + descriptorOf("plan", "docs/plan.md", "text/markdown", planText, `,"content":"# Plan\n\n<what & why>\n"`) + "," +
		descriptorOf("ignore.file", ".gitignore", "text/plain; charset=utf-8", "", `,"content":""`) + `]}`
	for _, e := range wiretest.Eras() {
		t.Run(string(e), func(t *testing.T) {
			structured := wiretest.Dial(t, newServer(t), e, "codex-mcp-client")
			for _, mode := range []string{"", `,"contentMode":"text"`, `,"contentMode":"embedded_resource"`} {
				r := structured.Call(t, "template_get_many", fmt.Sprintf(args, mode))
				if !sameJSON(t, string(r.StructuredContent), full) || len(r.Content) != 0 {
					t.Errorf("structured%s: got %s and %d blocks, want %s", mode, r.StructuredContent, len(r.Content), full)
				}
			}
			text := wiretest.Dial(t, newServer(t), e, "zed")
			for _, mode := range []string{"", `,"contentMode":"embedded_resource"`} {
				r := text.Call(t, "template_get_many", fmt.Sprintf(args, mode))
				if len(r.Content) != 3 || r.StructuredContent != nil || r.JSON() != plain {
					t.Fatalf("text%s: got %+v, want two blocks and %s", mode, r, plain)
				}
				first, second := r.Content[0].Resource, r.Content[1].Resource
				if first == nil || first.Text != planText || first.URI != "template://v2/plan" || first.MIMEType != "text/markdown" {
					t.Errorf("text%s: first block: %+v", mode, first)
				}
				if second == nil || second.Text != "" || second.Blob == nil || second.URI != "template://v2/ignore.file" {
					t.Errorf("text%s: second block: %+v", mode, second)
				}
			}
			r := text.Call(t, "template_get_many", fmt.Sprintf(args, `,"contentMode":"text"`))
			if len(r.Content) != 3 || *r.Content[0].Text != planText || *r.Content[1].Text != "" || r.JSON() != plain {
				t.Errorf("text blocks: got %+v", r)
			}
		})
	}
}

func TestGetManyRefuses(t *testing.T) {
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf(`"t%d"`, i)
	}
	tests := []struct{ name, args, code, want string }{
		{"none", `{"ids":[]}`, "invalid_arguments", "at least 1"},
		{"too many", `{"ids":[` + strings.Join(many, ",") + `]}`, "invalid_arguments", "at most 32"},
		{"twice", `{"ids":["plan","plan"]}`, "invalid_arguments", `"ids[1]" repeats an earlier item`},
		{"unknown", `{"ids":["plan","nope","provider/plan.tmpl"]}`, "template_unknown", `no template \"nope\", \"provider/plan.tmpl\"; it has decision-record ignore.file plan`},
		{"mode", `{"ids":["plan"],"contentMode":"html"}`, "invalid_arguments", "want one of embedded_resource, text"},
		{"extra", `{"ids":["plan"],"set":"v1"}`, "invalid_arguments", `"set" is unexpected`},
	}
	for _, e := range wiretest.Eras() {
		p := wiretest.Dial(t, newServer(t), e, "zed")
		for _, tt := range tests {
			r := p.Call(t, "template_get_many", tt.args)
			if text := strings.ReplaceAll(r.JSON(), `\\\"`, `\"`); !r.IsError || !strings.Contains(text, `"code":"`+tt.code) || !strings.Contains(unquote(text), unquote(tt.want)) {
				t.Errorf("%s %s: got %s, want %s with %s", e, tt.name, text, tt.code, tt.want)
			}
		}
	}
}

func unquote(s string) string { return strings.ReplaceAll(s, `\"`, `"`) }

// Nothing on the wire names a file of the set.
func TestResources(t *testing.T) {
	for _, e := range wiretest.Eras() {
		p := wiretest.Dial(t, newServer(t), e, "zed")
		list := string(p.Send(t, "resources/list", `{}`))
		for _, id := range []string{"plan", "decision-record", "ignore.file"} {
			if !strings.Contains(list, `"uri":"template://v2/`+id+`"`) {
				t.Errorf("%s: the list lacks %s: %s", e, id, list)
			}
		}
		read := string(p.Send(t, "resources/read", `{"uri":"template://v2/decision-record"}`))
		if !strings.Contains(read, `"text":"# Decision\n"`) || !strings.Contains(read, `"mimeType":"text/markdown"`) {
			t.Errorf("%s: read: %s", e, read)
		}
		if empty := string(p.Send(t, "resources/read", `{"uri":"template://v2/ignore.file"}`)); !strings.Contains(empty, `"blob":""`) {
			t.Errorf("%s: an empty template has neither text nor blob: %s", e, empty)
		}
		tools := string(p.Send(t, "tools/list", `{}`))
		if all := list + read + tools; strings.Contains(all, "provider") {
			t.Errorf("%s: a path of the provider is public: %s", e, all)
		}
		for _, uri := range []string{"template://v2/nope", "template://v1/plan", "template://v2/../plan", "template://v2/plan/", "template://v2/provider%2Fplan.tmpl"} {
			if r := string(p.Send(t, "resources/read", fmt.Sprintf(`{"uri":%q}`, uri))); !strings.Contains(r, `"code":-32602`) && !strings.Contains(r, `"code":-32002`) {
				t.Errorf("%s: %s: got %s, want not found", e, uri, r)
			}
		}
	}
}

// What is served is what was loaded.
func TestImmutable(t *testing.T) {
	files := sample()
	set, err := templates.Load(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	files["provider/record"].Data[0] = 'X'
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, set.Install)
	if err != nil {
		t.Fatal(err)
	}
	r := wiretest.Dial(t, server, wiretest.Handshake, "codex").Call(t, "template_get_many", `{"ids":["decision-record"]}`)
	if !strings.Contains(string(r.StructuredContent), `"content":"# Decision\n"`) {
		t.Errorf("got %s", r.StructuredContent)
	}
	if _, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, set.Install, set.Install); err == nil {
		t.Error("two sets were installed")
	}
}

func TestLoadRefuses(t *testing.T) {
	edit := func(old, other string) func(fstest.MapFS) {
		return func(files fstest.MapFS) {
			src := string(files["templates.yaml"].Data)
			changed := strings.Replace(src, old, other, 1)
			if changed == src {
				panic("the edit does nothing: " + old)
			}
			files["templates.yaml"].Data = []byte(changed)
		}
	}
	var crowd strings.Builder
	for i := range 257 {
		fmt.Fprintf(&crowd, "  t%d: {file: empty, artifact_path: a, media_type: text/plain}\n", i)
	}
	tests := []struct {
		name   string
		change func(fstest.MapFS)
		code   templates.Code
		want   string
	}{
		{"no manifest", func(f fstest.MapFS) { delete(f, "templates.yaml") }, templates.CodeUnreadable, "templates.yaml"},
		{"manifest is a directory", func(f fstest.MapFS) { f["templates.yaml"] = &fstest.MapFile{Mode: fs.ModeDir} }, templates.CodeUnreadable, "not a regular file"},
		{"not yaml", edit("set: v2", "set: ["), templates.CodeInvalid, "templates.yaml"},
		{"two documents", edit("set: v2", "set: v2\n---\nset: v3"), templates.CodeInvalid, "document"},
		{"a list", func(f fstest.MapFS) { f["templates.yaml"].Data = []byte("- a\n") }, templates.CodeInvalid, "line 1, column 1: want a mapping"},
		{"no version", edit(`schema_version: "1"`, ""), templates.CodeInvalid, "schema_version is missing"},
		{"other version", edit(`"1"`, `"2"`), templates.CodeInvalid, `line 1, column 17: schema_version has to be "1"`},
		{"set with a slash", edit("set: v2", "set: a/b"), templates.CodeInvalid, "set has to be"},
		{"unknown field", edit("set: v2", "set: v2\nowner: me"), templates.CodeInvalid, `the field "owner" is unknown`},
		{"unknown field of a template", edit("file: provider/record", "file: provider/record\n    mode: x"), templates.CodeInvalid, `the field "mode" is unknown`},
		{"no file", edit("    file: provider/record\n", ""), templates.CodeInvalid, "the field file is missing"},
		{"bad id", edit("  plan:", "  Plan:"), templates.CodeInvalid, `the id "Plan"`},
		{"same id twice", edit("  ignore.file:", "  plan:"), templates.CodeInvalid, "plan"},
		{"file outside", edit("file: provider/record", "file: ../record"), templates.CodeInvalid, "file has to be"},
		{"file absolute", edit("file: provider/record", "file: /etc/passwd"), templates.CodeInvalid, "file has to be"},
		{"file is the manifest", edit("file: provider/record", "file: templates.yaml"), templates.CodeInvalid, "file has to be"},
		{"artifact outside", edit("docs/plan.md", "../plan.md"), templates.CodeInvalid, `artifact_path has to be a relative path that every system can have, and "../plan.md" is none: it contains the part ".."`},
		{"artifact that is a device", edit("docs/plan.md", "docs/CON.md"), templates.CodeInvalid, `"docs/CON.md" is none: "CON.md" is a device name of Windows`},
		{"artifact with a colon", edit("docs/plan.md", "docs/a:b.md"), templates.CodeInvalid, `"docs/a:b.md" is none: it contains ':'`},
		{"artifact null", edit("docs/plan.md", "~"), templates.CodeInvalid, "artifact_path has to be a relative path that every system can have"},
		{"artifact of fields", edit("artifact_path: docs/plan.md", "artifact_path: {a: b}"), templates.CodeInvalid, "artifact_path has to be a relative path that every system can have"},
		{"media type", edit("media_type: text/markdown", "media_type: mark down"), templates.CodeInvalid, "media_type has to be"},
		{"media type without a part", edit("media_type: text/markdown", "media_type: markdown"), templates.CodeInvalid, "media_type has to be"},
		{"short sha256", edit("sha256: ", "sha256: a"), templates.CodeInvalid, "sha256 has to be"},
		{"none", func(f fstest.MapFS) {
			f["templates.yaml"].Data = []byte("schema_version: '1'\nset: a\ntemplates: {}\n")
		}, templates.CodeInvalid, "1 to 256"},
		{"too many", func(f fstest.MapFS) {
			f["templates.yaml"].Data = []byte("schema_version: '1'\nset: a\ntemplates:\n" + crowd.String())
		}, templates.CodeInvalid, "1 to 256"},
		{"template is text", func(f fstest.MapFS) {
			f["templates.yaml"].Data = []byte("schema_version: '1'\nset: a\ntemplates: {a: b}\n")
		}, templates.CodeInvalid, "want a mapping"},
		{"missing file", func(f fstest.MapFS) { delete(f, "provider/record") }, templates.CodeUnreadable, "decision-record"},
		{"file is a directory", func(f fstest.MapFS) { f["provider/record"] = &fstest.MapFile{Mode: fs.ModeDir} }, templates.CodeUnreadable, "not a regular file"},
		{"too large", func(f fstest.MapFS) { f["provider/record"].Data = make([]byte, 1001) }, templates.CodeUnreadable, "more than 1000 bytes"},
		{"not text", func(f fstest.MapFS) { f["provider/record"].Data = []byte{0xff} }, templates.CodeUnreadable, "not UTF-8"},
		{"changed", func(f fstest.MapFS) { f["provider/plan.tmpl"].Data = []byte("# Plam\n") }, templates.CodeChanged, "template plan: its file has the sha256"},
	}
	for _, tt := range tests {
		files := sample()
		for name, f := range files {
			files[name] = &fstest.MapFile{Data: slices.Clone(f.Data), Mode: f.Mode}
		}
		tt.change(files)
		set, err := templates.Load(files, &templates.Options{MaxBytes: 1000})
		if set != nil || templates.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, %v, want %s with %q", tt.name, set, err, tt.code, tt.want)
		}
	}
	if got := templates.CodeOf(fs.ErrNotExist); got != "" {
		t.Errorf("code of a foreign error: %q", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(sample()["templates.yaml"].Data)
	f.Add([]byte("schema_version: '1'\nset: a\ntemplates: {a: {file: f, artifact_path: b, media_type: text/plain}}\n"))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		files := sample()
		files["templates.yaml"] = &fstest.MapFile{Data: manifest}
		first, err := templates.Load(files, nil)
		if err != nil {
			if templates.CodeOf(err) == "" || first != nil {
				t.Fatalf("got %v, %v, want a code and no set", first, err)
			}
			return
		}
		second, err := templates.Load(files, nil)
		if err != nil || cmp.Diff(fmt.Sprint(first), fmt.Sprint(second)) != "" {
			t.Fatalf("loaded again: %v, %v", second, err)
		}
		if _, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, first.Install); err != nil {
			t.Fatalf("a loaded set cannot be installed: %v", err)
		}
	})
}
