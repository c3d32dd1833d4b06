package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/normalize"
)

const exportUsage = `usage: connections export -to CLIENT [flags] [FILE]

Reads a configuration in any form and prints it in CLIENT's own. What that form cannot say is told on stderr. Without FILE, or
with -, the configuration comes from stdin.

flags:
`

func exportCommand(args []string, s streams) error {
	var to, dialect, goos string
	fs := flag.NewFlagSet("export", flag.ContinueOnError)
	fs.SetOutput(s.err)
	fs.StringVar(&to, "to", "", "`client` to write for")
	fs.StringVar(&dialect, "dialect", "", "`client` whose configuration this is (default: found out from the text)")
	fs.StringVar(&goos, "os", runtime.GOOS, "operating `system` of the client")
	fs.Usage = func() {
		fmt.Fprint(fs.Output(), exportUsage)
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return cli.ExitError(2)
	}
	if to == "" {
		return errors.New("-to is required: the client to write for, one of " + dialectNames())
	}
	text, name, err := s.readInput(fs.Args())
	if err != nil {
		return err
	}
	paste, err := normalize.Parse(text, &normalize.ParseOptions{
		Dialect: normalize.Dialect(dialect), Name: filepath.Base(name), GOOS: goos,
	})
	if err != nil {
		return explain(s, name, text, err)
	}
	out, notes, err := normalize.Export(normalize.Dialect(to), paste.Servers, &normalize.ExportOptions{GOOS: goos})
	if err != nil {
		return err
	}
	for _, n := range paste.Notes {
		fmt.Fprintln(s.err, noteLine(n))
	}
	for i := range paste.Servers {
		for _, n := range paste.Servers[i].Notes {
			fmt.Fprintln(s.err, plain(paste.Servers[i].Name)+": "+noteLine(n))
		}
	}
	for _, n := range notes {
		fmt.Fprintln(s.err, noteLine(n))
	}
	if len(paste.Servers) == 0 { // an empty file in place of a client's own would take its servers away
		return errors.New("the text has no server to export, so nothing is written")
	}
	_, err = s.out.Write(out)
	return err
}

func dialectNames() string {
	var names []string
	for _, d := range normalize.Dialects() {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}
