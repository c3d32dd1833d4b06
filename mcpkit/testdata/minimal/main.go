// Command minimal is the smallest server: a test looks at what it links.
package main

import (
	"context"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

type addArgs struct {
	A int `json:"a" jsonschema:"first summand"`
	B int `json:"b" jsonschema:"second summand"`
}

type sum struct {
	Sum int `json:"sum"`
}

func main() {
	add := mcpkit.Tool[addArgs, sum]{
		Name:        "add",
		Description: "Add two numbers.",
		Effect:      mcpkit.ReadOnly,
		Run: func(_ context.Context, in addArgs) (sum, error) {
			return sum{in.A + in.B}, nil
		},
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "adder", Version: "1.0.0"}, nil, add.Install)
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Run(context.Background(), &mcpkit.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
