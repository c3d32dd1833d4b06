//go:build !race

package candidates_test

// fullEvery is explained where there is a race detector.
const fullEvery = 1
