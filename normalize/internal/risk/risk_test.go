package risk_test

import (
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize/internal/risk"
)

func TestNames(t *testing.T) {
	tests := []struct {
		name                         string
		dangerous, secret, parameter bool
	}{
		{"NODE_OPTIONS", true, false, false},
		{"node_options", true, false, false},
		{"LD_ANYTHING", true, false, false},
		{"DYLD_X", true, false, false},
		{"MODE", false, false, false},
		{"API_KEY", false, true, true},
		{"token", false, true, true},
		{"Authorization", false, true, true},
		{"sig", false, false, true},
		{"", false, false, false},
	}
	for _, tt := range tests {
		if got := risk.DangerousEnv(tt.name); got != tt.dangerous {
			t.Errorf("%q: dangerous %v", tt.name, got)
		}
		if got := risk.SecretName(tt.name); got != tt.secret {
			t.Errorf("%q: secret %v", tt.name, got)
		}
		if got := risk.SecretParameter(tt.name); got != tt.parameter {
			t.Errorf("%q: parameter %v", tt.name, got)
		}
	}
}
