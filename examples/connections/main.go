// Command connections is a reference server: it turns what a person pastes into
// MCP server connections that are proven to work and sealed in a vault.
//
// Try:
//
//	go run ./examples/connections demo
//	go run ./examples/connections init
//	go run ./examples/connections
//	go run ./examples/connections -approve command -http 127.0.0.1:8081
//	go run ./examples/connections -agent 'claude -p' resolve https://example.com/some-server
//	go run ./examples/connections normalize -format table ~/.cursor/mcp.json
//	go run ./examples/connections export -to codex ~/.cursor/mcp.json
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// usage is also what is printed for -h.
const usage = `connections turns pasted client configurations into MCP server connections that are proven to work,
sealed in a vault.

usage: connections [flags]                        serve on stdin and stdout, or on -http
       connections [flags] init                   make the vault, the profile and, if it is missing, the key file
       connections [flags] list                   show the connections of the profile
       connections [flags] enable|disable NAME    switch a connection on or off
       connections [flags] probe NAME             run a connection once and compare its tools
       connections [flags] approve [ID...]        approve what waits, or list it; approve reject ID... voids it
       connections [flags] secret set NAME        store a secret; the value comes from stdin, or is asked for
       connections [flags] secret list            show the names of secrets
       connections [flags] secret rm NAME         remove a secret
       connections resolve REFERENCE              find out how the server of a repository or package is run
       connections normalize [flags] [FILE]       print the records of a configuration
       connections export -to CLIENT [flags] [FILE]    print a configuration in another client's form
       connections demo                           register a sample server with two built-in clients
       connections help                           print this

Clients register servers with the tool register_server. It runs what was pasted, as you, once
that is approved. -approve says how: token leaves it to the client to ask before it lets a model
call the tool; elicit asks in a dialog of the client; command waits for "connections approve".
With -http, whoever can connect to the address is a client: prefer command there.

-agent names a program that answers for references which the fixed sources leave open, such as
-agent 'claude -p'. It is run once for each, without a shell: blanks separate the words, quotes hold
one together. It gets an object {"instructions", "reference", "evidence", "documents"} of public text
on stdin, and answers on stdout, in 2 minutes and 64 KiB at most: one Markdown fence around the JSON
of one server, or {"error", "evidence"}. Of the environment it has PATH, HOME and the like alone.

probe ends with 1 if the server does not answer or its tools are not those that were approved.

normalize and export have flags of their own, see normalize -h.

flags, before or after the command:
`

// config is what the command line says.
type config struct {
	vault, profile, keyFile string
	approve                 mcpkit.Approver
	http                    string
	agent                   agentFlag
}

// flags are those of all commands but normalize and export.
func (c *config) flags(s streams) *flag.FlagSet {
	fs := flag.NewFlagSet("connections", flag.ContinueOnError)
	fs.SetOutput(s.err)
	dir := configDir()
	fs.StringVar(&c.vault, "vault", under(dir, "vault"), "`folder` of the vault")
	fs.StringVar(&c.profile, "profile", "default", "`name` of the profile in the vault")
	fs.StringVar(&c.keyFile, "key-file", under(dir, "key"), "`file` with the key of the vault, outside its folder")
	fs.TextVar(&c.approve, "approve", mcpkit.Token, "serve: `how` a person approves: token, elicit or command")
	fs.Var(&c.agent, "agent", "serve, resolve: `program` with its arguments, which looks up what the fixed sources cannot tell (default none)")
	fs.StringVar(&c.http, "http", "", "serve: listen on this `address` of the machine, such as 127.0.0.1:8081, instead of stdin")
	fs.Usage = func() {
		_, _ = fmt.Fprint(fs.Output(), usage)
		fs.PrintDefaults()
	}
	return fs
}

func main() {
	os.Exit(cli.Main(func(ctx context.Context) error { return run(ctx, os.Args[1:], std()) }))
}

// run runs the command that args name.
func run(ctx context.Context, args []string, s streams) error {
	var c config
	fs := c.flags(s)
	if err := fs.Parse(args); err != nil {
		return cli.BadUsage(err)
	}
	name, rest := fs.Arg(0), fs.Args()
	switch name {
	case "":
		return c.serve(ctx, s)
	case "normalize":
		return normalizeCommand(ctx, rest[1:], s)
	case "export":
		return exportCommand(rest[1:], s)
	case sampleCommand:
		return serveSample(ctx)
	}
	command, ok := commands[name]
	if !ok {
		return cli.Misuse(s.err, "unknown command %q", name)
	}
	operands, err := cli.Operands(fs, rest[1:])
	if err != nil {
		return cli.BadUsage(err)
	}
	if len(operands) < command.least || len(operands) > command.most {
		return cli.Misuse(s.err, "the command %q takes other arguments: say connections %s%s", name, name, command.usage)
	}
	return command.run(ctx, &c, s, operands)
}
