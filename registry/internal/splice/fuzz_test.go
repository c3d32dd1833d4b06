package splice_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
	"github.com/mcpcontract/mcpcontract/registry/internal/splice"
)

// FuzzSet sets a field again and again: no text panics, and one that can be read afterwards comes to rest.
func FuzzSet(f *testing.F) {
	for _, text := range []string{
		"l:\n- a: x # why\n  b: [y]\n", "l:\n- {a: x, b: 'y'}\n", "{\"l\": [{\"a\": \"x\"}]}", "l:\n  -\n    b: |\n      x\n",
	} {
		f.Add(text, "value")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if _, err := yamldoc.Parse([]byte(text), nil); err != nil {
			return
		}
		set := func(text string) (string, bool) {
			doc, err := splice.Open([]byte(text), "l", false)
			if err != nil || doc.Len() == 0 {
				return "", false
			}
			content, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := yamldoc.Parse(content, nil); err != nil {
				return "", false
			}
			if err := doc.Set(0, splice.Member{Name: "a", Value: content}); err != nil {
				return "", false
			}
			return string(doc.Bytes()), true
		}
		once, ok := set(text)
		if !ok {
			return
		}
		if _, err := yamldoc.Parse([]byte(once), nil); err != nil {
			return // refused by the caller, who reads the result
		}
		if twice, ok := set(once); ok && twice != once {
			if again, ok := set(twice); ok && again != twice {
				t.Errorf("setting the same value goes on changing the text:\n%q\n%q\n%q", once, twice, again)
			}
		}
	})
}
