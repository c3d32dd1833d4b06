package connections

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/result"
)

// known are the values that a server gets and that nobody else may: those of the
// vault and of the text whatever they are, and of the environment those that can
// be told from words. They are sorted, the longest first.
type known []string

// known looks up what the references of a record stand for. A name may have a value
// in several places, and the server may know another one than it gets.
func (s *Store) known(server *normalize.Server, vars []normalize.Vars) known {
	var k known
	for _, name := range refNames(server) {
		for i, ask := range vars {
			value, _, ok := ask(name)
			if !ok || strings.TrimSpace(value) == "" {
				continue
			}
			if i != environmentVars || len(value) >= minHidden || secrets.May(name, value) {
				k = append(k, value)
			}
		}
	}
	slices.SortFunc(k, func(a, b string) int { return len(b) - len(a) })
	return k
}

// hide replaces the values in a text, short ones apart, of which package probe
// hides those that stand alone.
func (k known) hide(text string) string {
	for _, value := range k {
		if len(value) >= minSweep {
			text = strings.ReplaceAll(text, value, hidden)
		}
	}
	return text
}

// hidden stands in the place of a value.
const hidden = secrets.Hidden

// minHidden is the length from which a value of the environment is none of the
// words that stand in any message.
const minHidden = 8

// err hides the values in an error. One that has none of them stays as it is.
func (k known) err(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*probe.Error](err); ok {
		quiet := *e
		quiet.Server, quiet.Message, quiet.Stderr = k.hide(e.Server), k.hide(e.Message), k.hide(e.Stderr)
		return &quiet
	}
	if text := err.Error(); k.hide(text) != text {
		return &result.Error{Code: string(probe.Failed), Message: k.hide(text)}
	}
	return err
}

// report hides the values in what a server says about itself.
func (k known) report(r *probe.Report) {
	r.Name, r.Version = k.hide(r.Name), k.hide(r.Version)
	changeAll(&r.Tools, k.hide)
	changeAll(&r.Duplicates, k.hide)
}
