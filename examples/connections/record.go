package main

import (
	"errors"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// result is what normalize prints.
type result struct {
	DocWarnings []string             `json:"doc_warnings"`
	Servers     []connections.Record `json:"servers"`
}

// newRecord joins what a record says and what its launch resolves to, nil for
// nothing. A fault takes the place of both.
func newRecord(s *normalize.Server, l *normalize.Launch, notes []normalize.Note, fault *normalize.Error) connections.Record {
	if fault != nil {
		failed := *s
		failed.Err = fault
		s = &failed
	}
	return connections.RecordOf(s, l, notes)
}

// windowsNotes says why a launch has no command line on Windows.
func windowsNotes(l *normalize.Launch) []normalize.Note {
	_, err := l.Argv("windows")
	e, ok := errors.AsType[*normalize.Error](err)
	if !ok {
		return nil
	}
	return []normalize.Note{{Code: normalize.NotExpressible, Subject: "launch_windows." + e.Subject, Message: e.Message}}
}

func noteTexts(notes []normalize.Note) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = n.String()
	}
	return out
}
