package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// smitheryRun notes a record that runs a server through Smithery's program.
func (e *draft) smitheryRun() {
	for i, arg := range e.s.Args {
		if packageName(arg) != "@smithery/cli" {
			continue
		}
		rest := e.s.Args[i+1:]
		if len(rest) > 1 && rest[0] == "run" {
			if id := firstPackage(rest[1:]); id != "" {
				e.note(SmitheryReference, id, e.command.off)
			}
		}
		return
	}
}

// smitheryHost notes an address of Smithery's own hosting.
func (e *draft) smitheryHost(address string) {
	_, rest, _ := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	if host != "server.smithery.ai" {
		return
	}
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(path, "/"), "/mcp"), "/sse")
	if path != "" {
		e.note(SmitheryReference, path, e.url.off)
	}
}

// smithery reads a smithery.yaml, whose command is a function that is never
// run.
func (r *reader) smithery(root *syntax.Node) {
	start := root.Get("startCommand")
	if !start.IsObject() || start.Get("commandFunction") == nil && start.Get("configSchema") == nil {
		return
	}
	e := r.draft(place{offset: start.Offset}, dialectOf(Generic))
	e.fail(NotRunnable, "command_function")
	e.finish()
}
