package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/vault"
)

// A command is what a person types after the flags.
type command struct {
	least, most int    // operands
	usage       string // the operands, for who gives too few or too many
	run         func(ctx context.Context, c *config, s streams, operands []string) error
}

// commands are those on a vault, and a few more. The map never changes.
var commands = map[string]command{
	"init":    {0, 0, "", initialize},
	"list":    {0, 0, "", onDesk(list)},
	"enable":  {1, 1, " NAME", onDesk(enable)},
	"disable": {1, 1, " NAME", onDesk(disable)},
	"probe":   {1, 1, " NAME", onDesk(probeOne)},
	"approve": {0, 64, " [ID...]", approve},
	"secret":  {1, 2, " set NAME, secret list or secret rm NAME", secret},
	"resolve": {1, 1, " REFERENCE", resolveCommand},
	"demo":    {0, 0, "", func(ctx context.Context, _ *config, s streams, _ []string) error { return demo(ctx, s.out) }},
	"help": {0, 0, "", func(_ context.Context, c *config, s streams, _ []string) error {
		c.flags(s).Usage()
		return nil
	}},
}

// onDesk runs a command on an open vault.
func onDesk(run func(ctx context.Context, d *desk, s streams, operands []string) error) func(context.Context, *config, streams, []string) error {
	return func(ctx context.Context, c *config, s streams, operands []string) (err error) {
		d, err := c.open(ctx, c.options())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		return run(ctx, d, s, operands)
	}
}

// initialize makes what is missing of vault, profile and key file, and says what
// it made. It leaves alone what is there.
func initialize(ctx context.Context, c *config, s streams, _ []string) error {
	if c.vault == "" || c.keyFile == "" {
		return errors.New("there is no folder for the configuration of this user: say where with -vault and -key-file")
	}
	if inside(c.vault, c.keyFile) {
		return fmt.Errorf("the key file %s is inside the folder of the vault, where it would be copied together with what it opens: name another one with -key-file", c.keyFile)
	}
	v, err := vault.Open(ctx, c.vault, vault.KeyFile(c.keyFile), nil)
	if vault.CodeOf(err) == vault.CodeMissing {
		v, err = c.create(ctx, s)
	} else {
		err = c.explain(err)
	}
	if err != nil {
		return err
	}
	err = v.Update(ctx, func(tx *vault.Tx) error {
		err := tx.CreateProfile(c.profile, "")
		if vault.CodeOf(err) == vault.CodeProfileExists {
			return nil
		}
		if err == nil {
			fmt.Fprintf(s.out, "made the profile %s\n", c.profile)
		}
		return err
	})
	if err == nil {
		fmt.Fprintf(s.out, "the vault is %s, its key %s: keep copies of them apart\n", c.vault, c.keyFile)
	}
	return errors.Join(c.explain(err), v.Close())
}

// create makes a vault, and a key file if there is none.
func (c *config) create(ctx context.Context, s streams) (*vault.Vault, error) {
	err := vault.MakeKeyFile(c.keyFile)
	switch vault.CodeOf(err) {
	case "":
		fmt.Fprintf(s.out, "made the key file %s\n", c.keyFile)
	case vault.CodeExists:
	default:
		return nil, fmt.Errorf("-key-file %s: %w", quoted(c.keyFile), err)
	}
	v, err := vault.Create(ctx, c.vault, vault.KeyFile(c.keyFile))
	if err != nil {
		return nil, c.explain(err)
	}
	fmt.Fprintf(s.out, "made the vault %s\n", c.vault)
	return v, nil
}

// inside reports whether a file would be in a folder, which need not exist.
func inside(dir, file string) bool {
	d, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	f, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(d, f)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// list shows a line for each connection, aligned.
func list(_ context.Context, d *desk, s streams, _ []string) error {
	all, err := d.store.List()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(s.out, "no connections")
		return nil
	}
	tw := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for i := range all {
		printConnection(tw, &all[i])
	}
	return tw.Flush()
}

// printConnection makes visible what could change a terminal: names and command
// lines are a stranger's.
func printConnection(w io.Writer, c *connections.Connection) {
	state := "off"
	if c.Enabled {
		state = "on"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", cli.Visible(c.Name), c.Transport, state,
		cli.Count(c.Tools, "tool", "tools"), c.VerifiedAt.Format(time.RFC3339), cli.Visible(c.Target))
}

// enable switches a connection on.
func enable(ctx context.Context, d *desk, s streams, operands []string) error {
	return setEnabled(ctx, d, s, operands[0], true)
}

// disable switches a connection off.
func disable(ctx context.Context, d *desk, s streams, operands []string) error {
	return setEnabled(ctx, d, s, operands[0], false)
}

// setEnabled shows what became of the connection.
func setEnabled(ctx context.Context, d *desk, s streams, name string, on bool) error {
	c, err := d.store.SetEnabled(ctx, name, on)
	if err == nil {
		printConnection(s.out, &c)
	}
	return err
}

// probeOne ends with 1 also where the server answers and is not what it was.
func probeOne(ctx context.Context, d *desk, s streams, operands []string) error {
	found, err := d.store.Probe(ctx, operands[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s %s speaks protocol %s and has %s:\n", cli.Visible(found.Name), cli.Visible(found.Version),
		cli.Visible(found.Protocol), cli.Count(len(found.Tools), "tool", "tools"))
	for _, tool := range found.Tools {
		fmt.Fprintf(s.out, "  %s\n", cli.Visible(tool))
	}
	if found.CatalogChanged {
		fmt.Fprintln(s.err, "the tools are not those that were approved: register the server again, with replace, to accept them")
		return cli.ExitError(1)
	}
	fmt.Fprintln(s.out, "the tools are those that were approved")
	return nil
}

// approve lists, approves and rejects what waits. What is no longer what would be
// done is shown as such, and cannot be approved.
func approve(ctx context.Context, c *config, s streams, operands []string) error {
	if len(operands) == 1 && operands[0] == "reject" {
		return cli.Misuse(s.err, "say connections approve reject %s; without arguments approve lists what waits", "ID...")
	}
	return onDesk(func(ctx context.Context, d *desk, s streams, operands []string) error {
		d.approvals.Recheck = connections.Recheck(d.store)
		return d.approvals.Decide(ctx, s.out, operands)
	})(ctx, c, s, operands)
}

// nameOfSecret is what a reference can name: a variable, or the answer to a
// question.
var nameOfSecret = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]{0,255}|input:[^\s]{1,200})$`)

// secret takes no value as an argument: command lines are seen by all users of a
// machine, and kept by shells. What is wrong with the command line is told before
// the vault is opened.
func secret(ctx context.Context, c *config, s streams, operands []string) error {
	switch {
	case operands[0] == "list" && len(operands) == 1:
		return onDesk(listSecrets)(ctx, c, s, nil)
	case len(operands) != 2 || !slices.Contains([]string{"set", "rm"}, operands[0]):
		return cli.Misuse(s.err, "say %s", "connections secret set NAME, secret list or secret rm NAME")
	case !nameOfSecret.MatchString(operands[1]):
		return cli.Misuse(s.err, "%q is no name of a secret: it has letters, digits and _, or is input: and the id of a question", operands[1])
	case operands[0] == "rm":
		return onDesk(removeSecret)(ctx, c, s, operands[1:])
	}
	return onDesk(setSecret)(ctx, c, s, operands[1:])
}

// setSecret reads the value only once the vault is open.
func setSecret(ctx context.Context, d *desk, s streams, operands []string) error {
	value, err := s.readSecret(operands[0])
	if err != nil {
		return err
	}
	err = d.vault.Update(ctx, func(tx *vault.Tx) error { return tx.Set(d.store.Profile(), operands[0], value) })
	if err == nil {
		fmt.Fprintf(s.err, "stored %s in the profile %s\n", cli.Visible(operands[0]), d.store.Profile())
	}
	return err
}

// removeSecret removes one of the profile's own, and says what used it: a person
// may have to give it another value.
func removeSecret(ctx context.Context, d *desk, s streams, operands []string) error {
	name, profile := operands[0], d.store.Profile()
	if err := d.vault.Update(ctx, func(tx *vault.Tx) error { return tx.Delete(profile, name) }); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "removed %s from the profile %s\n", cli.Visible(name), profile)
	users, err := d.store.Users(name)
	if err != nil {
		return fmt.Errorf("which connections use it cannot be told: %w", err)
	}
	if len(users) > 0 {
		fmt.Fprintf(s.err, "connections that refer to it: %s\n", cli.Visible(strings.Join(users, ", ")))
	}
	return nil
}

// listSecrets prints names alone.
func listSecrets(_ context.Context, d *desk, s streams, _ []string) error {
	names, err := d.store.Secrets()
	for _, name := range names {
		fmt.Fprintln(s.out, cli.Visible(name))
	}
	return err
}

// maxSecret bounds what is read as the value of a secret.
const maxSecret = 64 << 10

// readSecret takes a value from stdin: without echo from a terminal, else all of
// it but the line break at the end.
func (s streams) readSecret(name string) (string, error) {
	if f, ok := s.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(s.err, "value of %s, not shown: ", name)
		value, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(s.err)
		if err == nil && len(value) == 0 {
			err = errors.New("the value is empty, nothing was stored")
		}
		return string(value), err
	}
	data, err := io.ReadAll(io.LimitReader(s.in, maxSecret+1))
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case err != nil:
		return "", err
	case len(data) > maxSecret:
		return "", fmt.Errorf("the value has more than %d bytes, nothing was stored", maxSecret)
	case value == "":
		return "", errors.New("the value is empty, nothing was stored")
	}
	return value, nil
}

// resolveCommand shows the evidence apart from the record, so that the record can be
// piped on.
func resolveCommand(ctx context.Context, c *config, s streams, operands []string) error {
	server, evidence, err := c.lookup().Resolve(ctx, operands[0])
	for _, step := range evidence {
		fmt.Fprintln(s.err, cli.Visible(step.String()))
	}
	if err != nil {
		return err
	}
	return writeJSON(s, connections.RecordOf(&server, nil, server.Notes))
}
