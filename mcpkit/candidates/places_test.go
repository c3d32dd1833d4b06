package candidates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/stage"
)

// description returns what the list of tools says of a tool.
func description(tb testing.TB, c *wiretest.Peer, tool string) string {
	tb.Helper()
	var list struct {
		Tools []struct{ Name, Description string }
	}
	if err := json.Unmarshal(c.Send(tb, "tools/list", `{}`), &list); err != nil {
		tb.Fatal(err)
	}
	for _, t := range list.Tools {
		if t.Name == tool {
			return t.Description
		}
	}
	tb.Fatalf("no tool %s", tool)
	return ""
}

// Who may not write somewhere is told where it may, before it asks and when it is refused.
func TestAllowedPaths(t *testing.T) {
	t.Parallel()
	many := make([]string, 256)
	for i := range many {
		many[i] = fmt.Sprintf("docs/%s/%d/*", strings.Repeat("x", 200), i)
	}
	const refused = `prepare "x": promotion may not write there: "src/x.md"`
	tests := []struct {
		name             string
		opts             *candidates.Options
		described, error string // what both end with
	}{
		{"no options", nil, "Nothing in the project changes.", refused},
		{"not told", &candidates.Options{Hint: "ask"}, "Nothing in the project changes.", refused},
		{
			"patterns",
			&candidates.Options{Allow: []string{"docs/**", "plans/*.md"}, Authorized: []string{"docs/drafts/*"}, Hint: "ask"},
			` Files may go to "docs/**", "plans/*.md"; no approval is needed for "docs/drafts/*".`,
			`: files may go to "docs/**", "plans/*.md"`,
		},
		{"none", &candidates.Options{Allow: []string{}}, " No path is allowed.", ": no path is allowed"},
		{
			"none, and what to do",
			&candidates.Options{Allow: []string{}, Authorized: []string{"docs/x"}, Hint: "set allow in acme.toml"},
			" No path is allowed; set allow in acme.toml.",
			": no path is allowed; set allow in acme.toml",
		},
		{"many", &candidates.Options{Allow: many, Authorized: many}, `x...", and 248 more.`, `x...", and 248 more`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.opts = tt.opts
			c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
			if got := description(t, c, "candidate_prepare"); !strings.HasSuffix(got, tt.described) || len(got) > 2_000 {
				t.Errorf("described as %q, want %q at the end", got, tt.described)
			}
			r, text := call(t, c, "candidate_prepare", `{"candidateId":"x","expectedFiles":["src/x.md"]}`)
			e := r.Error
			if e.Code != "path_not_allowed" || !strings.HasPrefix(e.Message, refused) || !strings.HasSuffix(e.Message, tt.error) || len(e.Message) > 1_000 {
				t.Errorf("refused with %s, want %s at the end", text, tt.error)
			}
			if want := `{"subject":"x","count":1,"paths":["src/x.md"]}`; string(e.Details) != want {
				t.Errorf("details %s, want %s", e.Details, want)
			}
		})
	}
}

// It is told wherever a path is looked at: of a file that is generated, and of a candidate that was allowed before.
func TestAllowedPathsLater(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.opts = &candidates.Options{Allow: []string{"docs/**"}, Generate: func(context.Context, *candidates.Candidate) ([]stage.Generated, error) {
		return []stage.Generated{{Path: "src/index.md"}}, nil
	}}
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	p.stagePlan(t, c)
	if r, text := call(t, c, "candidate_apply", prepareApply); r.Error.Code != "path_not_allowed" || !strings.Contains(r.Error.Message, `"src/index.md": files may go to "docs/**"`) {
		t.Errorf("a generated file: %s", text)
	}
	narrow, err := stage.Open(p.root, &stage.Options{Allow: []string{"docs/*.md"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { narrow.Close() })
	p.area.Close()
	p.area, p.opts = narrow, &candidates.Options{Allow: []string{"docs/*.md"}}
	c = wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	if r, text := call(t, c, "candidate_apply", prepareApply); r.Error.Code != "path_not_allowed" || !strings.Contains(r.Error.Message, `"docs/a/b.md": files may go to "docs/*.md"`) {
		t.Errorf("a candidate that was allowed before: %s", text)
	}
}
