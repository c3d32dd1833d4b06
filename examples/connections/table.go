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
func writeTable(w io.Writer, notes []normalize.Note, rows []row, all bool) error {
	var b strings.Builder
	for _, n := range notes {
		fmt.Fprintln(&b, noteLine(n))
	}
	if len(notes) > 0 && len(rows) > 0 {
		b.WriteByte('\n')
	}
	// The columns are aligned over all records, so the notes go in afterwards.
	var table strings.Builder
	tw := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		if !all {
			r = hidden(r)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", plain(r.record.Name), transportOf(r.record), stateOf(r.record), plain(r.target()))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	i := 0
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
		for _, n := range rows[i].notes {
			fmt.Fprintln(&b, "    "+noteLine(n))
		}
		i++
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// hidden gives a row without what looks like a secret in what the table shows of
// it. The command line is looked at as a whole: a secret may be told by what stands
// before it.
func hidden(w row) row {
	r := &w.record
	r.URL, r.Error = secrets.Redact(r.URL), secrets.Redact(r.Error)
	if r.Command != "" {
		line := secrets.RedactArgs(append([]string{r.Command}, r.Args...))
		r.Command, r.Args = line[0], line[1:]
	}
	if w.fault != nil {
		fault := *w.fault
		fault.Message = secrets.Redact(fault.Message)
		w.fault = &fault
	}
	return w
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

// target is what a record runs or reaches, or why it does neither.
func (w row) target() string {
	r := w.record
	switch {
	case w.fault != nil:
		return r.Error + ": " + w.fault.Message
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
