package textdiff_test

import (
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

func Example() {
	old := []byte("# Plan\n\nShip on Monday.\n")
	after := []byte("# Plan\n\nShip on Tuesday.\n")
	patch := textdiff.Unified("a/plan.md", "b/plan.md", old, after, 0)
	fmt.Print(string(patch))
	back, err := textdiff.Apply(old, patch)
	fmt.Printf("%q %v\n", back, err)
	// Output:
	// --- a/plan.md
	// +++ b/plan.md
	// @@ -3 +3 @@
	// -Ship on Monday.
	// +Ship on Tuesday.
	// "# Plan\n\nShip on Tuesday.\n" <nil>
}

func ExampleWords() {
	old, after := "Ship on Monday.", "Ship on Tuesday."
	a, b := textdiff.Words(old, after)
	fmt.Println(old[a[0].Start:a[0].End], "became", after[b[0].Start:b[0].End])
	// Output: Monday became Tuesday
}
