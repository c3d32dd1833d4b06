package registry_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry"
)

// TestParseManifestGolden reads manifests and compares what is kept and what is said.
func TestParseManifestGolden(t *testing.T) {
	golden(t, "testdata/manifest/*.txtar", func(t *testing.T, name string, data []byte) string {
		t.Helper()
		m, found, err := registry.ParseManifest(data, &registry.ParseOptions{File: name})
		if err != nil {
			if m != nil || found != nil {
				t.Errorf("results beside an error: %v, %v", m, found)
			}
			return report(problems(t, err))
		}
		var kept bytes.Buffer
		enc := json.NewEncoder(&kept)
		enc.SetIndent("", "  ")
		if err := enc.Encode(withoutNulls(t, m)); err != nil {
			t.Fatal(err)
		}
		return report(found) + kept.String()
	})
}

// withoutNulls gives the fields of a manifest that hold something.
func withoutNulls(t *testing.T, m *registry.Manifest) map[string]any {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	for k, v := range out {
		if v == nil || v == "" {
			delete(out, k)
		}
	}
	return out
}

func TestManifestLimits(t *testing.T) {
	big := "# " + strings.Repeat("x", 1<<20) + "\nrepo_id: a\n"
	if _, _, err := registry.ParseManifest([]byte(big), nil); problems(t, err)[0].Code != registry.TooLarge {
		t.Errorf("got %v, want too_large", err)
	}
	m, _, err := registry.ParseManifest([]byte(big), &registry.ParseOptions{MaxBytes: 2 << 20})
	if err != nil || m.ID != "a" {
		t.Errorf("with a higher limit: %v, %v", m, err)
	}
}

func TestManifestClasses(t *testing.T) {
	m, found, err := registry.ParseManifest([]byte("repo_id: a\nrepo_class: legacy\n"), &registry.ParseOptions{Classes: []string{"library"}})
	if err != nil {
		t.Fatal(err)
	}
	if m.Class != "" || len(found) != 1 || found[0].Code != registry.ClassUnknown {
		t.Errorf("class %q, problems %v", m.Class, found)
	}
	if diff := cmp.Diff("repo_class", found[0].Field); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
