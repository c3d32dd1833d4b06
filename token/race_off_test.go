//go:build !race

package token_test

// nestEvery thins out the slowest part of a test.
const nestEvery = 6
