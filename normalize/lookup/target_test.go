package lookup_test

import (
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

// TestCommandLines holds what a command line runs, as the evidence names it.
// Options stand in each line, since a line without any names a package only.
func TestCommandLines(t *testing.T) {
	tests := map[string]string{
		"npx -y @acme/notes@1.0 --read-only":                        "npm @acme/notes",
		"npx --package @acme/notes notes-mcp":                       "npm @acme/notes",
		"npx --package=@acme/notes@2 -- notes-mcp":                  "npm @acme/notes",
		"npx -y github:acme/notes":                                  "npm github:acme/notes",
		"npm exec -y -- @acme/notes":                                "npm @acme/notes",
		"pnpm dlx @acme/notes@latest":                               "npm @acme/notes",
		"yarn dlx -p @acme/notes notes":                             "npm @acme/notes",
		"bun x notes-mcp":                                           "npm notes-mcp",
		"bunx notes-mcp stdio":                                      "npm notes-mcp",
		"uvx --from Acme_Notes==1.0 notes":                          "pypi acme-notes",
		"uvx --python 3.12 --with httpx acme.notes":                 "pypi acme-notes",
		"uvx acme-notes[all]@1.0 serve":                             "pypi acme-notes",
		"uvx --from git+https://github.com/acme/notes notes":        "pypi git+https://github.com/acme/notes",
		"uv tool run acme-notes":                                    "pypi acme-notes",
		"pipx run --spec acme-notes==1.0 notes":                     "pypi acme-notes",
		"dnx Acme.Notes@1.0 --yes":                                  "nuget Acme.Notes",
		"docker run -i --rm images.example:5000/a/notes:1@sha256:0": "oci images.example:5000/a/notes",
		"podman run -i --rm images.example/a/notes stdio":           "oci images.example/a/notes",
		"go run example.com/acme/notes@latest":                      "go example.com/acme/notes",
		"deno run -A npm:@acme/notes":                               "deno npm:@acme/notes",
		"npx -y @smithery/cli@latest run @acme/notes":               "smithery @acme/notes",
		"TOKEN=abc npx -y @acme/notes":                              "npm @acme/notes",
		"claude mcp add notes -- npx -y @acme/notes":                "npm @acme/notes",
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			server, evidence, err := resolver(nothingThere(), lookup.Options{}).Resolve(t.Context(), line)
			if err != nil {
				t.Fatal(err)
			}
			if server.Command == "" || !strings.Contains(evidence.String(), "gives "+want+"\n") {
				t.Errorf("want %q:\n%v", want, evidence)
			}
			if strings.Contains(evidence.String(), "TOKEN=") {
				t.Errorf("the evidence shows the command line:\n%v", evidence)
			}
		})
	}
}

// TestLocalCommandLines holds that programs of one machine are no reference.
func TestLocalCommandLines(t *testing.T) {
	for _, line := range []string{
		"npx -y ./notes", "npx -y ../notes x", "npx /opt/notes", "npx --yes", "go run ./cmd/notes", "go run example.com/acme/notes", "deno run notes.ts", "go build example.com/notes@latest",
		"deno run server.ts", "uv run notes", "npm start now", "node dist/index.js", "python -m notes", "docker compose up", "uvx ~/notes x",
		"npx -y mcp-remote http://localhost:3000/mcp", `npx -y file:notes x`,
	} {
		t.Run(line, func(t *testing.T) {
			_, evidence, err := resolver(nothingThere(), lookup.Options{}).Resolve(t.Context(), line)
			if got := lookup.CodeOf(err); got != lookup.CodeNotFound {
				t.Errorf("code %q, want %q:\n%v", got, lookup.CodeNotFound, evidence)
			}
		})
	}
}

// TestReferenceAllocs keeps reading a reference cheap.
func TestReferenceAllocs(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		if _, _, err := lookup.Canonical("https://github.com/acme/notes/tree/main/plugins/a"); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 60 {
		t.Errorf("%v allocations, want at most 60", allocs)
	}
}
