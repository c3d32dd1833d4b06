//go:build race

package candidates_test

// fullEvery is how many pages lie between two fill levels that are tried. The race detector sees nothing of a disk.
const fullEvery = 5
