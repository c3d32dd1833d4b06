package probe_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("HOME", "/home/pip")
	t.Setenv("ORCHARD_HOST_ONLY", "host")
	t.Setenv("ORCHARD_FORWARDED", "from the host")
	dir := t.TempDir()
	launch := peer(t, "environ")
	launch.Env = append(launch.Env, normalize.Pair{Name: "ORCHARD_SET", Value: "set"})
	launch.EnvFrom = []string{"ORCHARD_FORWARDED", "ORCHARD_NOWHERE"}
	launch.EnvUnset = []string{"PATH"}
	launch.Cwd = dir

	vault := func(name string) (value, origin string, ok bool) {
		return "from the vault", "vault", name == "ORCHARD_FORWARDED"
	}
	tests := []struct {
		name string
		opts *probe.Options
		want []string
	}{
		{"host", nil, []string{"HOME=/home/pip", "ORCHARD_FORWARDED=from the host", "ORCHARD_SET=set"}},
		{"vars", &probe.Options{Vars: []normalize.Vars{nil, vault}}, []string{"HOME=/home/pip", "ORCHARD_FORWARDED=from the vault", "ORCHARD_SET=set"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			report, err := probe.Check(t.Context(), launch, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(report.Tools, func(s string) bool {
				return !strings.HasPrefix(s, "ORCHARD") && !strings.HasPrefix(s, "HOME") && !strings.HasPrefix(s, "PATH")
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
	report, err := probe.Check(t.Context(), launch, nil)
	if err != nil {
		t.Fatal(err)
	}
	if folder, _ := filepath.EvalSymlinks(dir); !slices.Contains(report.Tools, "in "+folder) {
		t.Errorf("the program did not run in %s: %q", dir, report.Tools)
	}
}

func TestProgramIsFoundInItsOwnPath(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(dir, "pear-server")); err != nil {
		t.Fatal(err)
	}
	launch := peer(t, "legacy")
	launch.Command = "pear-server"
	own := launch.Env
	launch.Env = append(own[:2:2], normalize.Pair{Name: "PATH", Value: "relative:" + dir})
	if _, err := probe.Check(t.Context(), launch, nil); err != nil {
		t.Error(err)
	}
	launch.Env = own
	if _, err := probe.Check(t.Context(), launch, nil); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("without its PATH: %v", err)
	}
}

func TestNotStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		launch normalize.Launch
		code   probe.Code
		cause  error
	}{
		{"no program of that name", normalize.Launch{Transport: normalize.Stdio, Command: "no-such-pear"}, probe.SpawnFailed, exec.ErrNotFound},
		{"no program at that path", normalize.Launch{Transport: normalize.Stdio, Command: dir + "/pear"}, probe.SpawnFailed, fs.ErrNotExist},
		{"not executable", normalize.Launch{Transport: normalize.Stdio, Command: plain}, probe.SpawnFailed, fs.ErrPermission},
		{"no command", normalize.Launch{Transport: normalize.Stdio}, probe.SpawnFailed, nil},
		{"no folder", normalize.Launch{Transport: normalize.Stdio, Command: exe, Cwd: dir + "/gone"}, probe.SpawnFailed, fs.ErrNotExist},
		{"a file as folder", normalize.Launch{Transport: normalize.Stdio, Command: exe, Cwd: plain}, probe.SpawnFailed, nil},
		{"beside an address", normalize.Launch{Transport: normalize.HTTP, URL: "http://127.0.0.1:1", Command: "no-such-pear"}, probe.SpawnFailed, exec.ErrNotFound},
		{"web socket", normalize.Launch{Transport: normalize.WS, URL: "ws://127.0.0.1:1"}, probe.Unsupported, nil},
		{"no transport", normalize.Launch{}, probe.Unsupported, nil},
		{"no address", normalize.Launch{Transport: normalize.HTTP}, probe.Failed, nil},
		{"no host", normalize.Launch{Transport: normalize.SSE, URL: "http://"}, probe.Failed, nil},
		{"another scheme", normalize.Launch{Transport: normalize.HTTP, URL: "file:///etc/pears"}, probe.Failed, nil},
		{"no URL", normalize.Launch{Transport: normalize.HTTP, URL: "http://pear\x7f"}, probe.Failed, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := probe.Check(t.Context(), test.launch, nil)
			e, ok := errors.AsType[*probe.Error](err)
			if !ok || e.Code != test.code || e.Phase != probe.Start || e.Message == "" {
				t.Fatalf("error %#v, want code %s in the first phase", err, test.code)
			}
			if test.cause == nil && e.Err != nil || !errors.Is(err, test.cause) && test.cause != nil {
				t.Errorf("cause %v, want %v", e.Err, test.cause)
			}
			t.Log(err)
		})
	}
}
