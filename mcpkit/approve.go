package mcpkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpcontract/mcpcontract/token"
)

const (
	// CodeDeclined answers a proposal that a person refused, in the dialog of the client or at a terminal, until its token
	// expires.
	CodeDeclined = string(token.CodeDeclined)
	// CodeCanceled answers a proposal for which the person at the client closed the dialog without a decision. Its token is
	// void; prepare again to ask again.
	CodeCanceled = "approval_canceled"
)

// The subjects of claims. The prefix keeps a user from taking the name that stands for nobody.
const (
	anyone = "anyone"
	user   = "user:"
)

// shortID is how many digits of a record's hash a person types.
const shortID = 12

const defaultTimeout = 2 * time.Minute

// Approver says who approves the proposals of a [Command].
type Approver int

const (
	// Token trusts the host of the model: a token is approved from the beginning, and the human step is that the host asks
	// its user before it lets the model call the tool with it. It works with every client. It protects from doing anything
	// else than what was proposed, and from doing it twice; a host that asks nobody lets the model decide.
	Token Approver = iota

	// Elicit trusts the client program: the server asks through it, in a dialog of the client's own, and only that answer
	// approves; the model has no part in it. If the person accepts, the same call carries the proposal out. If they decline
	// or close the dialog, the call fails with [CodeDeclined] or [CodeCanceled]. A client that cannot ask, gives no answer
	// within [Approvals.Timeout] or one that was not offered gets approval_required, as with OutOfBand.
	Elicit

	// OutOfBand trusts whoever can run programs as the user of the server: a token is approved by a command that a person
	// types in a terminal, see [Approvals.Decide]. Before that it is answered with approval_pending. A model that can run
	// commands itself can type it too.
	OutOfBand
)

// String returns "token", "elicit" or "command".
func (a Approver) String() string {
	switch a {
	case Token:
		return "token"
	case Elicit:
		return "elicit"
	case OutOfBand:
		return "command"
	}
	return fmt.Sprintf("approver(%d)", int(a))
}

// MarshalText returns the text of String, so that an Approver can be a command-line flag by flag.TextVar.
func (a Approver) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText accepts the three texts that String returns.
func (a *Approver) UnmarshalText(text []byte) error {
	for _, known := range []Approver{Token, Elicit, OutOfBand} {
		if known.String() == string(text) {
			*a = known
			return nil
		}
	}
	return fmt.Errorf("want token, elicit or command, got %q", clip(string(text)))
}

// Approvals says how the proposals of commands are approved. Several commands of a server share one; it must not change
// after it is installed, and is safe for concurrent use.
type Approvals struct {
	// Store keeps the approvals. Several servers for one project may have stores on one directory. Required.
	Store *token.Store

	// Project is the id of the project that the commands change. Required.
	Project string

	// By says who approves. The zero value is [Token]. A token is bound to it: after a restart with another one it is
	// approval_invalid.
	By Approver

	// Command is what a person types to approve, without the id, such as "documents approve". It has to run [Approvals.Decide]
	// on the same store. Required for [OutOfBand]; with [Elicit] it is for clients that cannot ask, and empty means that
	// those cannot get an approval.
	Command string

	// Timeout is how long a person has to answer a dialog for which the call is held open, which is so for clients of the
	// handshake era. The proposal waits longer: if the call with its token comes later, the person is asked again. Zero
	// means two minutes.
	Timeout time.Duration

	// Recheck, if not nil, is asked by [Approvals.Decide] whether a proposal is still what would be carried out. Its error is
	// shown below the proposal, and refuses to approve it. The method value of [Command.Recheck] fits where there is one
	// command; with several, look at the Tool of the claim. Nothing else uses it: a command looks for itself before it asks
	// through a client.
	Recheck func(ctx context.Context, claim token.Claim) error
}

// check refuses settings that could not work.
func (a *Approvals) check() error {
	switch {
	case a.Store == nil || a.Project == "":
		return errors.New("the fields Store and Project of Approvals are required")
	case a.By < Token || a.By > OutOfBand:
		return fmt.Errorf("the field By of Approvals has no meaning: %d", a.By)
	case a.By == OutOfBand && a.Command == "":
		return errors.New("the field Command of Approvals is required with OutOfBand: nothing else tells a person how to approve")
	}
	return nil
}

// command returns what a person types to approve the record with that hash, or nothing if that is not the way.
func (a *Approvals) command(hash string) string {
	if a.By == Token || a.Command == "" {
		return ""
	}
	return a.Command + " " + hash[:shortID]
}

func (a *Approvals) timeout() time.Duration { return cmp.Or(max(a.Timeout, 0), defaultTimeout) }
