package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry"
)

func TestDiff(t *testing.T) {
	parse := func(text string) *registry.Registry {
		reg, err := registry.Parse([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return reg
	}
	const head = "schema_version: \"1.0\"\nkind: workspace_registry\ndefaults: {manifest_source: generated, owner: ops}\nrepos:\n"
	cases := []struct{ name, a, b, want string }{
		{"same in other words", "  - {repo_id: a, path: a, resource_roots: {adr: x}}\n  - repo_id: b", "  - repo_id: b # b\n  - {owner: ops, repo_id: a, resource_roots: {adr: [x/]}}", ``},
		{
			"added and removed", "  - repo_id: b", "  - repo_id: a",
			`{"code":"repo_added","repo_id":"a","after":{"lifecycle":"active","manifest_source":"generated","owner":"ops","path":"a","repo_id":"a"}}
{"code":"repo_removed","repo_id":"b","before":{"lifecycle":"active","manifest_source":"generated","owner":"ops","path":"b","repo_id":"b"}}`,
		},
		{
			"fields", "  - {repo_id: a, entrypoints: [x.md], resource_roots: {adr: x, docs: d}, x-t: 1}",
			"  - {repo_id: a, entrypoints: [x.md, y.md], resource_roots: {adr: y}, owner: dev, signals: {has_adr: true}, x-t: {k: '<a>'}}",
			`{"code":"field_changed","repo_id":"a","field":"entrypoints","before":["x.md"],"after":["x.md","y.md"]}
{"code":"field_changed","repo_id":"a","field":"owner","before":"ops","after":"dev"}
{"code":"field_changed","repo_id":"a","field":"resource_roots.adr","before":["x"],"after":["y"]}
{"code":"field_changed","repo_id":"a","field":"resource_roots.docs","before":["d"]}
{"code":"field_changed","repo_id":"a","field":"signals.has_adr","after":true}
{"code":"field_changed","repo_id":"a","field":"x-t","before":1,"after":{"k":"<a>"}}`,
		},
		{
			"renamed", "  - {repo_id: old, path: src}", "  - {repo_id: new, path: src, former_ids: [old]}",
			`{"code":"repo_renamed","repo_id":"new","before":"old","after":"new"}
{"code":"field_changed","repo_id":"new","field":"former_ids","after":["old"]}`,
		},
		{
			"everything else",
			"  - {repo_id: a, views: {start-here: s.md}, components: [{id: c, paths: {docs: d}}], entrypoints: [e.md], entrypoint_status: {e.md: missing}, safe_to_probe: true}",
			"  - {repo_id: a, entrypoints: [e.md], locked: [owner]}",
			`{"code":"field_changed","repo_id":"a","field":"components","before":[{"id":"c","paths":{"docs":["d"]}}]}
{"code":"field_changed","repo_id":"a","field":"entrypoint_status.e.md","before":"missing"}
{"code":"field_changed","repo_id":"a","field":"locked","after":["owner"]}
{"code":"field_changed","repo_id":"a","field":"safe_to_probe","before":true}
{"code":"field_changed","repo_id":"a","field":"views.start-here","before":"s.md"}`,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, c := range registry.Diff(parse(head+tc.a), parse(head+tc.b)) {
				var b strings.Builder
				enc := json.NewEncoder(&b)
				enc.SetEscapeHTML(false)
				if err := enc.Encode(c); err != nil {
					t.Fatal(err)
				}
				got = append(got, strings.TrimSpace(b.String()))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
	one := parse(head + "  - repo_id: a")
	if got := registry.Diff(nil, one); len(got) != 1 || got[0].Code != registry.RepoAdded {
		t.Errorf("from nothing: %v", got)
	}
	if got := registry.Diff(one, nil); len(got) != 1 || got[0].Code != registry.RepoRemoved {
		t.Errorf("to nothing: %v", got)
	}
}
