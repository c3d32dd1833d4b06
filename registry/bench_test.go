package registry_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mcpcontract/mcpcontract/registry"
)

// large is a registry of n entries that state what generated entries state.
func large(tb testing.TB, n int) []byte {
	tb.Helper()
	data, err := registry.WriteNumbered(n, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestParseAllocations(t *testing.T) {
	const n = 6000
	data := large(t, n)
	perEntry := testing.AllocsPerRun(1, func() {
		if _, err := registry.Parse(data, &registry.ParseOptions{Root: "/ws"}); err != nil {
			t.Fatal(err)
		}
	}) / n
	if perEntry > 5 {
		t.Errorf("%.1f allocations for each entry, want at most 5", perEntry)
	}
}

func BenchmarkParseJSON(b *testing.B) {
	data := large(b, 6000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := registry.Parse(data, &registry.ParseOptions{Root: "/ws"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodingJSON decodes the same text strictly into plain structs, as the measure for ParseJSON.
func BenchmarkEncodingJSON(b *testing.B) {
	data := large(b, 6000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	type file struct {
		SchemaVersion string         `json:"schema_version"`
		Kind          string         `json:"kind"`
		Generator     string         `json:"generator"`
		Defaults      map[string]any `json:"defaults"`
		Repos         []struct {
			RepoID      string           `json:"repo_id"`
			Path        string           `json:"path"`
			Entrypoints []string         `json:"entrypoints"`
			Signals     registry.Signals `json:"signals"`
			Fingerprint string           `json:"fingerprint"`
		} `json:"repos"`
	}
	for b.Loop() {
		var f file
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseYAML(b *testing.B) {
	data := large(b, 5000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := registry.Parse(data, &registry.ParseOptions{Root: "/ws"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	reg, err := registry.Parse(large(b, 6000), &registry.ParseOptions{Root: "/ws"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := reg.Lookup("svc4711"); !ok {
			b.Fatal("not found")
		}
	}
}
