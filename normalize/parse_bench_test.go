package normalize_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// twentyServers is a file as people have it: local and remote servers with
// variables, headers and a few options.
func twentyServers() []byte {
	var b strings.Builder
	b.WriteString("{\n  \"mcpServers\": {\n")
	for i := range 20 {
		if i > 0 {
			b.WriteString(",\n")
		}
		if i%3 == 0 {
			fmt.Fprintf(&b, `    "remote-%d": {
      "type": "http",
      "url": "https://mcp-%d.example.com/mcp",
      "headers": { "Authorization": "Bearer ${TOKEN_%d}", "X-Region": "eu-1" },
      "timeout": 30000
    }`, i, i, i)
			continue
		}
		fmt.Fprintf(&b, `    "local-%d": {
      "command": "npx",
      "args": ["-y", "@acme/server-%d@1.2.3", "--root", "${HOME}/data", "--verbose"],
      "env": { "ACME_TOKEN": "${TOKEN_%d}", "ACME_REGION": "eu-1", "LOG_LEVEL": "info" }
    }`, i, i, i)
	}
	b.WriteString("\n  }\n}\n")
	return []byte(b.String())
}

// BenchmarkParse reads a file with twenty servers, beside encoding/json doing
// the same into a map: the ratio of the two is what counts, at most 3.
func BenchmarkParse(b *testing.B) {
	text := twentyServers()
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m map[string]any
			if err := json.Unmarshal(text, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("normalize", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := normalize.Parse(text, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestParseAllocs keeps the cost of a usual file in bounds.
func TestParseAllocs(t *testing.T) {
	text := twentyServers()
	got := testing.AllocsPerRun(20, func() {
		if _, err := normalize.Parse(text, nil); err != nil {
			t.Fatal(err)
		}
	})
	if got > 400 {
		t.Errorf("Parse of 20 servers allocates %v times, more than 400", got)
	}
}
