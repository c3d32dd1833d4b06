//go:build race

package token_test

// nestEvery thins out the slowest part of a test that has no concurrency.
const nestEvery = 60
