// Command documents is a reference server: it serves a project of Markdown
// documents, takes proposals to change them that a person reviews and carries
// out, and promotes staged files exactly as a person approved them.
//
// Try:
//
//	go run ./examples/documents demo
//	go run ./examples/documents --project-root ~/handbook
//	go run ./examples/documents --project-root ~/handbook --proposal-writer agent -approve command
//	go run ./examples/documents --project-root ~/handbook render
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/mcpkit"
)

const usage = `documents serves a project of Markdown documents to MCP clients.

usage: documents --project-root DIR [flags]                   serve on stdin and stdout
       documents --project-root DIR render [VIEW]             write the declared outputs, of one view or all
       documents --project-root DIR patch CHANGESET           print a changeset as a patch, to be carried out by hand
       documents --project-root DIR [flags] approve [ID...]   approve what waits, or list it; approve reject ID... voids it
       documents demo                                         show a sample project, left in a folder of its own, to two clients
       documents help                                         print this

DIR holds the project file, mcpdocs.yaml. Clients read the documents, and preview changesets that
exist; with --proposal-writer they also write changesets, which a person carries out by hand, and
stage candidates, which are promoted once they are approved. No tool changes a document or an output.

What patch prints is carried out by "git apply" in DIR, or, if DIR lies in a repository as SUB, by
"git apply --directory=SUB" at its top.

-approve says how a person approves a candidate: token leaves it to the client to ask before it
lets a model apply it; elicit asks in a dialog of the client; command waits for "documents approve".

flags, before or after the command:
`

// config is what the command line says.
type config struct {
	root, writer, prefix string
	approve              mcpkit.Approver
}

func (c *config) flags(w io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("documents", flag.ContinueOnError)
	fs.SetOutput(w)
	fs.StringVar(&c.root, "project-root", "", "`folder` of the project, with its mcpdocs.yaml")
	fs.StringVar(&c.writer, "proposal-writer", "", "serve: `name` in which changes are proposed (default nobody's: reading only)")
	fs.StringVar(&c.prefix, "tool-prefix", "", "serve: `text` before the name of each tool, such as docforge_ (default none)")
	fs.TextVar(&c.approve, "approve", mcpkit.Token, "serve: `how` a person approves: token, elicit or command")
	fs.Usage = func() {
		_, _ = fmt.Fprint(fs.Output(), usage)
		fs.PrintDefaults()
	}
	return fs
}

func main() {
	os.Exit(cli.Main(func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stdout, os.Stderr) }))
}

// run runs the command that args name. It writes what was asked for to w and
// everything else to log.
func run(ctx context.Context, args []string, w, log io.Writer) error {
	var c config
	fs := c.flags(log)
	operands, err := cli.Operands(fs, args)
	if err != nil {
		return cli.BadUsage(err)
	}
	command := ""
	if len(operands) > 0 {
		command, operands = operands[0], operands[1:]
	}
	switch command {
	case "help":
		fs.Usage()
		return nil
	case "", "render", "approve", "patch", "demo":
	default:
		return cli.Misuse(log, "unknown command %q", command)
	}
	if c.root == "" && command != "demo" {
		return cli.Misuse(log, "%s is required", "--project-root")
	}
	switch {
	case command == "approve":
		return c.decide(ctx, w, operands)
	case command == "patch" && len(operands) == 1:
		return c.patch(ctx, w, operands[0])
	case command == "patch":
		return cli.Misuse(log, "the id of a changeset is required after %q", command)
	case command == "render" && len(operands) <= 1:
		return c.render(ctx, w, operands)
	case len(operands) > 0:
		return cli.Misuse(log, "unexpected argument %q", operands[0])
	case command == "demo":
		return demo(ctx, w)
	}
	return c.serve(ctx, log)
}

// serve binds the project and the writer once, and serves them.
func (c *config) serve(ctx context.Context, log io.Writer) (err error) {
	p, err := open(c.root, c.writer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	server, err := p.server(c)
	if err != nil {
		return err
	}
	how := "reading only"
	if c.writer != "" {
		how = fmt.Sprintf("proposals by %s, approvals by %v", cli.Visible(c.writer), c.approve)
	}
	_, _ = fmt.Fprintf(log, "serving the project %s on stdin and stdout, %s; end with Ctrl-C\n", p.file.ID, how)
	return cli.Serve(ctx, server)
}
