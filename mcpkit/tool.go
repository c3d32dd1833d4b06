package mcpkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/result"
)

// Effect says what a call of a tool may do to what the server looks after. It becomes the tool's annotations, from which
// hosts decide whether to ask their user before a call, so it has to be true. There is no default.
type Effect int

const (
	// ReadOnly tools change nothing. On the wire: readOnlyHint and idempotentHint true, destructiveHint false.
	ReadOnly Effect = iota + 1
	// Additive tools may add something, and leave what is there as it is. On the wire: readOnlyHint and destructiveHint
	// false.
	Additive
	// Destructive tools may change or remove what is there. On the wire: readOnlyHint false, destructiveHint true.
	Destructive
)

// Tool is one typed tool: In holds the arguments of a call, Out the result. Both are structs, and both schemas are made
// from them; the package documentation has the rules.
//
//	list := mcpkit.Tool[ListArgs, List]{
//		Name:        "list_repos",
//		Description: "List the repositories of the workspace.",
//		Effect:      mcpkit.ReadOnly,
//		Run:         listRepos,
//	}
//	server, err := mcpkit.NewServer(impl, nil, list.Install)
//
// A Tool is a plain value: copy it freely, and change nothing after Install.
type Tool[In, Out any] struct {
	// Name is what clients call, without [Options.ToolPrefix]. With the prefix it has 1 to 64 letters, digits, _ or -.
	// Required.
	Name string

	// Title is the name that a client may show to people. Empty means none.
	Title string

	// Description tells a model what the tool does and when to use it. Required.
	Description string

	// Effect says what a call may change. Required.
	Effect Effect

	// Idempotent says that repeating a call with the same arguments changes nothing more. It is implied by [ReadOnly].
	Idempotent bool

	// OpenWorld says that a call reaches beyond what the server looks after, for example to the network.
	OpenWorld bool

	// Schema, if not nil, is called once by Install with the two inferred schemas. It may change them in place, to say
	// what field tags cannot. What it leaves has to keep the rules of the package documentation.
	Schema func(input, output *jsonschema.Schema)

	// Run does the work. It is called concurrently, with arguments that match the input schema. Required.
	//
	// Return an error with a code, such as a [*result.Error], for what a client should read: its code, message and details
	// are sent, and what wraps it or is its cause is not. An error without a code is sent with the code internal and its
	// whole text, as of errors.New("b must not be zero"); so no text may hold a secret. If such an error is or wraps one of
	// the operating system (fs.PathError, os.LinkError, os.SyscallError, exec.Error, url.Error, net's of connections, names
	// and addresses, crypto's of certificates), which would name paths and hosts of the machine, the client gets a fixed
	// sentence and [Options.Logger] the text. One that was put into a text with %v counts as that text.
	//
	// [Request] and [Principal] say more about the call.
	Run func(ctx context.Context, in In) (Out, error)

	// Blocks, if not nil, is called with what Run returned, for clients that read text. It returns what goes into content
	// blocks of its own before the result, such as a whole document, and the result without that, so that nothing is sent
	// twice and no text is escaped as JSON. Clients that read structured content get what Run returned.
	Blocks func(ctx context.Context, in In, out Out) ([]mcp.Content, Out)
}

// Install adds the tool to a server. The method value t.Install is a [Feature].
//
// Its error says what is wrong with the declaration: a missing field, a bad or duplicate name, or a type that has no
// acceptable schema.
func (t Tool[In, Out]) Install(in *Installer) error {
	if t.Run == nil {
		return fmt.Errorf("tool %q: the field Run is not set", t.Name)
	}
	shaping := in.opts.resultOptions()
	spec := toolSpec{
		Tool:       mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description},
		effect:     t.Effect,
		idempotent: t.Idempotent,
		openWorld:  t.OpenWorld,
		schema:     t.Schema,
		run: func(ctx context.Context, input *contract, raw json.RawMessage) (any, []mcp.Content, error) {
			var args In
			if err := input.decodeArguments(raw, &args); err != nil {
				return nil, nil, err
			}
			out, err := t.Run(ctx, args)
			if err != nil || t.Blocks == nil || shaping.ShapeFor(result.ClientOf(Request(ctx))) != result.Text {
				return out, nil, err
			}
			blocks, out := t.Blocks(ctx, args, out)
			return out, blocks, nil
		},
	}
	return in.addTool(spec, reflect.TypeFor[In](), reflect.TypeFor[Out]())
}

// toolSpec is a tool declaration without its types, so that everything but the call of Run is compiled once.
type toolSpec struct {
	mcp.Tool
	effect     Effect
	idempotent bool
	openWorld  bool
	schema     func(input, output *jsonschema.Schema)
	run        func(ctx context.Context, input *contract, raw json.RawMessage) (any, []mcp.Content, error)
}

// addTool checks spec and plans its registration.
func (in *Installer) addTool(spec toolSpec, inType, outType reflect.Type) error {
	name := spec.Name
	if err := in.checkTool(&spec, in.ToolName(name)); err != nil {
		return fmt.Errorf("tool %q: %w", name, err)
	}
	input, output, err := contracts(inType, outType, spec.schema)
	if err != nil {
		return fmt.Errorf("tool %q: %w", name, err)
	}
	in.register(&spec, input.wire, output.wire, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		out, blocks, err := spec.call(ctx, req, input, output)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{StructuredContent: out, Content: blocks}, nil
	})
	return nil
}

// register plans the registration of a tool that checkTool accepted. An error of its handler is one of the call, never of
// the protocol.
func (in *Installer) register(spec *toolSpec, input, output json.RawMessage, handler mcp.ToolHandler) {
	readOnly := spec.effect == ReadOnly
	destructive := spec.effect == Destructive
	tool := spec.Tool
	tool.Name = in.ToolName(tool.Name)
	tool.Annotations = &mcp.ToolAnnotations{
		ReadOnlyHint:    readOnly,
		DestructiveHint: &destructive,
		IdempotentHint:  readOnly || spec.idempotent,
		OpenWorldHint:   &spec.openWorld,
	}
	tool.InputSchema, tool.OutputSchema = input, output
	in.tools[tool.Name] = true
	in.plan(func(s *mcp.Server) {
		s.AddTool(&tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := handler(ctx, req)
			if err != nil {
				res = new(mcp.CallToolResult)
				res.SetError(in.withhold(ctx, tool.Name, err))
			}
			return res, nil
		})
	})
}

// call runs one call from its raw arguments to its raw result and the blocks before it.
func (t *toolSpec) call(ctx context.Context, req *mcp.CallToolRequest, input, output *contract) (json.RawMessage, []mcp.Content, error) {
	out, blocks, err := t.run(context.WithValue(ctx, requestKey{}, req), input, req.Params.Arguments)
	if err != nil {
		return nil, nil, err
	}
	raw, err := output.encodeResult(out)
	return raw, blocks, err
}

// checkTool refuses a declaration that a client could not use.
func (in *Installer) checkTool(spec *toolSpec, fullName string) error {
	switch {
	case !validName(fullName, maxToolName):
		return fmt.Errorf("the full name %q has to be 1 to %d letters, digits, _ or -", clip(fullName), maxToolName)
	case in.tools[fullName]:
		return errors.New("the server already has a tool of this name")
	case strings.TrimSpace(spec.Description) == "":
		return errors.New("the field Description is not set")
	case spec.effect < ReadOnly || spec.effect > Destructive:
		return errors.New("the field Effect is not set: say whether the tool is ReadOnly, Additive or Destructive")
	}
	return nil
}

// contracts makes both schemas of a tool.
func contracts(inType, outType reflect.Type, hook func(input, output *jsonschema.Schema)) (input, output *contract, err error) {
	inSchema, err := infer(inType, arguments)
	if err != nil {
		return nil, nil, fmt.Errorf("arguments: %w", err)
	}
	outSchema, err := infer(outType, results)
	if err != nil {
		return nil, nil, fmt.Errorf("result: %w", err)
	}
	if hook != nil {
		hook(inSchema, outSchema)
	}
	if input, err = seal(inSchema); err != nil {
		return nil, nil, fmt.Errorf("arguments: %w", err)
	}
	if output, err = seal(outSchema); err != nil {
		return nil, nil, fmt.Errorf("result: %w", err)
	}
	return input, output, nil
}

// validName reports whether name is 1 to limit letters, digits, _ or -. The protocol allows dots and 128 characters too,
// but several model APIs refuse a call with such a tool in its list.
func validName(name string, limit int) bool {
	if name == "" || len(name) > limit {
		return false
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return false
		}
	}
	return true
}
