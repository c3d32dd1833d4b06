package lookup_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

// FuzzSources gives one text as the answer of every source. Whatever it holds,
// there is either one record that can run and that the evidence decides on, or
// an error without one, and the evidence stays short, on single lines, and
// without the user of the reference.
func FuzzSources(f *testing.F) {
	f.Add("io.github.acme/notes", oneEntry)
	f.Add("https://me:hunter2@github.com/acme/notes", `[{"name": "README.md", "type": "file"}, {"name": "server.json", "type": "file"}]`)
	f.Add("@acme/notes", `{"servers": [`+oneEntry+`], "metadata": {"nextCursor": "c"}}`)
	f.Add("https://glama.ai/mcp/servers/a/b", `{"repository": {"url": "https://github.com/acme/notes"}, "servers": [{"environmentVariablesJsonSchema": {"required": ["A"]}}]}`)
	f.Add("smithery:a/b", `{"servers": [{"name": "x/y", "remotes": [{"url": "https://server.smithery.ai/@a/b/mcp"}]}]}`)
	f.Fuzz(func(t *testing.T, reference, text string) {
		rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/contents") && !strings.HasPrefix(text, "[") {
				return reply(200, `[{"name": "README.md", "type": "file"}, {"name": "package.json", "type": "file"}, {"name": "pyproject.toml", "type": "file"}, {"name": "server.json", "type": "file"}]`), nil
			}
			return reply(200, text), nil
		}}
		server, evidence, err := resolver(rt, lookup.Options{MaxBytes: 1 << 16}).Resolve(t.Context(), reference)
		switch {
		case len(evidence) == 0:
			t.Fatal("no evidence")
		case err != nil && (lookup.CodeOf(err) == "" || server.Name != "" || server.Transport != ""):
			t.Fatalf("code %q, record %v: %v", lookup.CodeOf(err), server, err)
		case err == nil && (server.Err != nil || server.Transport == "" || server.Command == "" && server.URL == ""):
			t.Fatalf("a record that cannot run: %+v", server)
		case err == nil && !strings.Contains(evidence.String(), "decision ("):
			t.Fatalf("no decision:\n%v", evidence)
		}
		checkHarmless(t, server)
		for _, step := range evidence {
			if strings.ContainsFunc(step.Outcome, unicode.IsControl) || len(step.Outcome) > 8<<10 || strings.Contains(step.String(), "hunter2") {
				t.Errorf("step %q", step)
			}
		}
		if n := len(rt.seen); n > 20 {
			t.Errorf("%d requests", n)
		}
	})
}

// FuzzAgentAnswer holds that only one fence around one JSON value is taken.
func FuzzAgentAnswer(f *testing.F) {
	f.Add(fence("json", entry))
	f.Add(`{"error": "x", "evidence": []}`)
	f.Add("text\n" + fence("", entry))
	f.Add(fence("", `{"command": "a", "args": ["`+"``"+`"]}`))
	f.Fuzz(func(t *testing.T, answer string) {
		server, _, err := resolver(nothingThere(), lookup.Options{Agent: scripted(answer)}).Resolve(t.Context(), "acme/notes")
		switch code := lookup.CodeOf(err); {
		case code == lookup.CodeAgentFailed || code == lookup.CodeDeclined:
			return
		case err != nil:
			t.Fatal(err)
		}
		body := strings.TrimSpace(answer)
		_, body, _ = strings.Cut(body, "\n")
		if body = strings.TrimSuffix(body, "```"); !json.Valid([]byte(body)) || strings.Count(answer, "```") != 2 {
			t.Errorf("taken: %q", answer)
		}
		if server.Transport == "" {
			t.Errorf("a record that cannot run: %+v", server)
		}
		checkHarmless(t, server)
	})
}

// checkHarmless holds what is true of every record, whoever gave it: it runs a
// launcher by its bare name, chooses no place of the machine, and each of its
// variables is a reference.
func checkHarmless(t *testing.T, s normalize.Server) {
	t.Helper()
	if s.Command != "" && !slices.Contains(strings.Fields("npx npm pnpx pnpm bunx bun yarn uvx uv pipx dnx go deno docker podman"), s.Command) {
		t.Errorf("it runs %q", s.Command)
	}
	if s.Cwd != "" || s.EnvFile != "" {
		t.Errorf("it runs in %q with the variables of %q", s.Cwd, s.EnvFile)
	}
	for _, v := range s.Env {
		if !strings.Contains(v.Value, "${") {
			t.Errorf("%s is %q", v.Name, v.Value)
		}
	}
	if s.Equivalent != nil {
		checkHarmless(t, *s.Equivalent)
	}
}
