package mcpkit_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// call connects a client to the server, calls one tool and prints the text of the result.
func call(server *mcp.Server, tool string, args any) {
	ctx := context.Background()
	clientSide, serverSide := mcp.NewInMemoryTransports()
	session, err := server.Connect(ctx, serverSide, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, clientSide, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	client.Close()
	session.Wait()
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
