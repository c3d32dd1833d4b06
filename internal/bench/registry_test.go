package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/mcpcontract/mcpcontract/registry"
)

// entries are the sizes of the registries that are measured.
func entries() []int { return []int{10_000, 100_000} }

// plainFile is the form that the peers decode a registry into.
type plainFile struct {
	SchemaVersion string      `json:"schema_version" yaml:"schema_version"`
	Kind          string      `json:"kind" yaml:"kind"`
	Defaults      plainRepo   `json:"defaults" yaml:"defaults"`
	Repos         []plainRepo `json:"repos" yaml:"repos"`
}

type plainRepo struct {
	RepoID         string              `json:"repo_id" yaml:"repo_id"`
	Path           string              `json:"path" yaml:"path"`
	ManifestSource string              `json:"manifest_source" yaml:"manifest_source"`
	ManifestPath   string              `json:"manifest_path" yaml:"manifest_path"`
	Entrypoints    []string            `json:"entrypoints" yaml:"entrypoints"`
	ResourceRoots  map[string][]string `json:"resource_roots" yaml:"resource_roots"`
	RepoClass      string              `json:"repo_class" yaml:"repo_class"`
	Lifecycle      string              `json:"lifecycle" yaml:"lifecycle"`
	Owner          string              `json:"owner" yaml:"owner"`
	Signals        struct {
		HasDocs bool `json:"has_docs" yaml:"has_docs"`
		HasADR  bool `json:"has_adr" yaml:"has_adr"`
	} `json:"signals" yaml:"signals"`
}

// entry writes one entry that states what most generated ones state.
func entry(i int) string {
	return fmt.Sprintf(`{"repo_id":"svc-%d","path":"team%d/svc-%d","manifest_source":"repo","manifest_path":"docs/agent/manifest.yaml",`+
		`"entrypoints":["README.md","docs/index.md"],"resource_roots":{"adr":["docs/adr"],"docs":["docs"]},"repo_class":"service",`+
		`"lifecycle":"active","owner":"team-%d","signals":{"has_docs":true,"has_adr":true}}`, i, i%50, i, i%50)
}

const defaults = `{"manifest_source":"generated","owner":"platform"}`

func jsonFile(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"schema_version":"1.0","kind":"workspace_registry","defaults":` + defaults + `,"repos":[`)
	for i := range n {
		b.WriteString(strings.Repeat(",", min(i, 1)) + "\n" + entry(i))
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

// yamlFile writes the same in block style.
func yamlFile(b *testing.B, n int) []byte {
	b.Helper()
	var f yaml.Node
	if err := yaml.Unmarshal(jsonFile(n), &f); err != nil {
		b.Fatal(err)
	}
	var block func(*yaml.Node)
	block = func(n *yaml.Node) {
		n.Style = 0
		for _, c := range n.Content {
			block(c)
		}
	}
	block(&f)
	data, err := yaml.Marshal(&f)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func decodeJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(new(plainFile))
}

func decodeYAML(data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	return dec.Decode(new(plainFile))
}

func parse(data []byte) error {
	_, err := registry.Parse(data, &registry.ParseOptions{Root: "/workspace"})
	return err
}

// BenchmarkRegistryRatio reports the time to load a registry as a multiple of what the plain strict decoder
// of its format takes, the two in turns, and the memory that a loaded entry holds.
func BenchmarkRegistryRatio(b *testing.B) {
	for _, n := range entries() {
		b.Run(fmt.Sprintf("JSON/%d", n), func(b *testing.B) { ratio(b, jsonFile(n), decodeJSON) })
	}
	b.Run("YAML/10000", func(b *testing.B) { ratio(b, yamlFile(b, 10_000), decodeYAML) })
}

func ratio(b *testing.B, data []byte, plain func([]byte) error) {
	b.Helper()
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for range 3 {
			for i, load := range []func([]byte) error{plain, parse} {
				start := time.Now()
				if err := load(data); err != nil {
					b.Fatal(err)
				}
				best[i] = min(best[i], time.Since(start))
			}
		}
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "x-plain")
	b.ReportMetric(float64(best[1].Milliseconds()), "best-ms")
	b.ReportMetric(live(b, data), "live-B/entry")
}

// live measures the memory that a registry holds for each entry.
func live(b *testing.B, data []byte) float64 {
	b.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	reg, err := registry.Parse(data, &registry.ParseOptions{Root: "/workspace"})
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(reg.Len())
	runtime.KeepAlive(reg)
	runtime.KeepAlive(data) // or its end would be counted
	return per
}
