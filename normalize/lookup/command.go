package lookup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// A Command is an [Agent] that runs a program of the user's choice, once for
// each task. The program gets the [Task] as one JSON object on its standard
// input and writes its answer to its standard output. It sees no environment but
// Env. When the time is over, and when it ends, its whole process group is
// killed; where there are no process groups, as on Windows, the program alone is.
// A program that leaves the group on purpose is not followed. A Command is safe for concurrent use while nobody writes to it.
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

var errOutput = errors.New("the agent's program wrote more than its limit")

// Answer runs the program. Its standard error is dropped: it may hold anything.
func (c *Command) Answer(ctx context.Context, task Task) (string, error) {
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]) {
		return "", errors.New("the agent's program has to be given by an absolute path")
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
	out := &limitedBuffer{left: c.MaxOutput, stop: cancel}
	if out.left <= 0 || out.left > maxAnswer {
		out.left = maxAnswer
	}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...) // nil would pass the environment on
	cmd.Stdin, cmd.Stdout = bytes.NewReader(input), out
	cmd.WaitDelay = pipeDelay
	ownGroup(cmd)
	err = cmd.Run()
	killGroup(cmd) // also where the program ended by itself and left others behind
	// The limit comes first: to stop the program it ends the context too.
	switch {
	case out.over:
		return "", errOutput
	case ctx.Err() != nil:
		return "", fmt.Errorf("the agent's program was stopped after %v: %w", timeout, ctx.Err())
	case err != nil:
		return "", fmt.Errorf("the agent's program: %w", err)
	}
	return out.buf.String(), nil
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
