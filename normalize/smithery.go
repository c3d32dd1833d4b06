package normalize

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// smitheryRun notes a record that runs a server through Smithery's program. One
// that installs a server only names it.
func (e *draft) smitheryRun() {
	for i, arg := range e.s.Args {
		if packageName(arg) != "@smithery/cli" {
			continue
		}
		rest := e.s.Args[i+1:]
		if len(rest) < 2 {
			return
		}
		switch id := firstPackage(rest[1:]); {
		case id == "":
		case rest[0] == "run":
			e.note(SmitheryReference, id, e.command.off)
		case rest[0] == "install":
			e.fail(NeedsLookup, clip(id))
			if !e.at.named {
				e.s.Name, e.at.named = barePackage(id), true
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
	if path != "" && path != "mcp" && path != "sse" {
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
	e.written = start
	e.fail(NotRunnable, "command_function")
	e.finish()
}
