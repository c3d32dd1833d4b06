package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/normalize"
)

const normalizeUsage = `usage: connections normalize [flags] [FILE]

Prints the servers that a configuration declares, one record each, and what was repaired or guessed. Without FILE, or with -,
the configuration comes from stdin. Nothing that it names is run or opened.

The records hold what the configuration holds, secrets in clear too; the warnings secret_inline and secret_in_url name those
that stand under the name of one. -format table is for people and hides all, unless -expand asks for values.

Ends with 0 whenever the configuration could be read, with 1 if not. One that declares no server has the warning
no_mcp_config, and a server that cannot run an error in its record.

flags:
`

// normalizeFlags is the command line of normalize.
type normalizeFlags struct {
	dialect, goos, envFile, secretsFile, home, workspace, format string
	expand                                                       bool
}

func (c *normalizeFlags) parse(args []string, s streams) ([]string, error) {
	fs := flag.NewFlagSet("normalize", flag.ContinueOnError)
	fs.SetOutput(s.err)
	fs.StringVar(&c.dialect, "dialect", "", "`client` whose configuration this is (default: found out from the text)")
	fs.StringVar(&c.goos, "os", runtime.GOOS, "operating `system` of the launch: linux, windows or darwin")
	fs.StringVar(&c.envFile, "env-file", "", "`file` of NAME=value lines, literal, in place of this process's environment")
	fs.StringVar(&c.secretsFile, "secrets-file", "", "`file` of NAME=value lines that is asked after the environment, like a vault")
	fs.StringVar(&c.home, "home", "", "home `folder` of the launch (default: of this process, unless -os is another system)")
	fs.StringVar(&c.workspace, "workspace", "", "workspace `folder` of the launch (default: none)")
	fs.BoolVar(&c.expand, "expand", false, "resolve references; values of secrets are shown")
	fs.StringVar(&c.format, "format", "json", "json or table")
	fs.Usage = func() {
		fmt.Fprint(fs.Output(), normalizeUsage)
		fs.PrintDefaults()
	}
	files, err := cli.Operands(fs, args)
	if err != nil {
		return nil, cli.BadUsage(err)
	}
	if c.format != "json" && c.format != "table" {
		return nil, cli.Misuse(s.err, "-format: there is no %q; give json or table", c.format)
	}
	if err := checkSource(s, c.dialect, c.goos, files); err != nil {
		return nil, err
	}
	if c.home == "" && c.goos == runtime.GOOS {
		c.home, _ = os.UserHomeDir()
	}
	return files, nil
}

// checkSource refuses a command line that does not say which configuration is
// meant, by the flag that mends it.
func checkSource(s streams, dialect, goos string, files []string) error {
	if !slices.Contains([]string{"linux", "windows", "darwin"}, goos) {
		return cli.Misuse(s.err, "-os: there is no %q; give linux, windows or darwin", goos)
	}
	if len(files) > 1 {
		return cli.Misuse(s.err, "unexpected argument %q; give one file", files[1])
	}
	if dialect == "" {
		return nil
	}
	return checkClient(s, "-dialect", dialect, "to read from", normalize.Dialects())
}

// checkClient refuses what is no client of the list, and says which may be meant.
// what is the purpose of the list.
func checkClient(s streams, flag, name, what string, known []normalize.Dialect) error {
	if slices.Contains(known, normalize.Dialect(name)) {
		return nil
	}
	var names []string
	for _, d := range known {
		names = append(names, string(d))
	}
	meant := ""
	if near := wording.Nearest(name, names); near != "" {
		meant = near + " is one; "
	}
	return cli.Misuse(s.err, "%s: %s is no client %s; %sgive one of %s", flag, wording.Quote(name, 60), what, meant, strings.Join(names, ", "))
}

// vars are the variables in the order in which they are asked.
func (c *normalizeFlags) vars() ([]normalize.Vars, error) {
	vars := []normalize.Vars{processVars}
	if c.envFile != "" {
		v, err := readVars(c.envFile, "env")
		if err != nil {
			return nil, fmt.Errorf("-env-file: %w", err)
		}
		vars[0] = v
	}
	if c.secretsFile != "" {
		v, err := readVars(c.secretsFile, "vault")
		if err != nil {
			return nil, fmt.Errorf("-secrets-file: %w", err)
		}
		vars = append(vars, v)
	}
	return vars, nil
}

func normalizeCommand(ctx context.Context, args []string, s streams) error {
	var c normalizeFlags
	files, err := c.parse(args, s)
	if err != nil {
		return err
	}
	vars, err := c.vars()
	if err != nil {
		return err
	}
	text, name, err := s.readInput(files)
	if err != nil {
		return err
	}
	paste, err := normalize.Parse(text, &normalize.ParseOptions{
		Dialect: normalize.Dialect(c.dialect), Name: filepath.Base(name), GOOS: c.goos,
	})
	if err != nil {
		return explain(s, name, text, err)
	}
	var rows []row
	for i := range paste.Servers {
		r, err := c.row(ctx, &paste.Servers[i], vars)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	if c.format == "table" {
		return writeTable(s.out, paste.Notes, rows, c.expand)
	}
	out := result{DocWarnings: noteTexts(paste.Notes), Servers: []connections.Record{}}
	for _, r := range rows {
		out.Servers = append(out.Servers, r.record)
	}
	if err := writeJSON(s, out); err != nil {
		return err
	}
	sayFaults(s, paste.Notes, rows)
	return nil
}

// sayFaults explains on the error stream what the record gives as a code only:
// why there is no server, and why one cannot be used.
func sayFaults(s streams, notes []normalize.Note, rows []row) {
	for _, n := range notes {
		if n.Code == normalize.NoMCPConfig {
			fmt.Fprintf(s.err, "note: %s\n", plain(n.Message))
		}
	}
	for _, r := range rows {
		if r = hidden(r); r.fault != nil {
			fmt.Fprintf(s.err, "note: server %q: %s\n", r.record.Name, plain(r.fault.Message))
		}
	}
}

// A row is what is printed of a server: its record, with the sentences of what the
// record gives as codes.
type row struct {
	record connections.Record
	notes  []normalize.Note
	fault  *normalize.Error // why it cannot run, nil for one that can
}

// row makes the row of a server.
func (c *normalizeFlags) row(ctx context.Context, s *normalize.Server, vars []normalize.Vars) (row, error) {
	notes := slices.Clone(s.Notes)
	fault := s.Err
	var launch *normalize.Launch
	if c.expand && fault == nil {
		l, more, err := s.Expand(ctx, vars, &normalize.ExpandOptions{GOOS: c.goos, Home: c.home, Workspace: c.workspace})
		if ctx.Err() != nil {
			return row{}, ctx.Err()
		}
		if err == nil {
			launch, notes = &l, append(notes, more...)
		} else if !errors.As(err, &fault) {
			return row{}, err
		}
	}
	if fault == nil {
		line := launch
		if line == nil {
			line = &normalize.Launch{Transport: s.Transport, Command: s.Command, Args: s.Args}
		}
		notes = append(notes, windowsNotes(line)...)
	}
	return row{newRecord(s, launch, notes, fault), notes, fault}, nil
}

func writeJSON(s streams, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := s.out.Write(b.Bytes())
	return err
}

// explain prints where a text cannot be read, with a caret below the column.
func explain(s streams, name string, text []byte, err error) error {
	var e *normalize.Error
	if !errors.As(err, &e) || e.Line == 0 {
		return err
	}
	if name == "" {
		name = "stdin"
	}
	fmt.Fprintf(s.err, "%s:%d:%d: %s\n", plain(name), e.Line, e.Column, plain(e.Message))
	lines := strings.Split(string(text), "\n")
	if e.Line <= len(lines) {
		shown, caret := excerpt(strings.TrimRight(lines[e.Line-1], "\r"), e.Column)
		fmt.Fprintf(s.err, "    %s\n    %s^\n", shown, strings.Repeat(" ", caret))
	}
	return cli.ExitError(1)
}
