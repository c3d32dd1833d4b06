package cli_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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

func TestCount(t *testing.T) {
	for n, want := range []string{"0 entries", "1 entry", "2 entries"} {
		if got := cli.Count(n, "entry", "entries"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestServeHTTP(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	defer read.Close()
	ended := make(chan error, 1)
	go func() { ended <- cli.ServeHTTP(ctx, write, server, "127.0.0.1:0") }()
	lines := bufio.NewScanner(read)
	lines.Scan()
	url, ok := strings.CutPrefix(lines.Text(), "serving ")
	if !ok {
		t.Fatalf("got %q", lines.Text())
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "example.com"
	logged := make(chan string, 1)
	go func() {
		lines.Scan()
		logged <- lines.Text()
	}()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := <-logged; resp.StatusCode != http.StatusForbidden || !strings.Contains(got, "Host header") {
		t.Errorf("a foreign name gets status %d, and the log says %q", resp.StatusCode, got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestServeHTTPErrors(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, addr := range []string{taken.Addr().String(), "nowhere", ":0", "0.0.0.0:0"} {
		if err := cli.ServeHTTP(t.Context(), io.Discard, server, addr); err == nil || !strings.HasPrefix(err.Error(), "-http "+addr+": ") {
			t.Errorf("serves on %s: %v", addr, err)
		}
	}
	if err := cli.ServeHTTP(t.Context(), io.Discard, nil, "127.0.0.1:0"); err == nil {
		t.Error("serves no server")
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

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"plain 空 \"é\" \\ \ufffd": "plain 空 \"é\" \\ \ufffd",
		"\x1b[31m\r\n\t\x00\x7f":  `\x1b[31m\r\n\t\x00\x7f`,
		"\u202e\u200b\u0085":      `\u202e\u200b\u0085`,
		"a\xffb\xc3":              `a\xffb\xc3`,
	} {
		if got := cli.Visible(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
