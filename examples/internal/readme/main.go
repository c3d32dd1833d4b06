// Command readme is the program that README.md shows.
package main

import (
	"context"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

func main() {
	reg, err := registry.Load("workspace-registry.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	repos := resolve.New(resolve.Static(reg), nil)
	me := &mcp.Implementation{Name: "acme-workspace", Version: "1.0.0"}
	server, err := mcpkit.NewServer(me, nil, discovery.Feature(repos, nil))
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Run(context.Background(), &mcpkit.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
