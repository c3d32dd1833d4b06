package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/vault"
)

// instructions are what a model reads before it sees a tool.
const instructions = `Connections to MCP servers. When a person gives you a configuration or names a server, call register_server with op "prepare",
show them the proposal, and send op "apply" with its token once they agree: that runs the server once and stores it if it works.
list_servers shows what there is; set_enabled, probe_server, remove_server and export_config work on that.
Secrets are never shown. If names are unresolved, the notes of the proposal say what a person types in a terminal to set them.`

// approvalsDir is where the approvals are, in the folder of the vault.
const approvalsDir = "approvals"

// configDir is the folder for everything that has no place of its own, "" if the
// user has none.
func configDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mcpcontract", "connections")
}

// under is a place in a folder, or nothing where there is no folder.
func under(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// desk is an open vault with all that works on one of its profiles.
type desk struct {
	vault     *vault.Vault
	tokens    *token.Store
	store     *connections.Store
	approvals *mcpkit.Approvals
}

// open opens the vault of the command line.
func (c *config) open(ctx context.Context, opts *connections.Options) (*desk, error) {
	if c.vault == "" || c.keyFile == "" {
		return nil, errors.New("there is no folder for the configuration of this user: say where with -vault and -key-file")
	}
	v, err := vault.Open(ctx, c.vault, vault.KeyFile(c.keyFile), nil)
	switch vault.CodeOf(err) {
	case "":
	case vault.CodeMissing:
		return nil, fmt.Errorf("there is no vault in %s; run `%s` to make one", c.vault, c.line("init"))
	default:
		return nil, c.explain(err)
	}
	d := &desk{vault: v}
	if err := d.fill(c, opts); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// explain names the flag by which a person can mend what keeps a vault shut.
func (c *config) explain(err error) error {
	switch vault.CodeOf(err) {
	case "":
		return err
	case vault.CodeKey, vault.CodeKeyUnsafe, vault.CodeLocked, vault.CodeWrongKey:
		return fmt.Errorf("-key-file %s: %w", quoted(c.keyFile), err)
	case vault.CodeInvalid:
		return fmt.Errorf("-profile %s: %w", quoted(c.profile), err)
	}
	return fmt.Errorf("-vault %s: %w", quoted(c.vault), err)
}

// fill opens what works on the vault.
func (d *desk) fill(c *config, opts *connections.Options) (err error) {
	d.store, err = connections.New(d.vault, c.profile, opts)
	if vault.CodeOf(err) == vault.CodeProfileMissing {
		return fmt.Errorf("the vault has no profile %q; run `%s` to make it", c.profile, c.line("init"))
	}
	if err != nil {
		return err
	}
	d.tokens, err = token.Open(filepath.Join(c.vault, approvalsDir), nil)
	d.approvals = &mcpkit.Approvals{
		Store: d.tokens, Project: "connections/" + c.profile, By: c.approve, Command: c.line("approve"),
	}
	return err
}

// Close closes what is open.
func (d *desk) Close() error {
	var err error
	if d.tokens != nil {
		err = d.tokens.Close()
	}
	return errors.Join(err, d.vault.Close())
}

// server is all that it takes to serve connections.
func (d *desk) server(c *config) (*mcp.Server, error) {
	return mcpkit.NewServer(
		&mcp.Implementation{Name: "mcpcontract-connections", Title: "Connections", Version: cli.Version()},
		&mcpkit.Options{Instructions: instructions, Principal: c.profile},
		connections.Feature(d.store, d.approvals),
	)
}

// line is what a person types to run a command on the same vault and profile, in
// whatever folder.
func (c *config) line(command string) string {
	words := []string{"connections"}
	var plain config
	plain.flags(streams{})
	for _, f := range []struct{ name, value, usual string }{
		{"-vault", absolute(c.vault), plain.vault}, {"-profile", c.profile, plain.profile}, {"-key-file", absolute(c.keyFile), plain.keyFile},
	} {
		if f.value != f.usual {
			words = append(words, f.name, quoted(f.value))
		}
	}
	return strings.Join(append(words, command), " ")
}

// absolute is a path that means the same in another folder, if that can be told.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return abs
	}
	return path
}

// quoted is a word of a shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`&|;<>()*?[]{}~#!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// options are those of a real vault: the whole world may be looked up.
func (c *config) options() *connections.Options {
	return &connections.Options{Lookup: c.lookup(), SecretCommand: c.line("secret set")}
}

// lookup asks the fixed sources, and then the agent's program if there is one.
func (c *config) lookup() *lookup.Resolver {
	var opts lookup.Options
	if c.agent.argv != nil {
		opts.Agent = &lookup.Command{Argv: c.agent.argv, Env: agentEnv(os.Environ())}
	}
	return lookup.New(&opts)
}

// serve serves until the client has gone, or the process is told to end.
func (c *config) serve(ctx context.Context, s streams) (err error) {
	d, err := c.open(ctx, c.options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	server, err := d.server(c)
	if err != nil {
		return err
	}
	if c.http != "" {
		return cli.ServeHTTP(ctx, s.err, server, c.http)
	}
	fmt.Fprintf(s.err, "serving profile %s of %s on stdin and stdout; end with Ctrl-C\n", c.profile, c.vault)
	return cli.Serve(ctx, server)
}
