package connections

import (
	"cmp"
	"context"
	"runtime"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
	"github.com/mcpcontract/mcpcontract/result"
)

// maxPage bounds a page of a list on the wire, which fits the clients measured.
const maxPage = 10_000

// Feature adds the tools for the connections of one store; resolve_reference only
// if the store can look references up. approvals says how registrations and
// removals are approved; its Project has to be of this profile alone.
//
// It also puts itself before register_server, to keep pasted texts out of the
// store of the approvals. This stays on a server whose installation fails.
func Feature(store *Store, approvals *mcpkit.Approvals) mcpkit.Feature {
	if store == nil {
		panic("connections: Feature needs a store")
	}
	f := &feature{store: store, approvals: approvals}
	return f.install
}

// feature is one installed feature. It is read only after install.
type feature struct {
	store     *Store
	approvals *mcpkit.Approvals
	pager     *paging.Pager
}

// The names that this package has to find again, in calls and in claims.
const (
	registerTool = "register_server"
	removeTool   = "remove_server"
)

// install adds the tools, and the middleware last: a feature that fails before it
// leaves nothing behind.
func (f *feature) install(in *mcpkit.Installer) error {
	var err error
	if f.pager, err = paging.New(in.Sealer(), "connections", maxPage); err != nil {
		return err
	}
	features := []mcpkit.Feature{f.normalizeTool().Install}
	if f.store.opts.Lookup != nil {
		features = append(features, f.resolveTool().Install)
	}
	features = append(features,
		f.registerCommand().Install, f.listTool(in).Install, f.enableTool().Install,
		f.removeCommand().Install, f.probeTool().Install, f.exportTool().Install)
	for _, install := range features {
		if err := install(in); err != nil {
			return err
		}
	}
	in.Server().AddReceivingMiddleware(f.store.intercept(in.ToolName(registerTool)))
	return nil
}

// normalizeArgs has the hints that the parser takes from a file's name and place
// elsewhere.
type normalizeArgs struct {
	Text    string `json:"text" jsonschema:"the configuration as it was pasted"`
	Dialect string `json:"dialect,omitempty" jsonschema:"the client whose configuration this is, such as claude-desktop; found out from the text if absent"`
	OS      string `json:"os,omitempty" jsonschema:"the operating system where it is used; this one's if absent" schema:"enum=linux|windows|darwin"`
}

// normalized is a whole text. There is no cursor: a text that is too large for one
// reply is too large to be looked at by a model, too.
type normalized struct {
	Format  string   `json:"format"`
	Dialect string   `json:"dialect"`
	Notes   []string `json:"notes" jsonschema:"what was repaired or guessed in the text as a whole"`
	Servers []Record `json:"servers"`
}

// normalizeTool answers what a text says, before anybody decides anything.
func (f *feature) normalizeTool() mcpkit.Tool[normalizeArgs, normalized] {
	return mcpkit.Tool[normalizeArgs, normalized]{
		Name:  "normalize_config",
		Title: "Normalize a configuration",
		Description: "Read a pasted MCP client configuration of any kind and return one record for each server, with what was repaired or guessed. " +
			"Secrets of the text are replaced by references. Runs, looks up and stores nothing.",
		Effect: mcpkit.ReadOnly,
		Schema: func(_, output *jsonschema.Schema) { describeRecord(output.Properties["servers"].Items) },
		Run:    f.normalize,
	}
}

// normalize lifts each server by the names that the profile has now, so that it
// shows the references which a registration would make.
func (f *feature) normalize(ctx context.Context, in normalizeArgs) (normalized, error) {
	paste, err := parse([]byte(in.Text), &normalize.ParseOptions{Dialect: normalize.Dialect(in.Dialect), GOOS: in.OS})
	if err != nil {
		return normalized{}, err
	}
	out := normalized{Format: paste.Format, Dialect: string(paste.Dialect)}
	known, err := f.store.vaultNames()
	if err != nil {
		return normalized{}, err
	}
	var found []sealed
	for i := range paste.Servers {
		server, secrets, err := lift(ctx, &paste.Servers[i], known.free(&paste.Servers[i], nil))
		if err != nil {
			return normalized{}, err
		}
		found = append(found, secrets...)
		out.Servers = append(out.Servers, wireRecord(&server, in.OS))
	}
	out.Notes = noteTexts(cleanNotes(paste.Notes, found))
	return out, nil
}

// wireRecord is a record for a reply. How Windows starts it is of interest there
// only.
func wireRecord(s *normalize.Server, goos string) Record {
	r := RecordOf(s, nil, s.Notes)
	if cmp.Or(goos, runtime.GOOS) != "windows" {
		r.LaunchWindows = nil
	}
	return r
}

// describeRecord says of a record what its type cannot.
func describeRecord(record *jsonschema.Schema) {
	for _, target := range []*jsonschema.Schema{record, record.Properties["equivalent"]} {
		target.Properties["oauth"] = &jsonschema.Schema{
			Description: "false for off, else what is known about signing in",
			AnyOf: []*jsonschema.Schema{
				{Type: "boolean"},
				{Type: "object", AdditionalProperties: &jsonschema.Schema{}},
			},
		}
	}
}

// resolveArgs is what a person would type into a search box.
type resolveArgs struct {
	Reference string `json:"reference" jsonschema:"a repository address, a name in the registry, a package" schema:"maxLength=2048"`
}

// resolved has the evidence also where there is a record: a person may want to see
// why it is this one.
type resolved struct {
	Server   Record        `json:"server"`
	Evidence []lookup.Step `json:"evidence" jsonschema:"what was asked, in order, and what came of it"`
}

// resolveTool looks a reference up without registering anything.
func (f *feature) resolveTool() mcpkit.Tool[resolveArgs, resolved] {
	return mcpkit.Tool[resolveArgs, resolved]{
		Name:  "resolve_reference",
		Title: "Resolve a reference",
		Description: "Find out how the MCP server of a repository, registry name or package is run: exactly one record with the evidence, or a failure that says why. " +
			"Asks public sources; runs and stores nothing.",
		Effect:    mcpkit.ReadOnly,
		OpenWorld: true,
		Schema:    func(_, output *jsonschema.Schema) { describeRecord(output.Properties["server"]) },
		Run: func(ctx context.Context, in resolveArgs) (resolved, error) {
			server, evidence, err := f.store.resolve(ctx, in.Reference)
			if err != nil {
				return resolved{}, err
			}
			if server, _, err = f.store.lift(ctx, &server, nil); err != nil {
				return resolved{}, err
			}
			return resolved{wireRecord(&server, ""), evidence}, nil
		},
	}
}

// registerCommand is open to the world: it runs what it registers.
func (f *feature) registerCommand() mcpkit.Command[registerArgs, registration, registered] {
	return mcpkit.Command[registerArgs, registration, registered]{
		Name:  registerTool,
		Title: "Register a server",
		Description: "Register an MCP server from a pasted configuration or a reference, after a person approved what it runs and reads. " +
			"It is run once to prove that it works, and stored only if it does.",
		Effect:    mcpkit.Destructive,
		OpenWorld: true,
		Schema:    func(_, _, receipt *jsonschema.Schema) { describeRecord(receipt.Properties["server"]) },
		Flat:      true,
		Approvals: f.approvals,
		Plan:      f.store.plan,
		Receipt:   receipt,
		Begin:     begin(f.store, f.store.register),
	}
}

// listArgs has no filters: a profile has some dozens of connections at most.
type listArgs struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// listTool lists in pages. A list that changed between two pages is told rather
// than shown with gaps.
func (f *feature) listTool(in *mcpkit.Installer) mcpkit.Tool[listArgs, result.Page[Connection]] {
	return mcpkit.Tool[listArgs, result.Page[Connection]]{
		Name:  "list_servers",
		Title: "List connections",
		Description: "List the registered MCP servers of the profile: what each runs or reaches, whether it is enabled, and how many tools it had when it was verified. " +
			"Add one with " + in.ToolName(registerTool) + ".",
		Effect: mcpkit.ReadOnly,
		Run: func(_ context.Context, args listArgs) (result.Page[Connection], error) {
			list, err := f.store.List()
			if err != nil {
				return result.Page[Connection]{}, err
			}
			return paging.Items(f.pager.Query("list_servers"), args.Cursor, paging.Digest(list), 0, list)
		},
	}
}

// nameArgs is what all tools about one connection take.
type nameArgs struct {
	Name string `json:"name" jsonschema:"name of the connection, as list_servers shows it" schema:"maxLength=200"`
}

// enableArgs says the state and not the change, so that a call can be repeated.
type enableArgs struct {
	nameArgs
	Enabled bool `json:"enabled" jsonschema:"true switches it on, false off"`
}

// enableTool asks nobody: what can be switched on was approved when it was
// registered.
func (f *feature) enableTool() mcpkit.Tool[enableArgs, Connection] {
	return mcpkit.Tool[enableArgs, Connection]{
		Name:        "set_enabled",
		Title:       "Switch a connection",
		Description: "Switch a registered connection on or off for this profile. Nothing else about it changes.",
		Effect:      mcpkit.Destructive,
		Idempotent:  true,
		Run: func(ctx context.Context, in enableArgs) (Connection, error) {
			return f.store.SetEnabled(ctx, in.Name, in.Enabled)
		},
	}
}

// probeTool is no reading tool: the server that it starts may do anything when it
// is started, and the time is noted.
func (f *feature) probeTool() mcpkit.Tool[nameArgs, probedReply] {
	return mcpkit.Tool[nameArgs, probedReply]{
		Name:  "probe_server",
		Title: "Probe a connection",
		Description: "Run a registered server once and list its tools: who it says it is, and whether its catalog is still the one that was approved. " +
			"Calls none of its tools.",
		Effect:     mcpkit.Additive,
		Idempotent: true,
		OpenWorld:  true,
		Run: func(ctx context.Context, in nameArgs) (probedReply, error) {
			found, err := f.store.Probe(ctx, in.Name)
			return probedReply{reportOf(found.Report), found.CatalogChanged}, err
		},
	}
}

// probedReply is a report of the size of a reply.
type probedReply struct {
	report
	CatalogChanged bool `json:"catalogChanged" jsonschema:"whether the tools differ from those at the registration"`
}

// exportArgs takes names, and not a filter: who exports knows what for.
type exportArgs struct {
	Dialect string   `json:"dialect" jsonschema:"the client to write for, such as claude-desktop, vscode or codex"`
	Names   []string `json:"names,omitempty" jsonschema:"names of connections; all if absent" schema:"maxItems=1000 maxLength=200"`
}

// exported carries the text as a text: it is a file's content, in a form of its own.
type exported struct {
	Text  string   `json:"text" jsonschema:"the configuration, in the client's own format"`
	Notes []string `json:"notes" jsonschema:"what the client's format cannot express"`
}

// exportTool reads records only, which have no values to give away.
func (f *feature) exportTool() mcpkit.Tool[exportArgs, exported] {
	return mcpkit.Tool[exportArgs, exported]{
		Name:  "export_config",
		Title: "Export connections",
		Description: "Write registered connections as the configuration of any MCP client. " +
			"Secrets appear as references to variables, never as values.",
		Effect: mcpkit.ReadOnly,
		Run: func(_ context.Context, in exportArgs) (exported, error) {
			text, notes, err := f.store.Export(normalize.Dialect(in.Dialect), in.Names)
			return exported{string(text), noteTexts(notes)}, err
		},
	}
}
