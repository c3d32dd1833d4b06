package probe_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

func ExampleCheck() {
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return newServer("orchard", "1.4.0", "graft", "prune") }, nil))
	defer server.Close()

	launch := normalize.Launch{Name: "orchard", Transport: normalize.HTTP, URL: server.URL}
	report, err := probe.Check(context.Background(), launch, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Name, report.Version, report.Protocol)
	fmt.Println(report.Tools)
	// Output:
	// orchard 1.4.0 2025-11-25
	// [graft prune]
}

func ExampleCheck_failure() {
	launch := normalize.Launch{Name: "orchard", Transport: normalize.Stdio, Command: "no-such-orchard"}
	_, err := probe.Check(context.Background(), launch, &probe.Options{Timeout: 10 * time.Second})
	fmt.Println(probe.CodeOf(err))
	// Output:
	// spawn_failed
}
