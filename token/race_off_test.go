//go:build !race

package token_test

// How much the slowest tests do; less under the race detector.
const (
	thin       = 1
	killPoints = 200
	perProcess = 300
)
