//go:build race

package token_test

// Tests that have no concurrency within a process, or so much of it between
// processes that the race detector sees nothing of, are cut short under it.
const (
	nestEvery  = 60
	faultEvery = 5
	killPoints = 20
	perProcess = 30
)
