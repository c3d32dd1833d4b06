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
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	err := server.Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
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
