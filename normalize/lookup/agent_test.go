package lookup_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

// An asked agent keeps the task and answers with a text or an error.
type asked struct {
	task   *lookup.Task
	answer string
	err    error
}

func (a *asked) Answer(_ context.Context, task lookup.Task) (string, error) {
	a.task = &task
	return a.answer, a.err
}

const entry = `{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "@acme/notes"]}}}`

func fence(lang, body string) string { return "```" + lang + "\n" + body + "\n```" }

// nothingThere is a transport for which no source knows anything.
func nothingThere() *transport {
	return &transport{answer: func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("search") {
			return reply(200, `{"servers": []}`), nil
		}
		return reply(404, ""), nil
	}}
}

func TestAgentAnswers(t *testing.T) {
	tests := []struct {
		name, answer string
		want         lookup.Code
	}{
		{"one fence", fence("json", entry), ""},
		{"a fence without a language", "\n" + fence("", entry) + "\n\n", ""},
		{"toml", fence("toml", "[mcp_servers.notes]\ncommand = \"npx\"\nargs = [\"-y\", \"@acme/notes\"]"), lookup.CodeAgentFailed},
		{"a bare entry", fence("json", `{"command": "npx", "args": ["-y", "@acme/notes"]}`), ""},
		{"refusal", `{"error": "cannot tell", "evidence": []}`, lookup.CodeDeclined},
		{"refusal in a fence", fence("json", `{"error": "cannot tell", "evidence": "none"}`), lookup.CodeDeclined},
		{"refusal without evidence", `{"error": "cannot tell"}`, lookup.CodeAgentFailed},
		{"refusal without a reason", `{"error": "", "evidence": []}`, lookup.CodeAgentFailed},
		{"refusal with more", `{"error": "x", "evidence": [], "mcpServers": {}}`, lookup.CodeAgentFailed},
		{"no fence", entry, lookup.CodeAgentFailed},
		{"prose before", "Here it is:\n" + fence("json", entry), lookup.CodeAgentFailed},
		{"prose after", fence("json", entry) + "\nGood luck!", lookup.CodeAgentFailed},
		{"two fences", fence("json", entry) + "\n" + fence("json", entry), lookup.CodeAgentFailed},
		{"a fence inside", fence("json", `{"command": "a", "args": ["`+"```"+`"]}`), lookup.CodeAgentFailed},
		{"a fence with a title", "```json notes.json\n" + entry + "\n```", lookup.CodeAgentFailed},
		{"open fence", "```json\n" + entry, lookup.CodeAgentFailed},
		{"two servers", fence("json", `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}`), lookup.CodeAgentFailed},
		{"no server", fence("json", `{"mcpServers": {}}`), lookup.CodeAgentFailed},
		{"an entry that cannot run", fence("json", `{"mcpServers": {"a": {}}}`), lookup.CodeAgentFailed},
		{"another reference", fence("", "acme/notes"), lookup.CodeAgentFailed},
		{"a command line", fence("sh", "npx -y @acme/notes"), lookup.CodeAgentFailed},
		{"broken", fence("json", `{"mcpServers": {"a": `+"\x01"), lookup.CodeAgentFailed},
		{"nothing", "", lookup.CodeAgentFailed},
		{"just short enough", fence("json", entry+strings.Repeat(" ", 64<<10-len(fence("json", entry)))), ""},
		{"too long", fence("json", entry+strings.Repeat(" ", 64<<10-len(fence("json", entry))+1)), lookup.CodeAgentFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, evidence, err := resolver(nothingThere(), lookup.Options{Agent: &asked{answer: tt.answer}}).Resolve(t.Context(), "acme/notes")
			if got := lookup.CodeOf(err); got != tt.want {
				t.Fatalf("code %q, want %q: %v", got, tt.want, err)
			}
			last := evidence[len(evidence)-1]
			if last.Step != "agent" {
				t.Errorf("last step %v", last)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff([]string{"-y", "@acme/notes"}, server.Args); diff != "" {
				t.Errorf("arguments (-want +got)\n%s", diff)
			}
			if !strings.Contains(last.Outcome, "no source confirms") {
				t.Errorf("the record is not marked: %v", last)
			}
		})
	}
}

func TestAgentFails(t *testing.T) {
	broken := errors.New("no such model")
	_, _, err := resolver(nothingThere(), lookup.Options{Agent: &asked{err: broken}}).Resolve(t.Context(), "acme/notes")
	if lookup.CodeOf(err) != lookup.CodeAgentFailed || !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// A slow agent waits for the caller to give up.
type slow struct{}

func (slow) Answer(ctx context.Context, _ lookup.Task) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// TestAgentTime holds that the time of the chain is not the agent's, but the
// caller's is.
func TestAgentTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		_, evidence, err := resolver(nothingThere(), lookup.Options{Agent: slow{}, Timeout: time.Second}).Resolve(ctx, "acme/notes")
		if lookup.CodeOf(err) != lookup.CodeTimeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if got := time.Since(start); got != time.Hour {
			t.Errorf("took %v, want an hour", got)
		}
		if last := evidence[len(evidence)-1]; last.Step != "agent" {
			t.Errorf("last step %v", last)
		}
	})
}

// TestAgentNotAsked holds that an agent does not paper over what a person has to
// see: sources that contradict each other, or could not be asked.
func TestAgentNotAsked(t *testing.T) {
	contradiction := map[string]string{
		"/acme/notes/HEAD/server.json":  `{"name": "io.github.acme/notes", "packages": [{"registryType": "npm", "identifier": "notes-a"}]}`,
		"/acme/notes/HEAD/package.json": `{"name": "notes-b-mcp", "bin": "cli.js"}`,
	}
	tests := []struct {
		name, reference string
		answer          func(*http.Request) (*http.Response, error)
		want            lookup.Code
	}{
		{"contradiction", "acme/notes", func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/contents") {
				return reply(200, `[{"name": "server.json", "type": "file"}, {"name": "package.json", "type": "file"}]`), nil
			}
			if body, ok := contradiction[r.URL.Path]; ok {
				return reply(200, body), nil
			}
			return nothingThere().answer(r)
		}, lookup.CodeDisagree},
		{"limit", "acme/notes", func(*http.Request) (*http.Response, error) { return reply(429, ""), nil }, lookup.CodeRateLimited},
		{"outage", "a server for notes", func(*http.Request) (*http.Response, error) { return reply(502, ""), nil }, lookup.CodeIncomplete},
		{"redirect to a stranger", "io.github.acme/notes", func(*http.Request) (*http.Response, error) {
			return reply(302, "", "Location", "https://evil.example/"), nil
		}, lookup.CodeHostRefused},
		{"two servers", "npm:notes", func(*http.Request) (*http.Response, error) {
			return reply(200, `{"servers": [{"name": "io.github.a/notes", "packages": [{"registryType": "npm", "identifier": "notes", "packageArguments": [{"value": "a"}]}]},
				{"name": "io.github.b/notes", "packages": [{"registryType": "npm", "identifier": "notes", "packageArguments": [{"value": "b"}]}]}]}`), nil
		}, lookup.CodeAmbiguous},
		{"invalid", "https://github.com/acme", nil, lookup.CodeInvalid},
		{"a command line", "npx -y --registry https://evil.example @acme/notes", nothingThere().answer, lookup.CodeNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			agent := &asked{answer: fence("json", entry)}
			_, _, err := resolver(&transport{answer: tt.answer}, lookup.Options{Agent: agent}).Resolve(t.Context(), tt.reference)
			if got := lookup.CodeOf(err); got != tt.want {
				t.Errorf("code %q, want %q: %v", got, tt.want, err)
			}
			if agent.task != nil {
				t.Error("the agent was asked")
			}
		})
	}
}

// TestTask holds what an agent is told, and that it is bounded.
func TestTask(t *testing.T) {
	t.Setenv("LOOKUP_CANARY", "hunter2-canary")
	long := "# Notes\n" + strings.Repeat("é", 200<<10)
	rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/contents"):
			return reply(200, `[{"name": "package.json", "type": "file"}, {"name": "README.md", "type": "file"}]`), nil
		case strings.HasSuffix(r.URL.Path, "/README.md"):
			return reply(200, long), nil
		case strings.HasSuffix(r.URL.Path, "/package.json"):
			return reply(200, `{"name": "notes"}`), nil
		}
		return nothingThere().answer(r)
	}}
	agent := &asked{answer: fence("json", entry)}
	if _, _, err := resolver(rt, lookup.Options{Agent: agent}).Resolve(t.Context(), "https://me:hunter2-canary@github.com/acme/notes?k=hunter2-canary"); err != nil {
		t.Fatal(err)
	}
	task := *agent.task
	if task.Reference != "https://github.com/acme/notes" || len(task.Evidence) < 4 || task.Instructions == "" {
		t.Errorf("task %+v", task)
	}
	var sources []string
	for _, d := range task.Documents {
		sources = append(sources, strings.TrimPrefix(d.Source, "https://raw.githubusercontent.com"))
		if len(d.Text) > 64<<10 {
			t.Errorf("%s has %d bytes", d.Source, len(d.Text))
		}
	}
	if diff := cmp.Diff([]string{"/acme/notes/HEAD/package.json", "/acme/notes/HEAD/README.md"}, sources); diff != "" {
		t.Errorf("documents (-want +got)\n%s", diff)
	}
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2-canary") {
		t.Error("the task holds the secret")
	}
}

func TestErrorDetails(t *testing.T) {
	rt := &transport{answer: func(*http.Request) (*http.Response, error) {
		return reply(429, "", "X-RateLimit-Reset", "4102444800"), nil
	}}
	_, evidence, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes")
	failure, ok := errors.AsType[*lookup.Error](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	if failure.ErrorCode() != "rate_limited" || failure.Reference != "io.github.acme/notes" {
		t.Errorf("%s, %q", failure.ErrorCode(), failure.Reference)
	}
	text, err := json.Marshal(failure.ErrorDetails())
	if err != nil {
		t.Fatal(err)
	}
	var details map[string]json.RawMessage
	if err := json.Unmarshal(text, &details); err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(evidence)
	if err != nil {
		t.Fatal(err)
	}
	if string(details["evidence"]) != string(want) || len(details["reset"]) == 0 {
		t.Errorf("details %s", text)
	}
	if got := lookup.CodeOf(errors.New("another")); got != "" {
		t.Errorf("code of another error: %q", got)
	}
}
