//go:build race

package token_test

// Tests that have no concurrency within a process do every thin-th of their
// cases: the race detector sees nothing of them and makes them slow.
const (
	thin       = 12
	killPoints = 20
	perProcess = 30
)
