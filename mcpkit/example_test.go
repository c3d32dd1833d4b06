package mcpkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/token"
)

// call connects a client to the server, calls one tool and prints the text of the result.
func call(server *mcp.Server, tool string, args any) {
	fmt.Println(callText(server, tool, args))
}

// callText is call for an example that needs the text.
func callText(server *mcp.Server, tool string, args any) string {
	ctx := context.Background()
	clientSide, serverSide := mcp.NewInMemoryTransports()
	session, err := server.Connect(ctx, serverSide, nil)
	if err != nil {
		return err.Error()
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, clientSide, nil)
	if err != nil {
		return err.Error()
	}
	res, err := client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error()
	}
	client.Close()
	session.Wait()
	return res.Content[0].(*mcp.TextContent).Text
}

type greetArgs struct {
	Name string `json:"name" jsonschema:"who to greet" schema:"minLength=1 maxLength=20"`
	Mood string `json:"mood,omitempty" jsonschema:"how, friendly if absent" schema:"enum=friendly|formal"`
}

type greeting struct {
	Text string `json:"text"`
}

func greet(_ context.Context, in greetArgs) (greeting, error) {
	if in.Mood == "formal" {
		return greeting{"Good day, " + in.Name + "."}, nil
	}
	return greeting{"Hello " + in.Name + "!"}, nil
}

func Example() {
	tool := mcpkit.Tool[greetArgs, greeting]{
		Name:        "greet",
		Description: "Greet somebody.",
		Effect:      mcpkit.ReadOnly,
		Run:         greet,
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil, tool.Install)
	if err != nil {
		fmt.Println(err)
		return
	}
	call(server, "greet", greetArgs{Name: "Ada"})
	call(server, "greet", map[string]any{"name": "", "mood": "angry"})
	// Output:
	// {"text":"Hello Ada!"}
	// {"error":{"code":"invalid_arguments","message":"invalid arguments: \"mood\": want one of friendly, formal; \"name\": want at least 1 characters, got 0"}}
}

// Install adds tools to a server that exists, and shapes the results of all of its tools.
func ExampleInstall() {
	server := mcp.NewServer(&mcp.Implementation{Name: "mine", Version: "1.0.0"}, nil)
	tool := mcpkit.Tool[greetArgs, greeting]{
		Name:        "greet",
		Description: "Greet somebody.",
		Effect:      mcpkit.ReadOnly,
		Run:         greet,
	}
	if err := mcpkit.Install(server, &mcpkit.Options{ToolPrefix: "kit_"}, tool.Install); err != nil {
		fmt.Println(err)
		return
	}
	call(server, "kit_greet", greetArgs{Name: "Ada", Mood: "formal"})
	// Output:
	// {"text":"Good day, Ada."}
}

// A feature may add several things. It reads its configuration once, and says what is wrong with it.
func ExampleFeature() {
	greetings := func(names ...string) mcpkit.Feature {
		return func(in *mcpkit.Installer) error {
			for _, name := range names {
				tool := mcpkit.Tool[struct{}, greeting]{
					Name:        "greet_" + strings.ToLower(name),
					Description: "Greet " + name + ".",
					Effect:      mcpkit.ReadOnly,
					Run: func(ctx context.Context, _ struct{}) (greeting, error) {
						return greet(ctx, greetArgs{Name: name})
					},
				}
				if err := tool.Install(in); err != nil {
					return err
				}
			}
			return nil
		}
	}
	_, err := mcpkit.NewServer(&mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil, greetings("Ada", "ada"))
	fmt.Println(err)
	// Output:
	// install: tool "greet_ada": the server already has a tool of this name
}

// The values of a template are what stands in the URI, and nothing else.
func ExampleResourceTemplate() {
	readme := mcpkit.ResourceTemplate{
		URI:  "repo://{repo}/readme",
		Name: "readme",
		Read: func(_ context.Context, repo string) ([]*mcp.ResourceContents, error) {
			return []*mcp.ResourceContents{{Text: "# " + repo}}, nil
		},
		Complete: func(_ context.Context, typed string) ([]string, error) {
			return []string{typed + "-api", typed + "-web"}, nil
		},
	}
	_, err := mcpkit.NewServer(&mcp.Implementation{Name: "repos", Version: "1.0.0"}, nil, readme.Install)
	fmt.Println(err)
	// Output:
	// <nil>
}

// A handler serves on any listener until its context ends.
func ExampleHTTPHandler_Serve() {
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := mcpkit.NewHTTPHandler(server, &mcpkit.HTTPOptions{Hosts: []string{"tools.example.com"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Millisecond) // a program waits for a signal
	defer stop()
	fmt.Println(h.Serve(ctx, l))
	// Output:
	// <nil>
}

type renameArgs struct {
	From string `json:"from" jsonschema:"the old name" schema:"kind=id"`
	To   string `json:"to" jsonschema:"the new name" schema:"kind=id"`
}

type renaming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func ExampleCommand() {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := token.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	approvals := &mcpkit.Approvals{Store: store, Project: "zoo"}

	cages := map[string]string{"lions": "cage-1"} // a real command locks it
	rename := mcpkit.Command[renameArgs, renaming, renaming]{
		Name:        "rename",
		Description: "Give a cage another name.",
		Effect:      mcpkit.Destructive,
		Approvals:   approvals,
		Plan: func(_ context.Context, in renameArgs) (mcpkit.Proposal[renaming], error) {
			return mcpkit.Proposal[renaming]{
				Plan:    renaming(in),
				Base:    map[string]string{"cages/" + in.From: cages[in.From], "cages/" + in.To: cages[in.To]},
				Summary: []string{in.From + " is to be called " + in.To},
			}, nil
		},
		Receipt: func(plan renaming) renaming { return plan },
		Apply: func(_ context.Context, plan renaming) (renaming, error) {
			cages[plan.To] = cages[plan.From]
			delete(cages, plan.From)
			return plan, nil
		},
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "zoo", Version: "1"}, nil, rename.Install)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := func(fields map[string]string) string {
		return callText(server, "rename", map[string]any{"request": fields})
	}

	var proposed struct{ CommandStatus, ProposalToken string }
	reply := request(map[string]string{"op": "prepare", "from": "lions", "to": "cats"})
	if err := json.Unmarshal([]byte(reply), &proposed); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(proposed.CommandStatus)
	// The host asks its user before it calls again.
	fmt.Println(request(map[string]string{"op": "apply", "proposalToken": proposed.ProposalToken}))
	fmt.Println(request(map[string]string{"op": "apply", "proposalToken": "made up"}))
	// Output:
	// approval_required
	// {"commandStatus":"applied","receipt":{"from":"lions","to":"cats"}}
	// {"error":{"code":"approval_invalid","message":"the approval token is not valid for this call; prepare again and use the new one"}}
}

// What "zoo approve" does, with the arguments after it.
func ExampleApprovals_Decide() {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC) // so that the output below stays the same
	store, err := token.Open(dir, &token.Options{Now: func() time.Time { return noon }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	// A Command of the server has issued this, in another process.
	ctx := context.Background()
	claim := token.Claim{
		Project: "zoo", Kind: mcpkit.OutOfBand.String(), Subject: "anyone", Tool: "rename",
		Manifest: "sha256:5a1f",
		Base:     map[string]string{"cages/lions": "sha256:77c0", "cages/cats": ""},
	}
	tok, err := store.Issue(ctx, claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	id := tok.Hash()[:12] // as the list shows it; each proposal has another

	approvals := &mcpkit.Approvals{Store: store, Project: "zoo"}
	decide := func(args ...string) {
		var out strings.Builder
		if err := approvals.Decide(ctx, &out, args); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(strings.ReplaceAll(strings.TrimSpace(out.String()), id, "<id>"))
	}
	decide()
	decide(id)
	decide()

	// What the server does when the token comes.
	lease, err := store.Begin(ctx, tok.Reveal(), claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Release()
	fmt.Println("the approved proposal can be carried out")
	// Output:
	// <id>  until 2026-08-01T12:30:00Z
	//   project: zoo
	//   tool:    rename
	//   asked by anyone
	//   paths:   2
	//     cages/cats (new)
	//     cages/lions
	//   binds:   sha256:5a1f
	// approved <id>
	//   project: zoo
	//   tool:    rename
	//   asked by anyone
	//   paths:   2
	//     cages/cats (new)
	//     cages/lions
	//   binds:   sha256:5a1f
	// nothing waits for approval
	// the approved proposal can be carried out
}
