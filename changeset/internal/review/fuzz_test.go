package review_test

import (
	"testing"

	"github.com/mcpcontract/mcpcontract/changeset/internal/review"
)

// FuzzRender puts a text into every field and into both sides of a change: the
// pages stay inert, visible and within their bound.
func FuzzRender(f *testing.F) {
	for _, payload := range payloads() {
		f.Add(payload, "plain words")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		m := everywhere(text)
		m.Changes = append(m.Changes, review.Change{Op: "update", OldPath: "x", NewPath: "x", Old: []byte(text), New: []byte(other)})
		for _, renderer := range review.Renderers() {
			raw := render(t, renderer, m)
			checkInert(t, raw)
			checkVisible(t, raw)
			if len(raw) > review.MaxPage {
				t.Errorf("the page has %d bytes", len(raw))
			}
		}
	})
}
