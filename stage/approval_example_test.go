package stage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

var errCrash = errors.New("the process died before Commit")

// A publisher promotes candidates as a token of package token allows it: once,
// wherever the process dies.
type publisher struct {
	area   *stage.Area
	tokens *token.Store
}

func openPublisher(root string) (*publisher, error) {
	area, err := stage.Open(root, &stage.Options{Allow: []string{"docs/**"}})
	if err != nil {
		return nil, err
	}
	tokens, err := token.Open(filepath.Join(root, ".mcpcontract", "tokens"), nil)
	return &publisher{area, tokens}, err
}

// scope says which tokens open a call of this publisher.
func (p *publisher) scope() token.Claim {
	return token.Claim{Project: "handbook", Kind: "publish", Subject: "ann", Tool: "docs_publish"}
}

// propose computes what would be done now, from the arguments of the first call.
func (p *publisher) propose(ctx context.Context, candidate string) (stage.Plan, token.Claim, error) {
	manifest, err := p.area.Inspect(ctx, candidate)
	if err != nil {
		return stage.Plan{}, token.Claim{}, err
	}
	plan, err := p.area.Plan(ctx, manifest, nil, nil)
	claim := p.scope()
	claim.Input, claim.Manifest, claim.Base = []byte(candidate), plan.Digest(), plan.Base
	claim.Approved = true // the host asks its user when the token is used
	return plan, claim, err
}

// publish is the call that brings the token: the first one, one that repeats it
// because the reply was lost, or the first after a crash.
func (p *publisher) publish(ctx context.Context, text string, crash bool) (reply []byte, err error) {
	lock, err := p.area.Lock(ctx) // finishes a promotion that a crash interrupted
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	rec, err := p.tokens.Lookup(ctx, text, p.scope())
	if err != nil {
		return nil, err
	}
	if rec.State == token.StateUsed {
		return rec.Receipt, nil
	}
	receipt, done, err := p.area.Receipt(rec.Hash)
	if err != nil {
		return nil, err
	}
	claim := rec.Claim // of then: what is done has changed what the claim rests on
	var plan stage.Plan
	if !done {
		if plan, claim, err = p.propose(ctx, string(rec.Claim.Input)); err != nil {
			return nil, err
		}
	}
	lease, err := p.tokens.Resume(ctx, text, claim) // proposal_stale, if it is not what was approved
	if err != nil {
		return nil, err
	}
	defer lease.Release() // without Commit, the next call resumes
	if !done {
		plan.Approval = lease.Hash()
		if receipt, err = lock.Promote(ctx, plan); err != nil {
			return nil, err
		}
	}
	if crash {
		return nil, errCrash
	}
	if reply, err = json.Marshal(receipt); err != nil {
		return nil, err
	}
	return reply, lease.Commit(ctx, reply)
}

// Under the lock, the use of a token and the promotion that it allows become
// one: the receipt of the promotion is kept under the hash of the token, and
// whoever holds the lock knows whether it happened.
func ExampleArea_Lock() {
	ctx := context.Background()
	root, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	server, err := openPublisher(root)
	if err != nil {
		log.Fatal(err)
	}
	prepared, err := server.area.Prepare(ctx, "first-plan", []string{"docs/plan.md"})
	if err != nil {
		log.Fatal(err)
	}
	staged := filepath.Join(root, filepath.FromSlash(prepared.Dir), "docs")
	if err := os.MkdirAll(staged, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(staged, "plan.md"), []byte("# Plan\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	// The first call proposes, and its caller gets the text of a token.
	_, claim, err := server.propose(ctx, "first-plan")
	if err != nil {
		log.Fatal(err)
	}
	tok, err := server.tokens.Issue(ctx, claim)
	if err != nil {
		log.Fatal(err)
	}

	// The second brings it, and the process dies in the middle of it.
	_, err = server.publish(ctx, tok.Reveal(), true)
	fmt.Println(err)
	server.tokens.Close()
	server.area.Close()

	// After the restart the token answers with what was done, as often as it comes.
	if server, err = openPublisher(root); err != nil {
		log.Fatal(err)
	}
	defer server.area.Close()
	defer server.tokens.Close()
	for range 2 {
		reply, err := server.publish(ctx, tok.Reveal(), false)
		if err != nil {
			log.Fatal(err)
		}
		var receipt stage.Receipt
		if err := json.Unmarshal(reply, &receipt); err != nil {
			log.Fatal(err)
		}
		fmt.Println("promoted:", receipt.Files[0].Path, receipt.Approval == tok.Hash())
	}
	// Output:
	// the process died before Commit
	// promoted: docs/plan.md true
	// promoted: docs/plan.md true
}
