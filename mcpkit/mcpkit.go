package mcpkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/result"
)

const (
	maxToolName = 64
	maxPrefix   = 32

	// From these sizes on, measured clients cut results short or put lists aside.
	maxResult  = 20_000
	maxCatalog = 80 << 10

	diagnosticTool = "diagnostic_read" // the name that package result uses by default

	// readHint ends the instructions of every server of [NewServer]: which of the two places holds the result depends on
	// who asks.
	readHint = "Read structuredContent when a result has it, otherwise parse the last text block as JSON."
)

// Options configure [Install] and [NewServer]. A nil *Options and the zero value are ready to use; nothing is changed in
// them.
type Options struct {
	// Result configures how results and errors are shaped. nil is the zero [result.Options]. Here the zero fields
	// MaxResult and MaxCatalog mean 20,000 bytes and 80 KiB, and a negative number means no limit; the Logger is the one
	// below unless it has one; and DiagnosticTool gets the ToolPrefix unless it is set.
	Result *result.Options

	// ToolPrefix goes before the name of every tool that a [Feature] adds: letters, digits, _ or -, at most 32 bytes.
	// Set it when a client may load two servers with the same features. The default is none.
	ToolPrefix string

	// Logger gets one record for each tool call: the tool, the code of the outcome, how long it took and which client
	// called. It never gets arguments or results. It also gets the text of what a client must not read, see [Tool].Run.
	// nil logs nothing.
	Logger *slog.Logger

	// Sealer seals the cursors of all features. nil means [result.NewSealer], whose cursors last 30 minutes and not longer
	// than the process. Share one between replicas.
	Sealer result.Sealer

	// Principal is the name that [Principal] returns where the transport authenticates nobody, as over stdio. The
	// default is the empty string.
	Principal string

	// Instructions tell a model how to use the server. [NewServer] adds a sentence about where to find results; [Install]
	// leaves the instructions of its server alone. The default is only that sentence.
	Instructions string

	// CacheTTL is how long a client may keep the lists, resources and description of a server of [NewServer], in whole
	// milliseconds; handshake clients ignore it. Zero, the default, lets nothing be kept. What is kept is always marked
	// as private to the client.
	CacheTTL time.Duration
}

func (o *Options) get() Options {
	if o == nil {
		return Options{}
	}
	return *o
}

// resultOptions returns the options for package result, with what mcpkit turns on.
func (o *Options) resultOptions() *result.Options {
	var r result.Options
	if o.Result != nil {
		r = *o.Result
	}
	r.MaxResult = cmp.Or(r.MaxResult, maxResult)
	r.MaxCatalog = cmp.Or(r.MaxCatalog, maxCatalog)
	r.DiagnosticTool = cmp.Or(r.DiagnosticTool, o.ToolPrefix+diagnosticTool)
	if r.Logger == nil {
		r.Logger = o.Logger
	}
	return &r
}

// Feature adds one thing to a server: tools, resources, completions. It is called once, by [Install] or [NewServer], and
// must not keep the Installer. The Install methods of [Tool] and [ResourceTemplate] are features.
type Feature func(*Installer) error

// Installer is what a [Feature] uses to add to a server. What it is given takes effect when every feature has
// succeeded. It is not safe for concurrent use.
type Installer struct {
	server      *mcp.Server
	opts        Options
	tools       map[string]bool
	templates   map[string]bool
	completions map[completionKey]completer
	updates     updates
	planned     []func(*mcp.Server)
}

// Server returns the server under construction, for what Installer has no method for. What is done to it directly
// stays done if a later feature fails.
func (in *Installer) Server() *mcp.Server { return in.server }

// Sealer returns what seals the cursors of this server, so that all features share one key.
func (in *Installer) Sealer() result.Sealer { return in.opts.Sealer }

// ToolName returns name as clients see it, with [Options.ToolPrefix]. Use it where a text names another tool.
func (in *Installer) ToolName(name string) string { return in.opts.ToolPrefix + name }

func (in *Installer) plan(step func(*mcp.Server)) { in.planned = append(in.planned, step) }

// Install adds features to a server that may have tools, resources and middleware of its own. It also installs package
// result, for all tools of the server, and the hook for [Options.Logger].
//
// Call it once for a server, before the server takes requests; it lists the tools of the server, as a client would, to
// find names that are taken. An error says which feature cannot be installed and why:
// a name that is taken, a type without an acceptable schema, a missing field. Then nothing has been added, except what
// features did to [Installer.Server] themselves.
func Install(s *mcp.Server, opts *Options, features ...Feature) error {
	if s == nil {
		return errors.New("install: the server is nil")
	}
	names, err := toolNames(s)
	if err != nil {
		return fmt.Errorf("install: listing the tools of the server: %w", err)
	}
	return install(s, opts.get(), names, make(updates), features)
}

// NewServer returns a server with the given features. impl names it to clients and must not be nil.
//
// The errors are those of [Install].
func NewServer(impl *mcp.Implementation, opts *Options, features ...Feature) (*mcp.Server, error) {
	if impl == nil {
		return nil, errors.New("new server: the implementation is nil")
	}
	o := opts.get()
	instructions := readHint
	if o.Instructions != "" {
		instructions = o.Instructions + "\n" + readHint
	}
	u := make(updates)
	s := mcp.NewServer(impl, &mcp.ServerOptions{
		Instructions:       instructions,
		SubscribeHandler:   u.subscribe,
		UnsubscribeHandler: u.unsubscribe,
		Capabilities:       &mcp.ServerCapabilities{}, // the default announces logging, which nothing here sends
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			if c.TTLMs == 0 { // package result sets the scope
				c.TTLMs = int(o.CacheTTL.Milliseconds())
			}
		},
	})
	if err := install(s, o, make(map[string]bool), u, features); err != nil {
		return nil, err
	}
	return s, nil
}

func install(s *mcp.Server, opts Options, taken map[string]bool, u updates, features []Feature) error {
	if opts.ToolPrefix != "" && !validName(opts.ToolPrefix, maxPrefix) {
		return fmt.Errorf("install: ToolPrefix %q has to be at most %d letters, digits, _ or -", clip(opts.ToolPrefix), maxPrefix)
	}
	shaping := opts.resultOptions()
	if taken[shaping.DiagnosticTool] {
		return fmt.Errorf("install: the server already has the tool %s: call Install once, and leave result.Install to it", shaping.DiagnosticTool)
	}
	taken[shaping.DiagnosticTool] = true
	if opts.Sealer == nil {
		opts.Sealer = result.NewSealer(0)
	}
	in := &Installer{
		server:      s,
		opts:        opts,
		tools:       taken,
		templates:   make(map[string]bool),
		completions: make(map[completionKey]completer),
		updates:     u,
	}
	for i, feature := range features {
		if feature == nil {
			return fmt.Errorf("install: feature %d is nil", i)
		}
		if err := feature(in); err != nil {
			return fmt.Errorf("install: %w", err)
		}
	}
	// Later middleware is outside: completions are below result, which recovers their panics, and the log is above it.
	if len(in.completions) > 0 {
		s.AddReceivingMiddleware(in.completionMiddleware)
	}
	result.Install(s, shaping)
	s.AddReceivingMiddleware(in.callMiddleware)
	for _, step := range in.planned {
		step(s)
	}
	return nil
}

// toolNames asks s for its tools, as a client would. There is no other way, and adding a tool silently replaces one of
// the same name.
func toolNames(s *mcp.Server) (map[string]bool, error) {
	ctx := context.Background() // nothing here waits for anything outside the process
	clientSide, serverSide := mcp.NewInMemoryTransports()
	session, err := s.Connect(ctx, serverSide, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }() // how this ends changes nothing
	client, err := mcp.NewClient(&mcp.Implementation{Name: "mcpkit"}, nil).Connect(ctx, clientSide, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	names := make(map[string]bool)
	if caps := client.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return names, nil
	}
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names[tool.Name] = true
	}
	return names, nil
}
