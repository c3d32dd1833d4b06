// Command peers probes the server that its arguments start, or reach:
//
//	peers COMMAND [ARG...]
//	peers http URL
//	peers sse URL
//
// It prints what the server reports, and exits 1 where the probe fails.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: peers COMMAND [ARG...] | peers http|sse URL")
	}
	launch := normalize.Launch{Name: args[0], Transport: normalize.Stdio, Command: args[0], Args: args[1:]}
	if kind := normalize.Transport(args[0]); len(args) == 2 && (kind == normalize.HTTP || kind == normalize.SSE) {
		launch = normalize.Launch{Name: args[1], Transport: kind, URL: args[1]}
	}
	begin := time.Now()
	report, err := probe.Check(context.Background(), launch, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%s %s, protocol %s, %d tools, %v\n", report.Name, report.Version, report.Protocol, len(report.Tools), time.Since(begin).Round(10*time.Millisecond))
	return json.NewEncoder(os.Stdout).Encode(report)
}
