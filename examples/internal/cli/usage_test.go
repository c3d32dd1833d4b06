package cli_test

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
)

func TestOperands(t *testing.T) {
	for _, test := range []struct {
		args, want string
		value      string
		bad        bool
	}{
		{"", "", "", false},
		{"render site", "render site", "", false},
		{"-v 1 render site", "render site", "1", false},
		{"render -v 1 site", "render site", "1", false},
		{"render site -v 1", "render site", "1", false},
		{"render -x", "", "", true},
		{"render - -v 1", "render -", "1", false},
		{"render -v 1 -- -v -x", "render -v -x", "1", false},
		{"-- -x site -y", "-x site -y", "", false},
		{"site --", "site", "", false},
	} {
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		value := fs.String("v", "", "a value")
		got, err := cli.Operands(fs, strings.Fields(test.args))
		if (err != nil) != test.bad || *value != test.value {
			t.Errorf("%q: %v, value %q", test.args, err, *value)
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", test.args, diff)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	if err := cli.BadUsage(flag.ErrHelp); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help ends with %v", err)
	}
	if err := cli.BadUsage(errors.New("unknown flag")); !errors.Is(err, cli.ExitError(2)) {
		t.Errorf("a bad flag ends with %v", err)
	}
	var log strings.Builder
	if err := cli.Misuse(&log, "unknown command %q", "x"); !errors.Is(err, cli.ExitError(2)) || log.String() != "error: unknown command \"x\"; run with -h for help\n" {
		t.Errorf("%v: %s", err, &log)
	}
}
