package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/normalize"
)

const exportUsage = `usage: connections export -to CLIENT [flags] [FILE]

Reads a configuration in any form and prints it in CLIENT's own. What that form cannot say is told on stderr. Without FILE, or
with -, the configuration comes from stdin. Where there is no server to write, nothing is printed, and the exit code is 1.

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
	files, err := cli.Operands(fs, args)
	if err != nil {
		return cli.BadUsage(err)
	}
	if to == "" {
		return cli.Misuse(s.err, "-to is required: it names the client to write for, such as -to codex")
	}
	if err := checkClient(s, "-to", to, "to write for", writable()); err != nil {
		return err
	}
	if err := checkSource(s, dialect, goos, files); err != nil {
		return err
	}
	text, name, err := s.readInput(files)
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
	if err := somethingWritten(out, len(paste.Servers), normalize.Dialect(to)); err != nil {
		return err
	}
	_, err = s.out.Write(out)
	return err
}

// somethingWritten refuses a file without servers: in place of a client's own it
// would take its servers away.
func somethingWritten(out []byte, servers int, to normalize.Dialect) error {
	empty, _, err := normalize.Export(to, nil, nil)
	switch {
	case err != nil:
		return err
	case servers == 0:
		return errors.New("the text has no server to export, so nothing is written")
	case bytes.Equal(out, empty):
		return fmt.Errorf("%s can hold none of the servers, for the reasons above, so nothing is written", to)
	}
	return nil
}

// writable lists the clients whose form is known well enough to write it.
func writable() []normalize.Dialect {
	return slices.DeleteFunc(normalize.Dialects(), func(d normalize.Dialect) bool {
		_, _, err := normalize.Export(d, nil, nil)
		e, ok := errors.AsType[*normalize.Error](err)
		return ok && e.Code == normalize.NotWritable
	})
}
