package connections

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/result"
)

// parse reads a text. Its error quotes nothing of the text: a secret may stand
// where it cannot be read.
func parse(text []byte, opts *normalize.ParseOptions) (*normalize.Paste, error) {
	paste, err := normalize.Parse(text, opts)
	e, ok := errors.AsType[*normalize.Error](err)
	if !ok {
		return paste, err
	}
	quiet := *e
	quiet.Err = nil
	quiet.Message = quotes.ReplaceAllStringFunc(e.Message, func(q string) string {
		if inner := strings.Trim(q, "\"'`"); len(inner) > 2 && strings.Contains(string(text), inner) {
			return "***"
		}
		return q
	})
	return nil, &quiet
}

// quotes are what a message quotes, in any of the ways of the parsers below.
var quotes = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'|`[^`]*`")

// choose returns the one server that a request means.
func choose(paste *normalize.Paste, name string) (*normalize.Server, error) {
	var servers []*normalize.Server
	for i := range paste.Servers {
		if !slices.ContainsFunc(paste.Servers[i].Notes, func(n normalize.Note) bool { return n.Code == normalize.DuplicateSame }) {
			servers = append(servers, &paste.Servers[i])
		}
	}
	labels := labelsOf(servers)
	switch len(servers) {
	case 0:
		return nil, noServers(paste)
	case 1:
		return runnable(servers[0])
	}
	var named []*normalize.Server
	for i, s := range servers {
		if labels[i] == name {
			chosen := *s
			return runnable(&chosen)
		}
		if s.Name == name {
			named = append(named, s)
		}
	}
	if len(named) == 1 {
		return runnable(named[0])
	}
	return nil, nameRequired(labels, name, len(named) > 0)
}

// labelsOf gives each server a name of its own: where several have the same, with
// the way it is run, or a number.
func labelsOf(servers []*normalize.Server) []string {
	count := make(map[string]int)
	for _, s := range servers {
		count[s.Name]++
	}
	var labels []string
	for _, s := range servers {
		label := s.Name
		if count[s.Name] > 1 && s.Choice != "" {
			label += "#" + s.Choice
		}
		for n := 2; label == "" || slices.Contains(labels, label); n++ {
			label = s.Name + "#" + strconv.Itoa(n)
		}
		labels = append(labels, label)
	}
	return labels
}

// noServers says why there is nothing to register.
func noServers(paste *normalize.Paste) error {
	message := "the text declares no MCP server"
	for _, n := range paste.Notes {
		if n.Code == normalize.NoMCPConfig && n.Message != "" {
			message = lift1(n.Message)
		}
	}
	return &result.Error{Code: CodeNoServers, Message: message + ": paste the part of a configuration that holds it"}
}

// lift1 hides secrets in one text.
func lift1(text string) string {
	l := newLifter(context.Background(), "", anyName)
	l.most = math.MaxInt // it is shown whatever it holds
	return l.text("text", text)
}

// most names that a message lists.
const maxListed = 20

// nameRequired lists the names to choose from. several says that more than one is
// meant by the one that was given.
func nameRequired(labels []string, name string, several bool) error {
	for i, label := range labels {
		labels[i] = lift1(wording.Clip(label, maxName))
	}
	why := "say which one in name"
	switch {
	case several:
		why = fmt.Sprintf("several of them are %s, so give the whole name", wording.Quote(name, 60))
	case name != "":
		why = fmt.Sprintf("none of them is %s", wording.Quote(name, 60))
	}
	return &result.Error{
		Code:    CodeNameRequired,
		Message: fmt.Sprintf("the text declares %d servers, %s: %s", len(labels), why, wording.QuoteAll(labels, maxListed, maxName)),
		Details: map[string]any{"count": len(labels), "names": labels[:min(len(labels), maxListed)]},
	}
}

// runnable returns a server that can be run, or why it cannot.
func runnable(s *normalize.Server) (*normalize.Server, error) {
	if s.Err == nil {
		return s, nil
	}
	if s.Err.Code == normalize.NeedsLookup {
		return nil, &result.Error{
			Code:    string(normalize.NeedsLookup),
			Message: fmt.Sprintf("the text only names the server %s: prepare again with that as reference in place of the text", wording.Quote(lift1(s.Err.Subject), 200)),
			Details: map[string]any{"reference": lift1(s.Err.Subject)},
		}
	}
	e := *s.Err
	e.Subject, e.Message, e.Err = lift1(e.Subject), lift1(e.Message), nil
	return nil, &e
}
