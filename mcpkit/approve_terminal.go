package mcpkit

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mcpcontract/mcpcontract/token"
)

// Bounds of what a person is shown of one proposal.
const (
	maxLines = 40
	maxLine  = 200
)

// Decide is the command that a person types in a terminal to see and decide what waits for approval, for the part of a
// program after [Approvals.Command]:
//
//	(no arguments)   list the proposals that wait, oldest first
//	ID...            approve these
//	reject ID...     decline these
//
// An ID is what the list shows, the first 12 digits of the hash of the token or more. It prints to w. With several IDs it
// stops at the first that fails, with the code proposal_unknown if nothing of that ID waits in this project, as if no ID follows
// reject, and with the error of Recheck, normally proposal_stale, if one to be approved is no longer what would be carried out.
//
// Only call it from a program that a person runs: it is the approval. It uses only the fields Store, Project and Recheck.
func (a *Approvals) Decide(ctx context.Context, w io.Writer, args []string) error {
	pending, err := a.pending(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return a.list(ctx, w, pending)
	}
	decide, done := a.approve, "approved"
	if args[0] == "reject" {
		decide, done, args = a.decline, "rejected", args[1:]
		if len(args) == 0 {
			return &token.Error{Code: token.CodeUnknown, Op: "decide", Detail: "name what to reject, by the ids of the list"}
		}
	}
	for _, id := range args {
		rec, err := named(pending, id)
		if err != nil {
			return err
		}
		if err := decide(ctx, rec); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s %s\n%s", done, rec.Hash[:shortID], describe(rec)); err != nil {
			return err
		}
	}
	return nil
}

// approve approves a proposal that is still what would be carried out.
func (a *Approvals) approve(ctx context.Context, rec *token.Record) error {
	if err := a.recheck(ctx, rec); err != nil {
		return err
	}
	return a.Store.Approve(ctx, rec.Hash)
}

func (a *Approvals) decline(ctx context.Context, rec *token.Record) error {
	return a.Store.Decline(ctx, rec.Hash)
}

func (a *Approvals) recheck(ctx context.Context, rec *token.Record) error {
	if a.Recheck == nil {
		return nil
	}
	return a.Recheck(ctx, rec.Claim)
}

// pending returns what waits in this project.
func (a *Approvals) pending(ctx context.Context) ([]token.Record, error) {
	all, err := a.Store.Pending(ctx)
	return slices.DeleteFunc(all, func(rec token.Record) bool { return rec.Claim.Project != a.Project }), err
}

// named returns the one record that id names.
func named(pending []token.Record, id string) (*token.Record, error) {
	found := -1
	for i := range pending {
		if len(id) >= shortID && strings.HasPrefix(pending[i].Hash, id) {
			if found >= 0 {
				return nil, &token.Error{Code: token.CodeUnknown, Op: "decide", Detail: "several begin like that; type more digits"}
			}
			found = i
		}
	}
	if found < 0 {
		return nil, &token.Error{Code: token.CodeUnknown, Op: "decide", Detail: fmt.Sprintf("%q", clip(id))}
	}
	return &pending[found], nil
}

// list shows what waits, and which of it is no longer what would be carried out.
func (a *Approvals) list(ctx context.Context, w io.Writer, pending []token.Record) error {
	if len(pending) == 0 {
		_, err := fmt.Fprintln(w, "nothing waits for approval")
		return err
	}
	for i := range pending {
		rec := &pending[i]
		warning := ""
		if err := a.recheck(ctx, rec); err != nil {
			if ctx.Err() != nil {
				return err
			}
			warning = "  CANNOT BE APPROVED: " + clean(err.Error()) + "\n"
		}
		_, err := fmt.Fprintf(w, "%s  until %s\n%s%s\n", rec.Hash[:shortID], rec.Expires.Format(time.RFC3339), describe(rec), warning)
		if err != nil {
			return err
		}
	}
	return nil
}

// describe says what a proposal is about, in lines for a person. Whatever it takes from elsewhere is cleaned, so that no
// name can pass for a line of this text or steer a terminal.
func describe(rec *token.Record) string {
	claim := &rec.Claim
	var b strings.Builder
	fmt.Fprintf(&b, "  project: %s\n  tool:    %s\n  asked by %s\n", clean(claim.Project), clean(claim.Tool), clean(claim.Subject))
	if summary := keptSummary(claim); len(summary) > 0 {
		writeLines(&b, "  ", summary)
	} else {
		fmt.Fprintf(&b, "  paths:   %d\n", len(claim.Base))
		var paths []string
		for _, path := range slices.Sorted(maps.Keys(claim.Base)) {
			if claim.Base[path] == "" {
				path += " (new)"
			}
			paths = append(paths, path)
		}
		writeLines(&b, "    ", paths)
	}
	fmt.Fprintf(&b, "  binds:   %s\n", clean(claim.Manifest))
	return b.String()
}

func writeLines(b *strings.Builder, indent string, lines []string) {
	for _, line := range lines[:min(len(lines), maxLines)] {
		b.WriteString(indent + clean(line) + "\n")
	}
	if more := len(lines) - maxLines; more > 0 {
		fmt.Fprintf(b, "%sand %d more\n", indent, more)
	}
}

// clean returns one line of printable characters.
func clean(s string) string {
	runes := []rune(s)
	if len(runes) > maxLine {
		runes = append(runes[:maxLine:maxLine], []rune("...")...)
	}
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = '?'
		}
	}
	return string(runes)
}
