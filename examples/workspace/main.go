// Command workspace is a reference server: it serves the repositories of a
// workspace to MCP clients, registry first.
//
// Try:
//
//	go run ./examples/workspace demo
//	go run ./examples/workspace generate -root ~/src
//	go run ./examples/workspace -root ~/src
//	go run ./examples/workspace -root ~/src -http 127.0.0.1:8080
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

const usage = `workspace serves the repositories of a workspace to MCP clients, registry first.

usage: workspace [flags]             serve on stdin and stdout, or on -http
       workspace [flags] generate    scan the root and write its registry, or bring the one there up to date
       workspace [flags] check       compare the registry with the disk
       workspace schema              print the JSON Schema of registries, overlays and manifests, for editors
       workspace demo                serve a sample workspace to two built-in clients
       workspace help                print this

generate keeps what was edited by hand, and overwrites nothing that changed while it ran. It ends
with 0 if the registry is up to date, 1 if it was not written, and 2 if no repo was found. An
update leaves a lock file, .workspace-registry.lock, beside the registry.

check ends with 0 if nothing that is declared is wrong, 1 if something is (a declared file
is missing, the registry is faulty, a recorded status is out of date), and 2 if it cannot
look. Warnings, such as an owner that is still a placeholder, count only with -strict.

flags, before or after the command:
`

const instructions = `The repositories of one workspace. Ask list_repos for ids, resolve_repo for what may be read in a repo and in which order.
Read files with read_entrypoint, standard documents with read_view; list folders with scan_root. Nothing else is readable.
Where documents disagree, authority_order says which one counts.`

// config is what the command line says.
type config struct {
	root, registry string
	http           string
	watch          time.Duration
	noHeuristics   bool
	strict         bool
	markers, out   string
}

func (c *config) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("workspace", flag.ContinueOnError)
	fs.StringVar(&c.root, "root", "", "`folder` of the workspace (default the current one; with -registry, the one that the registry names)")
	fs.StringVar(&c.registry, "registry", "", "registry `file` (default workspace-registry.{yaml,json,toml} in the root)")
	fs.DurationVar(&c.watch, "watch", 0, "serve: look every so often, such as `2s`, whether the registry has changed, load it and tell the clients (default never)")
	fs.BoolVar(&c.noHeuristics, "no-heuristics", false, "serve: refuse repos that the registry does not list, without looking for them")
	fs.StringVar(&c.http, "http", "", "serve: listen on this `address` of the machine, such as 127.0.0.1:8080, instead of stdin")
	fs.BoolVar(&c.strict, "strict", false, "check: warnings count as problems")
	fs.StringVar(&c.markers, "marker", "", "generate: comma-separated `names` that make a folder a repo, such as .git,go.mod (default .git and docs/agent/manifest.yaml)")
	fs.StringVar(&c.out, "o", "", "generate: write to this `file` (default the registry, or workspace-registry.yaml in the root if there is none)")
	fs.Usage = func() {
		_, _ = fmt.Fprint(fs.Output(), usage)
		fs.PrintDefaults()
	}
	return fs
}

func main() {
	os.Exit(cli.Main(func(ctx context.Context) error { return run(ctx, os.Args[1:]) }))
}

func run(ctx context.Context, args []string) error {
	var c config
	fs := c.flags()
	if err := fs.Parse(args); err != nil {
		return cli.BadUsage(err)
	}
	command := fs.Arg(0)
	if fs.NArg() > 1 {
		if err := fs.Parse(fs.Args()[1:]); err != nil {
			return cli.BadUsage(err)
		}
		if fs.NArg() > 0 {
			return cli.Misuse(os.Stderr, "unexpected argument %q", fs.Arg(0))
		}
	}
	switch command {
	case "":
		return serve(ctx, c)
	case "generate":
		return generate(ctx, c)
	case "check":
		return check(ctx, c)
	case "schema":
		_, err := os.Stdout.Write(registry.JSONSchema())
		return err
	case "demo":
		return demo(ctx, os.Stdout)
	case "help":
		fs.Usage()
		return nil
	}
	return cli.Misuse(os.Stderr, "unknown command %q", command)
}

func serve(ctx context.Context, c config) error {
	reg, file, opts, err := c.load()
	if err != nil {
		return err
	}
	if n := len(reg.Warnings()); n > 0 {
		fmt.Fprintf(os.Stderr, "%s: %s; run check to see more\n", file, cli.Count(n, "warning", "warnings"))
	}
	source := resolve.Static(reg)
	var changes chan struct{}
	if c.watch > 0 {
		changes = make(chan struct{}, 1)
		defer close(changes)
		watcher, err := watch(file, c.watch, opts, changes)
		if err != nil {
			return err
		}
		defer func() { _ = watcher.Close() }() // before changes is closed; it never fails
		source = watcher
	}
	server, err := newServer(source, &resolve.Options{NoHeuristics: c.noHeuristics}, &discovery.Options{Changes: changes})
	if err != nil {
		return err
	}
	if c.http != "" {
		return cli.ServeHTTP(ctx, os.Stderr, server, c.http)
	}
	fmt.Fprintf(os.Stderr, "serving %s of %s on stdin and stdout; end with Ctrl-C\n", repos(reg.Len()), reg.Root())
	return cli.Serve(ctx, server)
}

// watch keeps the registry up to date. It sends to changes, which has room for one,
// that there is something new, and tells the operator what cannot be used.
func watch(file string, interval time.Duration, opts *registry.ParseOptions, changes chan<- struct{}) (*registry.Watcher, error) {
	return registry.Watch(file, interval, opts, func(found []registry.Change, err error) {
		if err != nil {
			if _, ok := printFaults(err); !ok {
				fmt.Fprintln(os.Stderr, "error:", err)
			}
			fmt.Fprintf(os.Stderr, "%s was not loaded, the registry from before stays in force\n", file)
			return
		}
		fmt.Fprintf(os.Stderr, "%s was loaded again: %s\n", file, cli.Count(len(found), "change", "changes"))
		if len(found) > 0 {
			select {
			case changes <- struct{}{}:
			default: // the clients are about to be told already
			}
		}
	})
}

// newServer is all that it takes to serve a workspace.
func newServer(source resolve.Source, resolving *resolve.Options, serving *discovery.Options) (*mcp.Server, error) {
	return mcpkit.NewServer(
		&mcp.Implementation{Name: "mcpcontract-workspace", Title: "Workspace", Version: cli.Version()},
		&mcpkit.Options{Instructions: instructions},
		discovery.Feature(resolve.New(source, resolving), serving),
	)
}
