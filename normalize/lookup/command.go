package lookup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A Command is an [Agent] that runs a program of the user's choice, once for
// each task. The program gets the [Task] as one JSON object on its standard
// input and writes its answer to its standard output. It sees no environment but
// Env. When the time is over, and when it ends, its whole process group is
// killed; where there are no process groups, as on Windows, the program alone is.
// What it wrote before it ended is the answer, whoever still holds its output then.
// A program that leaves the group on purpose is not followed. A Command is safe for
// concurrent use while nobody writes to it.
type Command struct {
	// Argv is the program, by an absolute path, and its arguments. It is the
	// user's own configuration and never comes from a reference.
	Argv []string
	// Dir is the working folder; empty means the caller's.
	Dir string
	// Env is the whole environment, in the form of [os.Environ]; nil means an
	// empty one.
	Env []string
	// Timeout bounds one run; 0 means 2 minutes.
	Timeout time.Duration
	// MaxOutput bounds the answer in bytes; 0 means 64 KiB, which is also the
	// most that is taken.
	MaxOutput int
}

const (
	commandTimeout = 2 * time.Minute
	// pipeDelay is how long a pipe may stay open after the program has ended:
	// something outside its process group may hold it.
	pipeDelay = 2 * time.Second
)

// A commandError says why a program gave no answer. Its text is made of the user's
// own configuration and the system's words, and never of what the program wrote.
type commandError struct {
	text string
	err  error
}

// Error gives the text, and the system's word for the cause.
func (e *commandError) Error() string {
	if e.err == nil {
		return "the agent's program " + e.text
	}
	return "the agent's program " + e.text + ": " + e.err.Error()
}

// Unwrap gives the cause.
func (e *commandError) Unwrap() error { return e.err }

// errOutput ends the copying of an output that is too large.
var errOutput = errors.New("too much output")

// Answer runs the program. Its standard error is dropped: it may hold anything. An
// error says that the program cannot be run, failed, wrote too much or took too
// long; it holds [context.DeadlineExceeded] or [context.Canceled] where that ended
// it. A program that fails gives no answer, whatever it wrote.
func (c *Command) Answer(ctx context.Context, task Task) (string, error) {
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]) {
		return "", &commandError{text: "has to be given by an absolute path"}
	}
	input, err := json.Marshal(task)
	if err != nil {
		return "", err
	}
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = commandTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	limit := c.MaxOutput
	if limit <= 0 || limit > maxAnswer {
		limit = maxAnswer
	}
	out := &limitedBuffer{left: limit, stop: cancel}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...) // nil would pass the environment on
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = pipeDelay
	ownGroup(cmd)
	err = runInto(cmd, out)
	// The limit comes first: to stop the program it ends the context too.
	switch {
	case out.over:
		return "", &commandError{text: fmt.Sprintf("wrote more than %d bytes, which is its limit", limit)}
	case err == nil:
		return out.buf.String(), nil
	case ctx.Err() != nil:
		return "", &commandError{fmt.Sprintf("was stopped after %v", timeout), ctx.Err()}
	}
	if _, ran := errors.AsType[*exec.ExitError](err); !ran {
		return "", &commandError{"cannot be run", err}
	}
	return "", &commandError{"failed", err}
}

// runInto runs a program and copies its standard output. The pipe is this
// package's own and not [exec.Cmd]'s: what the program left in its group would
// hold that one open, and the answer of a program that has ended well would be
// lost with it. Its group is killed first, then what is in the pipe is complete.
func runInto(cmd *exec.Cmd, out io.Writer) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = w
	err = cmd.Start()
	_ = w.Close() // the program has its own
	if err != nil {
		_ = r.Close()
		return err
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(out, r) // a fault of out is its own to tell
	}()
	err = cmd.Wait()
	killGroup(cmd)
	// What has left the group may still hold the pipe. What the program itself
	// wrote was written before it ended, and so has been read by then.
	hold := time.AfterFunc(pipeDelay, func() { _ = r.Close() })
	<-copied
	hold.Stop()
	_ = r.Close()
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, and somebody else holds its input
		return nil
	}
	return err
}

// A limitedBuffer keeps what fits, and stops the program when more comes.
type limitedBuffer struct {
	buf  bytes.Buffer
	left int
	over bool
	stop func()
}

// Write keeps all of p or nothing, since a part of an answer is none.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.over = true
		b.stop()
		return 0, errOutput
	}
	b.left -= len(p)
	return b.buf.Write(p)
}
