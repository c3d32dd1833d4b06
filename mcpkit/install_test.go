package mcpkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

// plainServer is a server as others write it: a tool, an instruction, middleware, completion of its own.
func plainServer(name string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "plain", Version: "1"}, &mcp.ServerOptions{
		Instructions: "Mine.",
		CompletionHandler: func(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{req.Params.Ref.Name}}}, nil
		},
	})
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Plain."}, func(context.Context, *mcp.CallToolRequest, Base) (*mcp.CallToolResult, Base, error) {
		return nil, Base{ID: "plain"}, nil
	})
	return s
}

func TestInstall(t *testing.T) {
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			s := plainServer("mine")
			opts := &mcpkit.Options{ToolPrefix: "kit_", Instructions: "not used"}
			if err := mcpkit.Install(s, opts, features()...); err != nil {
				t.Fatal(err)
			}
			p := dial(t, s, e)
			var list struct{ Tools []publishedTool }
			if err := json.Unmarshal(p.send(t, "tools/list", `{}`).Result, &list); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if diff := cmp.Diff([]string{"kit_diagnostic_read", "kit_fail", "kit_search", "kit_whoami", "mine"}, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if got := p.callTool(t, "mine", `{"id":"x"}`); got != `{"id":"plain"}` {
				t.Errorf("the server's own tool answered %s", got)
			}
			if code, _ := p.callError(t, "kit_fail", `{"how":"panic"}`); code != "internal" {
				t.Errorf("panic: got code %q", code)
			}
			const prompt = `{"ref":{"type":"ref/prompt","name":"ask"},"argument":{"name":"a","value":"b"}}`
			if got := string(p.send(t, "completion/complete", prompt).Result); !strings.Contains(got, `"values":["ask"]`) {
				t.Errorf("the server's own completion answered %s", got)
			}
		})
	}
}

func TestInstallErrors(t *testing.T) {
	valid := tool[nothing, nothing]()
	broken := func(change func(*mcpkit.Tool[nothing, nothing])) []mcpkit.Feature {
		probe := valid
		change(&probe)
		return []mcpkit.Feature{valid2().Install, probe.Install}
	}
	template := func(change func(*mcpkit.ResourceTemplate)) []mcpkit.Feature {
		tmpl := mcpkit.ResourceTemplate{URI: "x://{a}", Name: "x", Read: readManifest, Complete: completeRepo}
		change(&tmpl)
		return []mcpkit.Feature{valid2().Install, tmpl.Install}
	}
	tests := []struct {
		name     string
		opts     *mcpkit.Options
		features []mcpkit.Feature
		want     string
	}{
		{"no name", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Name = "" }), `tool "": the full name "" has to be 1 to 64 letters`},
		{"bad name", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Name = "a.b" }), `tool "a.b": the full name "a.b" has to be`},
		{"long name", &mcpkit.Options{ToolPrefix: "p_"}, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Name = strings.Repeat("x", 63) }), "has to be 1 to 64 letters"},
		{"no description", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Description = " " }), "Description is not set"},
		{"no effect", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Effect = 0 }), "Effect is not set"},
		{"bad effect", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Effect = 9 }), "Effect is not set"},
		{"no run", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Run = nil }), "Run is not set"},
		{"duplicate", nil, []mcpkit.Feature{valid.Install, valid.Install}, `tool "probe": the server already has a tool of this name`},
		{"name of the server's own tool", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Name = "mine" }), `tool "mine": the server already has a tool of this name`},
		{"name of the diagnostic tool", nil, broken(func(p *mcpkit.Tool[nothing, nothing]) { p.Name = "diagnostic_read" }), "already has a tool of this name"},
		{"bad prefix", &mcpkit.Options{ToolPrefix: "a b"}, nil, `ToolPrefix "a b" has to be`},
		{"long prefix", &mcpkit.Options{ToolPrefix: strings.Repeat("x", 33)}, nil, "has to be at most 32 letters"},
		{"nil feature", nil, []mcpkit.Feature{valid2().Install, nil}, "feature 1 is nil"},
		{"failing feature", nil, []mcpkit.Feature{valid2().Install, func(*mcpkit.Installer) error { return errFeature }}, "install: no store"},
		{"template without name", nil, template(func(r *mcpkit.ResourceTemplate) { r.Name = "" }), `resource template "x://{a}": the field Name is not set`},
		{"template without read", nil, template(func(r *mcpkit.ResourceTemplate) { r.Read = nil }), "Read is not set"},
		{"template without variable", nil, template(func(r *mcpkit.ResourceTemplate) { r.URI = "x://a" }), "exactly one {variable}"},
		{"template with two", nil, template(func(r *mcpkit.ResourceTemplate) { r.URI = "x://{a}/{b}" }), "exactly one {variable}"},
		{"template with an operator", nil, template(func(r *mcpkit.ResourceTemplate) { r.URI = "x://{+a}" }), "exactly one {variable}"},
		{"relative template", nil, template(func(r *mcpkit.ResourceTemplate) { r.URI = "{a}" }), "want an absolute URI"},
		{"template with a bad pattern", nil, template(func(r *mcpkit.ResourceTemplate) { r.Pattern = "(" }), "pattern: error parsing regexp"},
		{"template twice", nil, append(template(func(*mcpkit.ResourceTemplate) {}), template(func(*mcpkit.ResourceTemplate) {})[1]), "installed already"},
		{"completion twice", nil, []mcpkit.Feature{completing("a"), completing("a")}, `argument "a" of "x://{a}" has a completion already`},
		{"completion of nothing", nil, []mcpkit.Feature{completing("")}, "are required"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := plainServer("mine")
			err := mcpkit.Install(s, test.opts, test.features...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want %q", err, test.want)
			}
			tools := slices.Collect(maps.Keys(listTools(t, s)))
			if diff := cmp.Diff([]string{"mine"}, tools); diff != "" {
				t.Errorf("a failed install left tools (-want +got):\n%s", diff)
			}
		})
	}
}

func valid2() mcpkit.Tool[nothing, nothing] {
	probe := tool[nothing, nothing]()
	probe.Name = "other"
	return probe
}

func completing(argument string) mcpkit.Feature {
	return func(in *mcpkit.Installer) error { return in.Complete("x://{a}", argument, completeRepo) }
}

var errFeature = errors.New("no store")

func TestInstallWrapsFeatureErrors(t *testing.T) {
	_, err := mcpkit.NewServer(&mcp.Implementation{Name: "t"}, nil, func(*mcpkit.Installer) error { return errFeature })
	if !errors.Is(err, errFeature) {
		t.Errorf("got %v, want an error that wraps %v", err, errFeature)
	}
}

func TestInstallTwice(t *testing.T) {
	s := plainServer("mine")
	if err := mcpkit.Install(s, nil); err != nil {
		t.Fatal(err)
	}
	if err := mcpkit.Install(s, nil); err == nil || !strings.Contains(err.Error(), "call Install once") {
		t.Errorf("second Install: got %v", err)
	}
	s = plainServer("mine")
	result.Install(s, nil)
	if err := mcpkit.Install(s, nil); err == nil || !strings.Contains(err.Error(), "leave result.Install to it") {
		t.Errorf("Install after result.Install: got %v", err)
	}
}

// A server that does not tell its tools cannot be guarded against duplicates.
func TestInstallUnlistable(t *testing.T) {
	s := plainServer("mine")
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				return nil, errFeature
			}
			return next(ctx, method, req)
		}
	})
	if err := mcpkit.Install(s, nil); err == nil || !strings.Contains(err.Error(), "listing the tools of the server") {
		t.Errorf("got %v", err)
	}
	if err := mcpkit.Install(mcp.NewServer(&mcp.Implementation{Name: "empty"}, nil), nil, valid2().Install); err != nil {
		t.Errorf("a server without tools: %v", err)
	}
}

func TestInstallNil(t *testing.T) {
	if err := mcpkit.Install(nil, nil); err == nil {
		t.Error("Install of a nil server: got no error")
	}
	if _, err := mcpkit.NewServer(nil, nil); err == nil {
		t.Error("NewServer without an implementation: got no error")
	}
}

// Feature code reaches what it needs through the Installer.
func TestInstaller(t *testing.T) {
	sealer := result.NewSealer(0)
	opts := &mcpkit.Options{ToolPrefix: "kit_", Sealer: sealer}
	var server *mcp.Server
	feature := func(in *mcpkit.Installer) error {
		server = in.Server()
		if in.Sealer() != sealer {
			t.Error("Sealer is not the one of the options")
		}
		if got := in.ToolName("x"); got != "kit_x" {
			t.Errorf("ToolName: got %q", got)
		}
		return nil
	}
	if got := newServer(t, opts, feature); got != server {
		t.Error("Server is not the server that NewServer returned")
	}
	newServer(t, nil, func(in *mcpkit.Installer) error {
		if in.Sealer() == nil {
			t.Error("there is no default Sealer")
		}
		return nil
	})
}

// A server without features answers, and announces nothing that it does not have.
func TestServerWithoutFeatures(t *testing.T) {
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			p := dial(t, newServer(t, nil), e)
			if e == stateless {
				got := string(p.send(t, "server/discover", `{}`).Result)
				if !strings.Contains(got, `"capabilities":{"tools":{"listChanged":true}}`) {
					t.Errorf("server/discover: %s", got)
				}
			}
			if r := p.send(t, "completion/complete", `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}}`); !strings.Contains(string(r.Error), "-32601") {
				t.Errorf("completion: %s %s", r.Result, r.Error)
			}
		})
	}
}

// Budgets are on unless switched off.
func TestBudgets(t *testing.T) {
	big := returns(struct{ Text string }{strings.Repeat("x", 30_000)})
	tests := []struct {
		name string
		opts *mcpkit.Options
		want string
	}{
		{"default", nil, `"code":"result_too_large"`},
		{"default beside other options", &mcpkit.Options{Result: &result.Options{NoTable: true}}, `"code":"result_too_large"`},
		{"off", &mcpkit.Options{Result: &result.Options{MaxResult: -1}}, `{"Text":"xxx`},
		{"higher", &mcpkit.Options{Result: &result.Options{MaxResult: 40_000}}, `{"Text":"xxx`},
	}
	for _, test := range tests {
		p := dial(t, newServer(t, test.opts, big), stateless)
		r := p.send(t, "tools/call", `{"name":"probe"}`)
		if got := strings.ReplaceAll(string(r.Result), `\`, ""); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %.200s, want %s", test.name, got, test.want)
		}
	}
}

// What a program does not install is not linked into it.
func TestDependencies(t *testing.T) {
	deps, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./testdata/minimal").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, deps)
	}
	const module = "github.com/mcpcontract/mcpcontract/"
	allowed := []string{
		module + "mcpkit", module + "result", module + "internal/wording", module + "mcpkit/testdata/minimal",
		// What Command keeps approvals with. The package is there, its code is not: see TestLinkedCode.
		module + "token", module + "internal/canon", module + "internal/rootfs",
	}
	if !strings.Contains(string(deps), module+"mcpkit\n") {
		t.Fatalf("the minimal program does not use mcpkit:\n%s", deps)
	}
	for dep := range strings.FieldsSeq(string(deps)) {
		for _, foreign := range []string{"yaml", "toml", "hujson", "invopop", "goldmark", "flock", "keyring", "ordered-map"} {
			if strings.Contains(dep, foreign) {
				t.Errorf("links %s", dep)
			}
		}
		if strings.HasPrefix(dep, module) && !slices.Contains(allowed, dep) {
			t.Errorf("links %s", dep)
		}
	}
}

// The code of commands and approvals is not in a program without a command.
func TestLinkedCode(t *testing.T) {
	program := filepath.Join(t.TempDir(), "minimal")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/minimal").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	code, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(code, []byte("mcpcontract/mcpkit.NewServer")) {
		t.Fatal("the program does not name its functions")
	}
	for _, function := range []string{"mcpcontract/token.Open", "mcpcontract/internal/rootfs.Open", "mcpcontract/mcpkit.(*Approvals).Decide"} {
		if bytes.Contains(code, []byte(function)) {
			t.Errorf("links %s", function)
		}
	}
}
