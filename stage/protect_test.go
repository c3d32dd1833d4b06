package stage_test

import (
	"testing"

	"github.com/mcpcontract/mcpcontract/stage"
)

// Open refuses patterns that reach a protected path, so a promotion meets one
// only through a spelling that the pattern matches and the path folds to.
func TestProtect(t *testing.T) {
	area, err := stage.Open(t.TempDir(), &stage.Options{
		Allow:   []string{"plans/**", "site/*.txt"},
		Protect: []string{"docs", "site/outline.html", "mcpdocs.yaml"},
	})
	must(t, err)
	defer func() { must(t, area.Close()) }()
	for path, want := range map[string]stage.Code{
		"plans/docs/a.md":   "",
		"site/outline.txt":  "",
		"docs/a.md":         stage.CodeNotAllowed,
		"site/outline.html": stage.CodeNotAllowed,
		"mcpdocs.yaml":      stage.CodeNotAllowed,
	} {
		_, err := area.Prepare(t.Context(), "one", []string{path})
		wantCode(t, err, want)
	}
}
