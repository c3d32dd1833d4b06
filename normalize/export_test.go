package normalize_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
	"golang.org/x/tools/txtar"
)

var updateExport = flag.Bool("update-export", false, "write the golden file of the exporter anew")

// sample holds what clients differ in.
func sample() []normalize.Server {
	return []normalize.Server{
		{
			Name: "files", Dialect: normalize.Cursor, Transport: normalize.Stdio,
			Command: "npx", Args: []string{"-y", "@acme/files-mcp", "${workspaceFolder}${/}data", "--root=${ROOT:-/srv}"},
			Env: pairs("ACME_TOKEN", "${ACME_TOKEN}", "MODE", "ro", "KEY", "${input:acme-key}"), EnvFile: "${userHome}/.env", Cwd: "/srv",
			CallTimeout: 90 * time.Second, AllowTools: []string{"read", "list"}, DenyTools: []string{"list"},
			Inputs: []normalize.Input{{ID: "acme-key", Kind: "promptString", Description: "the key", Secret: true}},
		},
		{
			Name: "hub", Dialect: normalize.Codex, Transport: normalize.HTTP, URL: "https://${HUB_HOST}/mcp",
			Headers:      pairs("Authorization", "Bearer ${API_TOKEN}", "X-Region", "${REGION}", "X-Plan", "team $5"),
			StartTimeout: 2500 * time.Millisecond, AutoApprove: []string{"search"},
			OAuth: &normalize.OAuth{ClientID: "client-1", Scopes: []string{"a:read", "b"}},
		},
		{
			Name: "old one", Transport: normalize.SSE, URL: "http://old.example.com/events",
			Headers: pairs("X-Key", "${OLD_KEY}", "Cookie", "a=b; c"), DenyTools: []string{"wipe", "drop*"},
		},
		{Name: "off", Transport: normalize.Stdio, Command: "acme", Disabled: true, EnvFrom: []string{"REGION"}},
		{Name: "feed", Transport: normalize.WS, URL: "wss://feed.example.com"},
		{Name: "bad", Err: &normalize.Error{Code: normalize.NoCommandOrURL}},
	}
}

// TestExportGolden writes the sample for each client. The golden file is read by
// people: it is where a change of a client's row shows.
func TestExportGolden(t *testing.T) {
	const file = "testdata/export.txtar"
	got := txtar.Archive{Comment: []byte("What Export writes for each client, and its notes.\nWritten by go test -run TestExportGolden -update-export.\n\n")}
	for _, d := range normalize.Dialects() {
		out, notes, err := normalize.Export(d, sample(), nil)
		if normalize.CodeOf(err) == normalize.NotWritable {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		got.Files = append(got.Files,
			txtar.File{Name: string(d), Data: out},
			txtar.File{Name: string(d) + " notes", Data: []byte(strings.Join(short(notes), "\n") + "\n")})
	}
	if *updateExport {
		if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Compared file by file, so that a difference names its client.
	wanted := make(map[string]string)
	for _, f := range txtar.Parse(want).Files {
		wanted[f.Name] = string(f.Data)
	}
	for _, f := range got.Files {
		if diff := cmp.Diff(wanted[f.Name], string(f.Data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
		delete(wanted, f.Name)
	}
	for name := range wanted {
		t.Errorf("%s is no longer written", name)
	}
}

func TestExportErrors(t *testing.T) {
	for d, want := range map[normalize.Dialect]normalize.Code{
		"nonesuch": normalize.UnknownDialect, "": normalize.UnknownDialect, normalize.CLI: normalize.NotWritable,
		normalize.MCPB: normalize.NotWritable, normalize.RegistryServer: normalize.NotWritable, normalize.Deeplink: normalize.NotWritable,
		normalize.DockerCatalog: normalize.NotWritable, normalize.Generic: "",
	} {
		out, notes, err := normalize.Export(d, nil, nil)
		if got := normalize.CodeOf(err); got != want {
			t.Errorf("Export(%q): error %v, want code %q", d, err, want)
		}
		if err != nil && (out != nil || notes != nil) {
			t.Errorf("Export(%q) gave a result beside its error", d)
		}
	}
}

// TestExportNothing checks that what holds no server is a document all the same,
// and that only what was left out has a note.
func TestExportNothing(t *testing.T) {
	off := normalize.Server{Name: "off", Transport: normalize.Stdio, Command: "acme", Disabled: true}
	for name, tt := range map[string]struct {
		to      normalize.Dialect
		servers []normalize.Server
		want    string
		notes   []string
	}{
		"none":           {normalize.Cursor, nil, "{\n  \"mcpServers\": {}\n}\n", nil},
		"none, in TOML":  {normalize.Codex, nil, "[mcp_servers]\n", nil},
		"all left out":   {normalize.Cursor, []normalize.Server{off}, "{\n  \"mcpServers\": {}\n}\n", []string{"not_expressible:off:enabled"}},
		"all cannot run": {normalize.Cursor, []normalize.Server{{Name: "bad", Err: &normalize.Error{Code: normalize.EntryNull}}}, "{\n  \"mcpServers\": {}\n}\n", []string{"skipped:bad(entry_null)"}},
	} {
		out, notes, err := normalize.Export(tt.to, tt.servers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, string(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.notes, short(notes)); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
		for _, n := range notes {
			checkSentence(t, name, n)
		}
		paste, err := normalize.Parse(out, &normalize.ParseOptions{Dialect: tt.to})
		if err != nil || len(paste.Servers) != 0 {
			t.Errorf("%s: read back as %+v, %v", name, paste, err)
		}
	}
}

// TestExportBridge checks the way through mcp-remote.
func TestExportBridge(t *testing.T) {
	servers := []normalize.Server{
		{Name: "a", Transport: normalize.HTTP, URL: "https://a/mcp", Headers: pairs("Authorization", "Bearer ${T}", "X_A", "1", "X-A", "2", "Bad Name", "3")},
		{Name: "b", Transport: normalize.SSE, URL: "http://b.example.com:80/sse", DenyTools: []string{"x", "y*"}, OAuth: &normalize.OAuth{}, Env: pairs("A", "b")},
		{Name: "c", Transport: normalize.HTTP, URL: "http://localhost:1/"},
		{Name: "c", Transport: normalize.HTTP, URL: "http://localhost.example.com/"},
		{Name: "d", Transport: normalize.WS, URL: "ws://d"},
	}
	out, notes, err := normalize.Export(normalize.ClaudeDesktop, servers, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "mcpServers": {
    "a": {
      "command": "npx",
      "args": ["-y", "mcp-remote", "https://a/mcp", "--header", "Authorization:${AUTH_HEADER}", "--header", "X_A:${HEADER_X_A}", "--header", "X-A:${HEADER_X_A_}", "--transport", "http-only"],
      "env": {
        "AUTH_HEADER": "Bearer ${T}",
        "HEADER_X_A": "1",
        "HEADER_X_A_": "2"
      }
    },
    "b": {
      "command": "npx",
      "args": ["-y", "mcp-remote", "http://b.example.com:80/sse", "--transport", "sse-only", "--allow-http", "--ignore-tool", "x", "--ignore-tool", "y*"]
    },
    "c": {
      "command": "npx",
      "args": ["-y", "mcp-remote", "http://localhost:1/", "--transport", "http-only"]
    },
    "c-2": {
      "command": "npx",
      "args": ["-y", "mcp-remote", "http://localhost.example.com/", "--transport", "http-only", "--allow-http"]
    }
  }
}
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	wantNotes := []string{
		"not_expressible:a:headers.Bad Name", "bridge_written:a", "not_expressible:a:headers.Authorization", "not_expressible:b:oauth",
		"not_expressible:b:env", "bridge_written:b", "bridge_written:c", "name_changed:c-2", "not_expressible:d:transport",
	}
	if diff := cmp.Diff(wantNotes, short(notes)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestExportQuoting checks that no text of a record can leave its string, in
// any format.
func TestExportQuoting(t *testing.T) {
	nasty := "a\"b\\c\nd\te\rf\x01g\x7fh\u0085i\u2028j\ufeffk'l#m: n"
	servers := []normalize.Server{
		{Name: nasty, Transport: normalize.Stdio, Command: nasty, Args: []string{nasty, "", "true", "1.0", "- x"}, Env: pairs(nasty, nasty, "yes", "no")},
	}
	want := map[normalize.Dialect]string{
		normalize.Hermes: `mcp_servers:
  "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n":
    command: "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n"
    args:
      - "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n"
      - ""
      - "true"
      - "1.0"
      - "- x"
    env:
      "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n": "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n"
      "yes": "no"
`,
		normalize.MistralVibe: `[[mcp_servers]]
name = "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n"
transport = "stdio"
command = "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n"
args = ["a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n", "", "true", "1.0", "- x"]

[mcp_servers.env]
"a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n" = "a\"b\\c\nd\te\rf\u0001g\u007fh\u0085i\u2028j\ufeffk'l#m: n"
yes = "no"
`,
	}
	for d, want := range want {
		out, _, err := normalize.Export(d, servers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d, diff)
		}
	}
}

// TestExportLongNames checks that a key of any length can be read again.
func TestExportLongNames(t *testing.T) {
	s := normalize.Server{
		Name: strings.Repeat("n: ", 500), Transport: normalize.Stdio, Command: "c", Env: pairs(strings.Repeat("E", 2000), "v"),
	}
	for _, d := range []normalize.Dialect{normalize.Hermes, normalize.Continue, normalize.MistralVibe, normalize.Cursor} {
		checkRound(t, d, s)
	}
}

// TestExportTOMLExtras checks that what a record kept of a Codex file comes
// back in TOML, whatever shape it has.
func TestExportTOMLExtras(t *testing.T) {
	s := normalize.Server{
		Name: "n", Dialect: normalize.Codex, Transport: normalize.Stdio, Command: "c",
		Extra: []byte(`{"required":true,"none":null,"mixed":[1,{"a":null,"b":[2]},null],"tables":[{"x":1},{"x":2}],"deep":{"er":{"k k":1.5e3}},"empty":{}}`),
	}
	out, _, err := normalize.Export(normalize.Codex, []normalize.Server{s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `[mcp_servers.n]
command = "c"
required = true
mixed = [1, {b = [2]}]

[[mcp_servers.n.tables]]
x = 1

[[mcp_servers.n.tables]]
x = 2

[mcp_servers.n.deep.er]
"k k" = 1.5e3

[mcp_servers.n.empty]
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
