//go:build !race

// Under the race detector regular expressions lose what they keep for the next
// call at random.

package secrets_test

import (
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

// TestAllocations has what is asked of each value of a pasted text, and then what
// is asked of those of a registration.
func TestAllocations(t *testing.T) {
	noted := testing.AllocsPerRun(100, func() {
		secrets.Noted("GITHUB_PERSONAL_ACCESS_TOKEN")
		secrets.NotedParameter("page")
	})
	if noted > 0 {
		t.Errorf("%v allocations for notes", noted)
	}
	got := testing.AllocsPerRun(100, func() {
		secrets.Is("GITHUB_PERSONAL_ACCESS_TOKEN", "plum-jam-7")
		secrets.Is("NOTES_MODE", "read-only and quick")
		secrets.May("NOTES_MODE", "read-only and quick")
	})
	if got > 12 {
		t.Errorf("%v allocations", got)
	}
}
