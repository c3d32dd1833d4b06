package connections_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

const canary = "c4n4ry-51c8-secret"

func TestRegister(t *testing.T) {
	t.Parallel()
	for _, era := range wiretest.Eras() {
		for _, client := range []string{"codex", "zed"} {
			t.Run(string(era)+" "+client, func(t *testing.T) {
				d := newDesk(t)
				d.env["NOTES_REGION"] = "eu-1-captured"
				p := wiretest.Dial(t, d.server(t), era, client)
				text := self(t, "notes", m{"NOTES_TOKEN": canary, "REGION": "${NOTES_REGION}", "OTHER": "${NOTES_NOWHERE}"})

				r, raw := call(t, p, "register_server", prepare(m{"text": text}))
				without(t, raw, canary, "eu-1-captured")
				if r.CommandStatus != "approval_required" {
					t.Fatal(raw)
				}
				if diff := cmp.Diff([]string{asServer, "NOTES_TOKEN", "OTHER", "REGION"}, r.Proposal.EnvNames); diff != "" {
					t.Errorf("envNames (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"NOTES_NOWHERE", "NOTES_REGION", "NOTES_TOKEN"}, r.Proposal.Refs); diff != "" {
					t.Errorf("refs (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"NOTES_NOWHERE"}, r.Proposal.Unresolved); diff != "" {
					t.Errorf("unresolved (-want +got):\n%s", diff)
				}
				if list, raw := call(t, p, "list_servers", m{}); len(list.Items) != 0 {
					t.Error(raw)
				}
				d.absent(t, canary, "eu-1-captured")

				a, applied := call(t, p, "register_server", apply(r.ProposalToken))
				without(t, applied, canary, "eu-1-captured")
				if a.CommandStatus != "applied" || a.Probe.Name != "notes" || string(a.Probe.Tools) != `["read_note","write_note"]` {
					t.Fatal(applied)
				}
				var parts m
				if err := json.Unmarshal([]byte(applied), &parts); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"commandStatus", "probe", "server"}, slices.Sorted(maps.Keys(parts))); diff != "" {
					t.Errorf("what the answer has (-want +got):\n%s", diff)
				}
				if _, again := call(t, p, "register_server", apply(r.ProposalToken)); again != applied {
					t.Errorf("the same token again: %s", again)
				}
				list, raw := call(t, p, "list_servers", m{})
				without(t, raw, canary)
				if len(list.Items) != 1 || list.Items[0].Name != "notes" || list.Items[0].Tools != 2 || !list.Items[0].Enabled {
					t.Error(raw)
				}
				for name, want := range map[string]string{"NOTES_TOKEN": canary, "NOTES_REGION": "eu-1-captured"} {
					if got, _, err := d.profile(t).Get(name); err != nil || got.Reveal() != want {
						t.Errorf("%s is %q, %v", name, got.Reveal(), err)
					}
				}
				d.absent(t, canary, "eu-1-captured")

				r, _ = call(t, p, "remove_server", prepare(m{"name": "notes"}))
				for range 2 {
					if _, raw := call(t, p, "remove_server", apply(r.ProposalToken)); raw != `{"commandStatus":"applied"}` {
						t.Errorf("the answer about a removal: %s", raw)
					}
				}
			})
		}
	}
}

// The servers of one text are registered one after the other, or side by side.
func TestServersOfOneText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	const text = `{"mcpServers": {"one": {"command": "x", "args": ["${ONE}"]}, "two": {"command": "y", "args": ["${TWO}"], "env": {"TOKEN": "canary-1"}}}}`
	tokens := map[string]string{}
	for _, name := range []string{"one", "two"} {
		r, raw := call(t, p, "register_server", prepare(m{"text": text, "name": name}))
		if r.ProposalToken == "" {
			t.Fatal(raw)
		}
		tokens[name] = r.ProposalToken
	}
	for _, name := range []string{"one", "two"} {
		if done, raw := call(t, p, "register_server", apply(tokens[name])); done.CommandStatus != "applied" || !strings.Contains(raw, `"name":"`+name+`"`) {
			t.Error(raw)
		}
	}
	if list, raw := call(t, p, "list_servers", m{}); len(list.Items) != 2 {
		t.Error(raw)
	}
}

// TestNotesOfTheText holds that a proposal tells what was repaired in the text as a
// whole, without a secret of another server of it, and not without end.
func TestNotesOfTheText(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, `"k%d": 1, "k%d": 2, `, i, i)
	}
	tests := []struct {
		name, text string
		want       []string // in the notes
	}{
		{"repairs", "Here it is:\n```json\n{\"mcpServers\": {\"notes\": {\"command\": \"acme\",},}, // yes\n}\n```\n", []string{
			"markdown_fences:1", "trailing_commas_removed", "comments_stripped",
		}},
		{"a name twice", `{"mcpServers": {"notes": {"command": "old"}, "notes": {"command": "new"}}}`, []string{"duplicate_key:mcpServers.notes"}},
		{"a secret elsewhere", `{"` + canary + `": 1, "` + canary + `": 2, "mcpServers": {"notes": {"command": "acme"}, "other": {"command": "x", "env": {"TOKEN": "` + canary + `"}}}}`, []string{"duplicate_key:${TOKEN}"}},
		{"very many", `{` + many.String() + `"mcpServers": {"notes": {"command": "acme"}}}`, []string{"duplicate_key:k0", "duplicate_key:k19", "notes_omitted:11: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
			name := "notes"
			if strings.HasPrefix(tt.name, "a name") {
				name = "notes#2"
			}
			r, raw := call(t, p, "register_server", prepare(m{"text": tt.text, "name": name}))
			if r.ProposalToken == "" {
				t.Fatal(raw)
			}
			without(t, raw, canary, "duplicate_key:k20")
			for _, want := range tt.want {
				if !strings.Contains(raw, `"`+want) {
					t.Errorf("the notes lack %q: %s", want, raw)
				}
			}
		})
	}
}
