package lookup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

const (
	aRepo    = "https://github.com/acme/notes"
	aDigest  = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	aPlugin  = "https://github.com/acme/notes/tree/main/plugins/a"
	anOffice = "https://files.example/office"
)

func TestReferenceSpellings(t *testing.T) {
	tests := map[string][]string{ // canonical spelling: other ones
		aRepo: {
			"acme/notes", "acme/notes.git", "github:acme/notes", "github.com/acme/notes", "www.github.com/acme/notes",
			aRepo + ".git", aRepo + "/", "http://github.com/acme/notes", "https://www.github.com/acme/notes",
			"HTTPS://GitHub.com/acme/notes", aRepo + "?tab=readme-ov-file#install", aRepo + "#readme",
			"git@github.com:acme/notes.git", "git@github.com:acme/notes", "github.com:acme/notes", "ssh://git@github.com/acme/notes.git",
			"ssh://git@ssh.github.com:443/acme/notes.git", "git+https://github.com/acme/notes.git", "git+ssh://git@github.com/acme/notes.git",
			"git://github.com/acme/notes.git", "https://user:hunter2@github.com/acme/notes", "  <" + aRepo + "> ", "`acme/notes`", "\"'acme/notes'\"",
			aRepo + "/issues/7", aRepo + "/releases/tag/v1.0.0", aRepo + "/wiki", aRepo + "/pulls", "https://api.github.com/repos/acme/notes/contents",
			"https://github.com/mcp/acme/notes", aRepo + "/tree", aRepo + "/blob/",
		},
		aPlugin: {
			aPlugin + "/", aPlugin + "?plain=1", "github:acme/notes/tree/main/plugins/a", "git@github.com:acme/notes/tree/main/plugins/a",
			"https://github.com/acme/notes/blob/main/plugins/a/README.md#L10", "https://raw.githubusercontent.com/acme/notes/main/plugins/a/server.json",
			"acme/notes/tree/main/plugins/a", "https://github.com/acme/notes/tree/main/plugins//a",
		},
		aRepo + "/tree/main":               {aRepo + "/blob/main", aRepo + "/blob/main/README.md", "github:acme/notes#main", "git+https://github.com/acme/notes#main"},
		aRepo + "/tree/feature/x%20y/dir":  {aRepo + "/tree/feature/x%20y/dir/"},
		"io.github.acme/notes":             {"https://registry.modelcontextprotocol.io/v0.1/servers/io.github.acme%2Fnotes", "https://registry.modelcontextprotocol.io/v0/servers/io.github.acme/notes/versions/latest"},
		"io.github.acme/notes@1.2.0":       {"https://registry.modelcontextprotocol.io/v0.1/servers/io.github.acme%2Fnotes/versions/1.2.0"},
		"smithery:@acme/notes":             {"smithery:acme/notes", "https://smithery.ai/server/@acme/notes", "https://smithery.ai/servers/acme/notes", "smithery.ai/server/@acme/notes", "https://server.smithery.ai/@acme/notes/mcp?api_key=hunter2&profile=p", "npx -y @smithery/cli@latest install @acme/notes --client claude --key hunter2", "npx @smithery/cli install @acme/notes"},
		"https://glama.ai/mcp/servers/a/b": {"https://glama.ai/mcp/servers/@a/b", "glama.ai/mcp/servers/@a/b?tab=schema"},
		"npm:@acme/notes":                  {"npx -y @acme/notes", "npx @acme/notes", "npx --yes @acme/notes", "$ npx -y @acme/notes"},
		"npm:@acme/notes@1.2.0":            {"npx -y @acme/notes@1.2.0"},
		"npm:notes-mcp@latest":             {"npx -y notes-mcp@latest"},
		"pypi:notes-mcp":                   {"uvx notes-mcp", "pypi:notes-mcp[cli]"},
		"pypi:notes-mcp@1.2.0":             {"notes-mcp==1.2.0", "pypi:notes-mcp==1.2.0", "uvx notes-mcp@1.2.0"},
		"nuget:Acme.Notes@1.0.0":           {"nuget:Acme.Notes@1.0.0"},
		"oci:images.example/acme/notes:1":  {"docker:images.example/acme/notes:1", "images.example/acme/notes:1"},
		"oci:acme/notes" + aDigest:         {"acme/notes" + aDigest},
		"oci:images.example/acme/notes":    {"images.example/acme/notes"},
		"oci:localhost:5000/notes":         {"localhost:5000/notes"},
		"@acme/notes":                      {" @acme/notes "},
		"https://github.com/acme/deploy":   {"acme/deploy"},
		"notes-mcp@1.0.0":                  {"'notes-mcp@1.0.0'"},
		"a server for the weather":         {"a server  for\tthe weather"},
		"docker run -i --rm acme/notes":    {"docker run -i  --rm \\\n  acme/notes"},
		"npx -y @acme/notes --read-only":   {"npx -y @acme/notes  --read-only"},
		"npx -y @smithery/cli run @a/b":    {"npx -y @smithery/cli run @a/b"},
		anOffice:                           {"https://user:hunter2@files.example/office?token=hunter2#x"},
		"go to https://github.com/acme/x":  {"go to https://github.com/acme/x"},
		"docker logs viewer":               {"docker logs viewer"},
	}
	for want, spellings := range tests {
		for _, text := range append(spellings, want) {
			t.Run(text, func(t *testing.T) {
				got, _, err := lookup.Canonical(text)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestReferenceRefused(t *testing.T) {
	tests := map[string]string{ // reference: part of the message
		"":                                   "empty",
		"  ``  ":                             "empty",
		strings.Repeat("a", 2049):            "2048 bytes",
		"acme/notes\x00":                     "one line",
		"acme/notes\nacme/other":             "one line",
		"acme/\xff":                          "one line",
		"https://github.com/acme":            "OWNER/REPO",
		"https://github.com/":                "OWNER/REPO",
		"https://github.com/orgs/acme":       "OWNER/REPO",
		"https://github.com/-acme/notes":     "OWNER/REPO",
		"https://github.com/acme/..":         "path",
		aRepo + "/tree/main/../../x":         "path",
		aRepo + "/tree/main/%2e%2e/x":        "path",
		aRepo + "/tree/main/a%2fb":           "path",
		aRepo + "/tree/main/a%00b":           "path",
		"github:acme/notes#../x":             "path",
		"https://api.github.com/users/acme":  "no address of a repository",
		"https://raw.githubusercontent.com/": "no address of a file",
		"ftp://github.com/acme/notes":        "https, ssh or git",
		"file:///etc/passwd":                 "no valid address",
		"https://":                           "no valid address",
		"https://smithery.ai/docs":           "names no server",
		"https://glama.ai/mcp":               "names no server",
		"https://registry.modelcontextprotocol.io/v0.1/servers/notes": "names no server",
		"https://registry.modelcontextprotocol.io/docs":               "names no server",
		"npm:":                "npm",
		"npm:../x":            "npm",
		"npm:a/b":             "npm",
		"npm:a@1 || 2":        "npm",
		"pypi:@a/b":           "pypi",
		"pypi:notes>=1":       "pypi",
		"oci:Acme Notes":      "container",
		"oci:UPPER/case":      "container",
		"smithery:notes":      "OWNER/NAME",
		"what?":               "no address, name or package",
		"{\"mcpServers\":{}}": "no address, name or package",
		"--rm":                "no address, name or package",
		`{"mcpServers": {"a": {"command": "npx", "args": ["-y", "a"]}}}`: "configuration",
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			got, _, err := lookup.Canonical(text)
			if err == nil {
				t.Fatalf("got %q", got)
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		})
	}
}

// FuzzReference holds that a canonical spelling is one: it parses to itself, and
// never shows a user or a query.
func FuzzReference(f *testing.F) {
	for _, text := range []string{
		"https://github.com/acme/notes/tree/main/a?x=1#y", "git@github.com:acme/notes.git", "io.github.acme/notes@1.0",
		"npx -y @acme/notes@1.0", "oci:images.example/a/b:1", "@acme/notes", "a few words", "`<\"'acme/notes'\">`",
		"docker run -i --rm \\\n x/y", "https://u:p@files.example/%2F?k=v", "a==1", "npm:a@b", "a:1@sha256:00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spelling, kind, err := lookup.Canonical(text)
		if err != nil {
			return
		}
		again, kindAgain, err := lookup.Canonical(spelling)
		if err != nil || again != spelling || kindAgain != kind {
			t.Errorf("%q is %q (%s), which is %q (%s): %v", text, spelling, kind, again, kindAgain, err)
		}
		if strings.HasPrefix(spelling, "https://") && !strings.ContainsAny(spelling, " ") && strings.ContainsAny(spelling, "?#") {
			t.Errorf("%q shows a query", spelling)
		}
	})
}
