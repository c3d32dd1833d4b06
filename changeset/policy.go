package changeset

import (
	"fmt"
	"slices"

	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A Policy says what a writer may propose. It is checked when something is
// proposed and again by [Store.Validate]. The zero value allows nothing.
type Policy struct {
	// Allow has the operations; none, and nothing may be proposed.
	Allow []Op
	// Kinds has the kinds a node may have, before and afterwards; none means
	// every kind.
	Kinds []string
	// Paths has patterns of the paths a file may have, before and afterwards,
	// relative to the docs folder; none means every path. A pattern has the
	// form of [path.Match], part by part; the part "**" stands for any number
	// of parts, also none.
	Paths []string
}

// maxRules bounds each list of a policy, and how many a store remembers.
const maxRules = 256

// check returns the first rule that p breaks.
func (p *Policy) check() error {
	if n := max(len(p.Allow), len(p.Kinds), len(p.Paths)); n > maxRules {
		return fmt.Errorf("a list of the policy has %d entries, the limit is %d", n, maxRules)
	}
	for _, op := range p.Allow {
		if !slices.Contains([]Op{Create, Update, Move, Delete}, op) {
			return fmt.Errorf("the policy allows %.80q, which is no operation", op)
		}
	}
	for _, text := range p.Paths {
		if err := pattern.Check(text); err != nil {
			return fmt.Errorf("pattern %.80q: %v", text, err)
		}
	}
	return nil
}

// clone returns a copy that shares nothing with p, so that who made p cannot
// widen it afterwards.
func (p *Policy) clone() *Policy {
	if p == nil {
		return nil
	}
	return &Policy{slices.Clone(p.Allow), slices.Clone(p.Kinds), slices.Clone(p.Paths)}
}

// equal reports whether two policies have the same rules in the same order.
func (p *Policy) equal(q *Policy) bool {
	return slices.Equal(p.Allow, q.Allow) && slices.Equal(p.Kinds, q.Kinds) && slices.Equal(p.Paths, q.Paths)
}

// A reach is what a proposal touches, before and afterwards.
type reach struct {
	ops   []string // of which a policy must allow each
	kinds []string
	paths []string
}

// A refusal is what a policy does not allow.
type refusal struct {
	code    Code // "" if it allows all
	what    string
	allowed []string // in place of it
}

// refuses returns the first part of r that a policy does not allow.
func (p *Policy) refuses(r reach) refusal {
	for _, op := range r.ops {
		if !slices.Contains(p.Allow, Op(op)) {
			return refusal{CodeOperation, op, opNames(p.Allow)}
		}
	}
	for _, kind := range r.kinds {
		if len(p.Kinds) > 0 && !slices.Contains(p.Kinds, kind) {
			return refusal{CodeKind, kind, p.Kinds}
		}
	}
	for _, at := range r.paths {
		if len(p.Paths) > 0 && !pattern.Match(p.Paths, at) {
			return refusal{CodePathNotAllowed, at, p.Paths}
		}
	}
	return refusal{}
}

func opNames(ops []Op) []string {
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = string(op)
	}
	return names
}

// detail says what was refused and what would not be.
func (r refusal) detail() string {
	if len(r.allowed) == 0 {
		return wording.Quote(r.what, 160)
	}
	return wording.Quote(r.what, 160) + "; it allows " + wording.QuoteAll(r.allowed, 8, maxWord)
}
