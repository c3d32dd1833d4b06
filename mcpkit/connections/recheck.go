package connections

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/token"
)

// Recheck returns a function for the Recheck field of [mcpkit.Approvals] in a
// program in which a person decides: it reports whether what register_server and
// remove_server proposed is still what they would do. It runs nothing, asks no
// [Options.Lookup], and is safe for concurrent use.
//
// The store is one on the profile of the server. The environment of the server is
// not to be seen from elsewhere: what a proposal reads from there counts as still
// there. All else that changes the decision is looked at.
//
// The error's code is proposal_stale, with what changed, or one that the tool has
// for such a request, as [CodePasteExpired]. A claim of another tool is
// invalid_arguments.
func Recheck(store *Store) func(ctx context.Context, claim token.Claim) error {
	return func(ctx context.Context, claim token.Claim) error {
		f := &feature{store: store.asProposed(&claim)}
		switch { // a server may put a prefix before the names of its tools
		case strings.HasSuffix(claim.Tool, registerTool):
			return registrationStale(f.registerCommand().Recheck(ctx, claim))
		case strings.HasSuffix(claim.Tool, removeTool):
			return f.removeCommand().Recheck(ctx, claim)
		}
		return &result.Error{
			Code:    result.CodeInvalidArguments,
			Message: fmt.Sprintf("%s is no tool that changes connections", wording.Quote(claim.Tool, 60)),
		}
	}
}

// registrationStale passes over a difference in nothing but the texts: notes may be
// about values of the server's environment, and the state on which the decision
// rests says all the rest.
func registrationStale(err error) error {
	if e, ok := errors.AsType[*token.Error](err); ok && e.Code == token.CodeStale && len(e.Changed) == 0 {
		return nil
	}
	return err
}

// asProposed returns the store in an environment that has the names which the
// proposal found in that of the server, and no others. What their values are shows
// in notes at most.
func (s *Store) asProposed(claim *token.Claim) *Store {
	there := *s
	there.opts.Environment = func(name string) (value, origin string, ok bool) {
		switch claim.Base[basePath("refs", name)] {
		case sourceEnv, sourceCaptured:
			return "elsewhere", "env", true
		}
		return "", "", false
	}
	return &there
}
