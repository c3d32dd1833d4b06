package risk_test

import (
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize/internal/risk"
)

func TestDangerousEnv(t *testing.T) {
	for name, want := range map[string]bool{
		"NODE_OPTIONS": true, "node_options": true, "LD_ANYTHING": true, "DYLD_X": true, "PATH": true,
		"MODE": false, "LD": false, "MY_PATH": false, "API_KEY": false, "": false,
	} {
		if got := risk.DangerousEnv(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
