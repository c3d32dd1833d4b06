package cli_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
)

func TestMainCode(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"help was shown", flag.ErrHelp, 0},
		{"a code", fmt.Errorf("checking: %w", cli.ExitError(3)), 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cli.Main(func(context.Context) error { return tt.err }); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestExitText(t *testing.T) {
	if got := cli.ExitError(2).Error(); got != "exit code 2" {
		t.Errorf("got %q", got)
	}
	if !errors.Is(fmt.Errorf("x: %w", cli.ExitError(2)), cli.ExitError(2)) {
		t.Error("ExitError is not comparable")
	}
}

func TestVersion(t *testing.T) {
	if v := cli.Version(); v == "" || strings.ContainsAny(v, " ()") {
		t.Errorf("got version %q", v)
	}
}

func TestProgress(t *testing.T) {
	tests := []struct {
		work time.Duration
		want string
	}{
		{900 * time.Millisecond, ""},
		{1500 * time.Millisecond, "scanning, 1s so far\n"},
		{7 * time.Second, "scanning, 1s so far\nscanning, 6s so far\n"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			stop := cli.Progress(&out, func() string { return "scanning" })
			time.Sleep(tt.work)
			stop()
			if out.String() != tt.want {
				t.Errorf("after %v: got %q, want %q", tt.work, out.String(), tt.want)
			}
		})
	}
}
