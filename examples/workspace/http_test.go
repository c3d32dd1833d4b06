package main

import (
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// TestServeHTTP makes the calls of TestServe over HTTP: all clients use one process,
// and SIGTERM ends it in good order while their sessions are open.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	dir := sampleWorkspace(t)
	child, url := clitest.Listen(t, "-root", dir)
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		s := &server{child.Dial(t, url, id)}
		s.checkIdentity(t)
		s.checkToolList(t)
		s.checkTools(t, id)
		s.checkStale(t, dir)
	})
	child.Stop(t)
}
