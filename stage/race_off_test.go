//go:build !race

package stage_test

// How much is tried without the race detector.
const (
	minStates  = 20_000
	killPoints = 200
	powerCuts  = 120
	faultEvery = 1
	nestEvery  = 100 // recoveries of which one is let crash as well
)

// crashLimits are how many states of a crash are tried: of a promotion or
// abort, of the recovery from it, and of the recovery from that.
var crashLimits = []int{40, 6, 4}
