package registry_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry"
)

// formatExamples gives the examples of FORMAT.md by their kind.
func formatExamples(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := make(map[string]string)
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		kind := regexp.MustCompile(`(?m)^kind: (\w+)$`).FindStringSubmatch(m[1])
		if kind == nil {
			t.Fatalf("an example without a kind:\n%s", m[1])
		}
		examples[kind[1]] = m[1]
	}
	return examples
}

// The examples of the page are read without a problem, and an editor has nothing to say about them.
func TestFormatPage(t *testing.T) {
	examples := formatExamples(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "overlays"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "workspace-registry.yaml")
	for name, text := range map[string]string{file: examples["workspace_registry"], dir + "/overlays/a.yaml": examples["workspace_overlay"]} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reg, err := registry.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for repo := range reg.Repos() {
		ids = append(ids, repo.ID+" of "+repo.Owner)
	}
	if diff := cmp.Diff([]string{"billing of payments", "sandbox of platform-team"}, ids); diff != "" || len(reg.Warnings()) > 0 {
		t.Errorf("repos (-want +got):\n%s\nwarnings: %v", diff, reg.Warnings())
	}

	m, found, err := registry.ParseManifest([]byte(examples["repo_manifest"]), nil)
	if err != nil || len(found) > 0 || m.ID != "billing" || len(m.Components) != 1 {
		t.Errorf("got the manifest %+v, the problems %v, the error %v", m, found, err)
	}

	_, resolved := schema(t)
	for kind, text := range examples {
		if err := resolved.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: the schema refuses the example: %v", kind, err)
		}
	}
}

// asJSON gives what a YAML text holds: as a field of one's own, any text is kept.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	reg, err := registry.Parse([]byte(yamlHead+"repos: []\nx-text:\n  "+strings.ReplaceAll(text, "\n", "\n  ")), nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(reg.Extensions()["x-text"], &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The page has a row for each field of a manifest.
func TestFormatPageIsWhole(t *testing.T) {
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Manifest")
	example := formatExamples(t)["repo_manifest"]
	for _, field := range registry.ManifestFields() {
		if !strings.Contains(table, "`"+field+"`") {
			t.Errorf("the table has no row for %s", field)
		}
		if !strings.Contains(example, "\n"+field+":") && !strings.HasPrefix(example, field+":") {
			t.Errorf("the example does not show %s", field)
		}
	}
}
