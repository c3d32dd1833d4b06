package token_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mcpcontract/mcpcontract/token"
)

// tempDir makes a directory for an example.
func tempDir() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "token")
	if err != nil {
		panic(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

func Example() {
	ctx := context.Background()
	dir, remove := tempDir()
	defer remove()
	store, err := token.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	// The proposal: what would be done, and the state it rests on.
	claim := token.Claim{
		Project: "handbook", Kind: "publish", Subject: "ann", Tool: "page_publish",
		Input:    []byte(`{"page":"intro"}`),
		Manifest: "sha256:5a1f",
		Base:     map[string]string{"pages/intro.md": "sha256:77c0"},
	}
	tok, err := store.Issue(ctx, claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	text := tok.Reveal() // goes to the caller
	fmt.Println("a print shows", tok)

	// Nobody has decided yet.
	_, err = store.Begin(ctx, text, claim)
	fmt.Println(token.CodeOf(err))

	// A person looks at what waits, and decides.
	waiting, err := store.Pending(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("waiting:", waiting[0].Claim.Tool, string(waiting[0].Claim.Input))
	if err := store.Approve(ctx, waiting[0].Hash); err != nil {
		fmt.Println(err)
		return
	}

	// The token comes back, and the action is carried out once.
	lease, err := store.Begin(ctx, text, claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Release()
	if err := lease.Commit(ctx, []byte(`{"published":"intro"}`)); err != nil {
		fmt.Println(err)
		return
	}

	// The reply was lost, and the call is repeated.
	_, err = store.Begin(ctx, text, claim)
	if e, ok := errors.AsType[*token.Error](err); ok && e.Code == token.CodeUsed {
		fmt.Println("receipt:", string(e.Receipt))
	}
	// Output:
	// a print shows [token]
	// approval_pending
	// waiting: page_publish {"page":"intro"}
	// receipt: {"published":"intro"}
}

func ExampleOpen() {
	dir, remove := tempDir()
	defer remove()
	store, err := token.Open(dir, &token.Options{MaxPerSubject: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	_, err = store.Lookup(context.Background(), "guessed", token.Claim{})
	fmt.Println(err)
	// Output:
	// the approval token is not valid for this call; prepare again and use the new one
}

func ExampleStore_Begin_stale() {
	ctx := context.Background()
	dir, remove := tempDir()
	defer remove()
	store, err := token.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	claim := token.Claim{
		Project: "handbook", Kind: "publish", Subject: "ann", Tool: "page_publish",
		Base:     map[string]string{"pages/intro.md": "sha256:77c0"},
		Approved: true,
	}
	tok, err := store.Issue(ctx, claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	claim.Base = map[string]string{"pages/intro.md": "sha256:0b44"}
	_, err = store.Begin(ctx, tok.Reveal(), claim)
	fmt.Println(err)
	// Output:
	// begin: what would be done now is not what was proposed; prepare again: "pages/intro.md"
}

func ExampleStore_Resume() {
	ctx := context.Background()
	dir, remove := tempDir()
	defer remove()
	store, err := token.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	claim := token.Claim{
		Project: "handbook", Kind: "publish", Subject: "ann", Tool: "page_publish", Approved: true,
	}
	tok, err := store.Issue(ctx, claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	journal := map[string]string{} // receipts by hash, kept with the action

	// The first try acts, and fails before it can say so.
	lease, err := store.Begin(ctx, tok.Reveal(), claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	journal[lease.Hash()] = "published"
	lease.Release()

	// The second, under the lock of the journal, finds out.
	lease, err = store.Resume(ctx, tok.Reveal(), claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Release()
	receipt, happened := journal[lease.Hash()]
	fmt.Println("resumed:", lease.Resumed(), "happened:", happened)
	fmt.Println("committed:", lease.Commit(ctx, []byte(receipt)) == nil)
	// Output:
	// resumed: true happened: true
	// committed: true
}

func ExampleOpenSigner() {
	dir, remove := tempDir()
	defer remove()
	signer, err := token.OpenSigner(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer signer.Close()
	cursor, err := signer.Seal([]byte("offset 20"), []byte("query 1, snapshot 7"))
	if err != nil {
		fmt.Println(err)
		return
	}
	plain, err := signer.Open(cursor, []byte("query 1, snapshot 7"))
	fmt.Println(string(plain), err)
	_, err = signer.Open(cursor, []byte("query 2, snapshot 7"))
	fmt.Println(token.CodeOf(err))
	// Output:
	// offset 20 <nil>
	// sealed_invalid
}

func ExampleRetained() {
	var retained token.Retained
	tok, err := retained.Put("ann/handbook", map[string]string{"intro": "sha256:77c0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	sections, err := retained.Get("ann/handbook", tok.Reveal())
	fmt.Println(sections, err)
	_, err = retained.Get("bob/handbook", tok.Reveal())
	fmt.Println(token.CodeOf(err))
	// Output:
	// map[intro:sha256:77c0] <nil>
	// retained_invalid
}
