package cycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset/internal/cycle"
)

func ExampleGroups() {
	fmt.Println(cycle.Groups([][]int{0: {1}, 1: {0, 2}, 2: {3}, 3: nil, 4: {4}}))
	// Output: [[1 0] [4]]
}

// TestRandom compares with what reaches what.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		deps := make([][]int, 1+r.IntN(9))
		reach := make([][]bool, len(deps))
		for n := range deps {
			reach[n] = make([]bool, len(deps))
			for range r.IntN(3) {
				d := r.IntN(len(deps))
				deps[n] = append(deps[n], d)
				reach[n][d] = true
			}
		}
		for via := range deps {
			for from := range deps {
				for to := range deps {
					reach[from][to] = reach[from][to] || reach[from][via] && reach[via][to]
				}
			}
		}
		var want [][]int
		for n := range deps {
			var group []int
			for m := range deps {
				if reach[n][m] && reach[m][n] {
					group = append(group, m)
				}
			}
			if len(group) > 0 && group[0] == n {
				want = append(want, group)
			}
		}
		got := cycle.Groups(deps)
		for _, group := range got {
			slices.Sort(group)
		}
		slices.SortFunc(got, slices.Compare)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", deps, diff)
		}
	}
}

// TestDeep has as many levels as a project may have documents.
func TestDeep(t *testing.T) {
	deps := make([][]int, 100_000)
	for n := range deps {
		deps[n] = []int{(n + 1) % len(deps)}
	}
	if got := cycle.Groups(deps); len(got) != 1 || len(got[0]) != len(deps) {
		t.Errorf("%d groups", len(got))
	}
}
