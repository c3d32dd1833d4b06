package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// writeTable prints records for people: a line for each, its notes below. What
// looks like a secret is left out unless all is wanted.
func writeTable(w io.Writer, paste *normalize.Paste, records []connections.Record, notes [][]normalize.Note, all bool) error {
	var b strings.Builder
	for _, n := range paste.Notes {
		fmt.Fprintln(&b, noteLine(n))
	}
	if len(paste.Notes) > 0 && len(records) > 0 {
		b.WriteByte('\n')
	}
	// The columns are aligned over all records, so the notes go in afterwards.
	var table strings.Builder
	tw := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, r := range records {
		if !all {
			r.URL, r.Args = secrets.Redact(r.URL), secrets.RedactArgs(r.Args)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", plain(r.Name), transportOf(r), stateOf(r), plain(target(r)))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	i := 0
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
		for _, n := range notes[i] {
			fmt.Fprintln(&b, "    "+noteLine(n))
		}
		i++
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func noteLine(n normalize.Note) string {
	line := plain(n.String())
	if n.Line > 0 {
		line = fmt.Sprintf("%d:%d %s", n.Line, n.Column, line)
	}
	if n.Message != "" {
		line += ": " + plain(n.Message)
	}
	return line
}

func transportOf(r connections.Record) string {
	if r.Error != "" {
		return "-"
	}
	return r.Transport
}

func stateOf(r connections.Record) string {
	switch {
	case r.Error != "":
		return "error"
	case r.Enabled != nil:
		return "off"
	}
	return "on"
}

// target is what a record runs or reaches.
func target(r connections.Record) string {
	switch {
	case r.Error != "":
		return r.Error
	case r.Command == "":
		return r.URL
	}
	words := []string{r.Command}
	for _, arg := range r.Args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	line := strings.Join(words, " ")
	if r.URL != "" {
		line += " -> " + r.URL
	}
	return line
}

// plain takes control characters out, which could change a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
