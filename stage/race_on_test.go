//go:build race

package stage_test

// How much is tried under the race detector, which sees nothing of what has no
// concurrency in one process and makes it ten times slower.
const (
	minStates  = 1_000
	killPoints = 10
	powerCuts  = 10
	faultEvery = 7
	nestEvery  = 20
)

// crashLimits is explained where there is no race detector.
var crashLimits = []int{8, 3}
