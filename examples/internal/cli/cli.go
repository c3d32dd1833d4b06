// Package cli holds what the commands of the reference servers share.
//
//	func main() {
//		os.Exit(cli.Main(func(ctx context.Context) error {
//			return cli.Serve(ctx, server)
//		}))
//	}
//
// # Concurrency
//
// [Main] is meant for the main goroutine; the rest may be called from any.
//
// # Errors
//
// [Main] writes an error to stderr; the exit code is 1, or that of an [ExitError].
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// ExitError is an error that only says with which code to end: whatever there is to
// say has been written.
type ExitError int

// Error names the code.
func (e ExitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs a command until it is done or the process is told to end, and
// returns the exit code.
func Main(run func(ctx context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx)
	var exit ExitError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}

// Serve serves stdio until the client closes it or ctx ends. Both are a normal
// end.
func Serve(ctx context.Context, server *mcp.Server) error {
	err := server.Run(ctx, &mcpkit.StdioTransport{})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// ServeHTTP serves clients of both protocol eras on a TCP address of this machine,
// such as 127.0.0.1:8080, until ctx ends; then it lets calls finish. An address
// that others can reach is refused, since nobody is asked who they are. Errors about
// the address name the flag -http, which all commands take it from. It writes the
// URL to w once it listens, and later what it refuses and why.
func ServeHTTP(ctx context.Context, w io.Writer, server *mcp.Server, addr string) error {
	handler, err := mcpkit.NewHTTPHandler(server, &mcpkit.HTTPOptions{
		Logger: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	local, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return fmt.Errorf("-http %s: give an address such as 127.0.0.1:8080: %w", Visible(addr), err)
	}
	if !local.IP.IsLoopback() {
		return fmt.Errorf("-http %s: the address is open to other machines, and nothing checks who calls; use 127.0.0.1:%d", Visible(addr), local.Port)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", local.String())
	if err != nil {
		return fmt.Errorf("-http %s: %w", Visible(addr), err)
	}
	fmt.Fprintf(w, "serving http://%s/\n", listener.Addr())
	return handler.Serve(ctx, listener)
}

// Version is the version that the build recorded: of the module, else of the
// commit, else "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// Count writes a number of things: one is the word for a single one.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Visible makes a text safe to print on a terminal, on one line: what is not
// printable, such as a control or a bidirectional character or a byte that is not
// UTF-8, becomes an escape as in a Go string.
func Visible(s string) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case strconv.IsPrint(r) && (r != utf8.RuneError || size > 1):
			b.WriteRune(r)
		default:
			quoted := strconv.Quote(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// Progress writes a line to w when work takes longer than a second, and again
// every five seconds, until stop is called. The line is what status returns, which
// is called from another goroutine than the work, and the time so far. stop waits
// for the last line.
func Progress(w io.Writer, status func() string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		start := time.Now()
		wait := time.NewTimer(time.Second)
		defer wait.Stop()
		for {
			select {
			case <-done:
				return
			case <-wait.C:
				_, _ = fmt.Fprintf(w, "%s, %s so far\n", status(), time.Since(start).Round(time.Second))
				wait.Reset(5 * time.Second)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
