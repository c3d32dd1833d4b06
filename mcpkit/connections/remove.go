package connections

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/vault"
)

// removal is what remove_server proposes.
type removal struct {
	Name      string   `json:"name"`
	Transport string   `json:"transport" schema:"enum=stdio|http|sse|ws"`
	Target    string   `json:"target"`
	Secrets   []string `json:"secrets" jsonschema:"names of secrets that came with it and go with it"`

	state string
	entry *entry
}

// removed is what remove_server did. The proposal said all that there is to say.
type removed struct{}

// removeCommand asks, because what goes with a connection cannot be had back.
func (f *feature) removeCommand() mcpkit.Command[nameArgs, removal, removed] {
	s := f.store
	return mcpkit.Command[nameArgs, removal, removed]{
		Name:  removeTool,
		Title: "Remove a connection",
		Description: "Remove a registered connection, after a person approved that, with the secrets that came with it and that no other connection uses. " +
			"To keep it and not use it, switch it off with set_enabled.",
		Effect:    mcpkit.Destructive,
		Flat:      true,
		Approvals: f.approvals,
		Plan:      s.planRemoval,
		Receipt:   func(removal) removed { return removed{} },
		Begin:     begin(s, s.remove),
	}
}

// planRemoval says what would go. A profile can switch off what it inherits, and
// not remove it from others.
func (s *Store) planRemoval(_ context.Context, in nameArgs) (mcpkit.Proposal[removal], error) {
	var none mcpkit.Proposal[removal]
	e, r, err := s.find(in.Name)
	if err != nil {
		return none, err
	}
	if r.Profile != s.profile.Name() {
		return none, &result.Error{
			Code:    CodeServerInherited,
			Message: fmt.Sprintf("the connection %.100q belongs to profile %s: remove it there, or switch it off here", in.Name, r.Profile),
		}
	}
	p := removal{
		Name: e.Server.Name, Transport: string(e.Server.Transport), Target: target(&e.Server),
		Secrets: s.orphans(e, nil), state: stateOf(r), entry: e,
	}
	lines := []string{fmt.Sprintf("remove server %q from profile %s", p.Name, s.profile.Name())}
	lines = append(lines, wrap("it was: ", p.Target)...)
	if len(p.Secrets) > 0 {
		lines = append(lines, wrap("these secrets go with it: ", strings.Join(p.Secrets, ", "))...)
	}
	return mcpkit.Proposal[removal]{Plan: p, Base: map[string]string{basePath("server", p.Name): p.state}, Summary: lines}, nil
}

// remove removes what was approved: a connection that was registered anew since is
// another one.
func (s *Store) remove(ctx context.Context, p removal, approval string) (removed, error) {
	return commit(ctx, s, approval, removed{}, func(tx *vault.Tx) error {
		if err := s.unchanged(tx, p.Name, p.state); err != nil {
			return err
		}
		if err := tx.DeleteRecord(s.profile.Name(), recordName(p.Name)); err != nil {
			return err
		}
		return s.drop(tx, p.Secrets)
	})
}
