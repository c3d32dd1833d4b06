package probe_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

func TestCheckStdio(t *testing.T) {
	t.Parallel()
	tests := []struct {
		peer string
		want probe.Report
	}{
		{"sdk", probe.Report{Name: "pear", Version: "4.2.0", Protocol: "2026-07-28", Tools: []string{"core", "ripen", "slice"}}},
		{"legacy", probe.Report{Name: "quince", Version: "0.9", Protocol: "2025-06-18", Tools: []string{"stew"}}},
		{"strict-first", probe.Report{Name: "quince", Version: "0.9", Protocol: "2025-06-18", Tools: []string{}}},
		{"no-discover", probe.Report{Name: "quince", Version: "0.9", Protocol: "2025-06-18", Tools: []string{}}},
		{"banner", probe.Report{Name: "pear", Version: "4.2.0", Protocol: "2026-07-28", Tools: []string{"ripen"}, Skipped: 2}},
		{"batches", probe.Report{Name: "quince", Version: "0.9", Protocol: "2025-03-26", Tools: []string{}}},
		{"asks", probe.Report{Name: "quince", Version: "0.9", Protocol: "2025-06-18", Tools: []string{"answered-c", "refused-a", "refused-b"}}},
	}
	for _, test := range tests {
		t.Run(test.peer, func(t *testing.T) {
			t.Parallel()
			got, err := probe.Check(t.Context(), peer(t, test.peer), &probe.Options{Timeout: 8 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Digest) != 64 || strings.Trim(got.Digest, "0123456789abcdef") != "" {
				t.Errorf("digest %q", got.Digest)
			}
			got.Digest = ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}
