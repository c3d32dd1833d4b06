package mcpkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// flatReceipt has a field that may be missing and one that Go writes as null.
type flatReceipt struct {
	Name  string   `json:"name"`
	Notes []string `json:"notes"`
	Hint  string   `json:"hint,omitempty" jsonschema:"what else to do"`
}

// flatCommand is the put command with such a receipt.
func flatCommand(s *shelf, approvals *mcpkit.Approvals) mcpkit.Command[putArgs, putPlan, flatReceipt] {
	receipt := func(p putPlan) flatReceipt { return flatReceipt{Name: p.Name} }
	return mcpkit.Command[putArgs, putPlan, flatReceipt]{
		Name: "put", Description: "Put a text on the shelf.", Effect: mcpkit.Destructive, Approvals: approvals, Flat: true,
		Plan:    s.plan,
		Receipt: receipt,
		Apply: func(ctx context.Context, p putPlan) (flatReceipt, error) {
			_, err := s.apply(ctx, p)
			return receipt(p), err
		},
	}
}

func TestCommandFlat(t *testing.T) {
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			s := newShelf()
			p := dial(t, newServer(t, nil, flatCommand(s, newApprovals(t, mcpkit.Token)).Install), e)
			tok := prepared(t, p, "a", "one")
			s.fail = &brokenError{"shelf"}
			if got := decodeReply(t, p.callTool(t, "put", applyArgs(tok))); got.Error.Code != "file_broken" {
				t.Errorf("apply that fails: got %+v", got)
			}
			first := p.callTool(t, "put", applyArgs(tok))
			if want := `{"commandStatus":"applied","name":"a","notes":[]}`; first != want {
				t.Errorf("apply: got %s, want %s", first, want)
			}
			if again := p.callTool(t, "put", applyArgs(tok)); again != first || s.done != 1 {
				t.Errorf("apply again: got %s after %d times, want the same reply %s", again, s.done, first)
			}
			s.set("b", "another")
			tok = prepared(t, p, "b", "one")
			s.set("b", "changed since")
			if got := decodeReply(t, p.callTool(t, "put", applyArgs(tok))); got.Error.Code != "proposal_stale" {
				t.Errorf("apply of what is stale: got %+v", got)
			}
		})
	}
}

// The published schema has the fields of both forms, and requires those of none.
func TestCommandFlatSchema(t *testing.T) {
	tool := listTools(t, newServer(t, nil, flatCommand(newShelf(), newApprovals(t, mcpkit.Token)).Install))["put"]
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(tool.OutputSchema, schema); err != nil {
		t.Fatal(err)
	}
	want := []string{"approvalCommand", "commandStatus", "expiresAt", "hint", "name", "notes", "proposal", "proposalToken"}
	var got []string
	for name := range schema.Properties {
		got = append(got, name)
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"commandStatus"}, schema.Required); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	if schema.Properties["hint"].Description != "what else to do" {
		t.Errorf("the field hint has the description %q", schema.Properties["hint"].Description)
	}
}

func TestCommandFlatRefused(t *testing.T) {
	type mine struct {
		Proposal string `json:"proposal"`
	}
	approvals := newApprovals(t, mcpkit.Token)
	command := mcpkit.Command[putArgs, putPlan, mine]{
		Name: "put", Description: "Put a text on the shelf.", Effect: mcpkit.Destructive, Approvals: approvals, Flat: true,
		Plan:    newShelf().plan,
		Receipt: func(putPlan) mine { return mine{} },
		Apply:   func(context.Context, putPlan) (mine, error) { return mine{}, nil },
	}
	_, err := mcpkit.NewServer(&mcp.Implementation{Name: "shelf", Version: "1"}, nil, command.Install)
	if want := `field "proposal"`; err == nil || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("error %v, want %s in it", err, want)
	}
	command.Flat = false
	if _, err := mcpkit.NewServer(&mcp.Implementation{Name: "shelf", Version: "1"}, nil, command.Install); err != nil {
		t.Errorf("in a receipt of its own: %v", err)
	}
}

// What a hook demands of a receipt is checked before anything is approved.
func TestCommandFlatHook(t *testing.T) {
	s := newShelf()
	command := flatCommand(s, newApprovals(t, mcpkit.Token))
	command.Schema = func(_, _, receipt *jsonschema.Schema) {
		receipt.Properties["name"].Enum = []any{"a"}
	}
	p := dial(t, newServer(t, nil, command.Install), stateless)
	prepared(t, p, "a", "one")
	if got := p.callTool(t, "put", prepareArgs("b", "one")); decodeReply(t, got).Error.Code != "internal" {
		t.Errorf("a receipt that cannot be sent: got %s", got)
	}
}
