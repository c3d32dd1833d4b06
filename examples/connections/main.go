// Command connections is a reference server for registering MCP servers from
// whatever a person pastes.
//
// Try:
//
//	go run ./examples/connections normalize -format table ~/.cursor/mcp.json
//	go run ./examples/connections export -to codex ~/.cursor/mcp.json
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
)

const usage = `connections turns pasted client configurations into records, and records into configurations.

usage: connections normalize [flags] [FILE]    print the records of a configuration, from stdin without a file
       connections export -to CLIENT [flags] [FILE]    print a configuration in another client's form

Run a command with -h for its flags.
`

func main() {
	os.Exit(cli.Main(func(ctx context.Context) error { return run(ctx, os.Args[1:], std()) }))
}

// run runs the command that args name.
func run(ctx context.Context, args []string, s streams) error {
	if len(args) == 0 {
		fmt.Fprint(s.err, usage)
		return cli.ExitError(2)
	}
	switch command := args[0]; command {
	case "normalize":
		return normalizeCommand(ctx, args[1:], s)
	case "export":
		return exportCommand(args[1:], s)
	case "-h", "-help", "--help", "help":
		_, err := fmt.Fprint(s.out, usage)
		return err
	default:
		return fmt.Errorf("unknown command %q; run with -h for help", command)
	}
}
