package review_test

import (
	"bytes"
	"fmt"

	"github.com/mcpcontract/mcpcontract/changeset/internal/review"
)

func Example() {
	page, err := review.Render("review", &review.Model{
		Project: "handbook", ChangesetID: "cs-1", Title: "Correct the setup",
		Changes: []review.Change{{
			Op: "update", ID: "setup", OldPath: "setup.md", NewPath: "setup.md",
			Old: []byte("Take the red cable.\n"), New: []byte("Take the blue cable.\n"),
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.Contains(page, []byte("<ins>Take the <mark>blue</mark> cable.</ins>")))
	// Output: true
}
