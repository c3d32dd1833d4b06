package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProgram keeps the program in README.md the one that is compiled here.
func TestProgram(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "```go\n")
	if !ok {
		t.Fatal("README.md has no Go program")
	}
	got, _, _ := strings.Cut(rest, "```")
	_, want, _ := strings.Cut(string(source), "shows.\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the program in README.md is not examples/internal/readme/main.go (-want +got):\n%s", diff)
	}
}
