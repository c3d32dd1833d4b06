package stage_test

import (
	"fmt"
	"testing"
)

// Inspect may allocate so much for each file, and for the candidate as a whole.
const (
	allocsPerFile  = 13
	allocsPerStage = 150
)

func TestInspectAllocs(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	const count = 400
	files := make(map[string]string, count)
	for i := range count {
		files[fmt.Sprintf("docs/%d/f%03d.md", i%4, i)] = "some text"
	}
	p.prepare(t, "many", files)
	got := testing.AllocsPerRun(20, func() {
		if _, err := p.area.Inspect(t.Context(), "many"); err != nil {
			t.Fatal(err)
		}
	})
	if limit := float64(count*allocsPerFile + allocsPerStage); got > limit {
		t.Errorf("%d files take %.0f allocations, the budget is %.0f", count, got, limit)
	}
}
