package probe

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize"
)

const (
	// lastWords is how long the end of a program, and of what it wrote, may come
	// after the end of its output.
	lastWords = 250 * time.Millisecond
	// groupPoll is how often a group is looked at while it ends. The system does
	// not tell when one is empty.
	groupPoll = 20 * time.Millisecond
)

// A child is a running program with its process group.
type child struct {
	cmd    *exec.Cmd
	group  *group
	in     *os.File // what it reads; nil where it reads nothing
	out    *os.File // what it writes; nil where nobody reads that
	errors *os.File
	tail   *tail
	exited chan struct{} // closed when the program itself has ended
	silent chan struct{} // closed when its stderr is read to the end
}

// start starts the program of the launch. Without streams its input is empty,
// and its output is treated like stderr.
func (p *probe) start(streams bool) (*child, error) {
	cmd, err := p.command()
	if err != nil {
		return nil, p.spawnError(p.launch.Command, err)
	}
	c := &child{cmd: cmd, tail: &tail{keep: keptStderr + p.errors.max}, exited: make(chan struct{}), silent: make(chan struct{})}
	theirs, err := c.connect(streams)
	if err == nil {
		c.group, err = startGroup(cmd)
	}
	for _, f := range theirs {
		_ = f.Close() // the program has its own copy
	}
	if err != nil {
		c.closeStreams()
		c.closeErrors()
		return nil, p.spawnError(p.launch.Command, err)
	}
	go func() {
		defer close(c.exited)
		_ = cmd.Wait() // how it ended stands in cmd.ProcessState
	}()
	go func() {
		defer close(c.silent)
		_, _ = io.Copy(c.tail, c.errors) // a tail never fails, and a pipe only when it is closed
	}()
	return c, nil
}

// connect gives the program pipes and returns the ends that belong to it.
//
// These are files, not what exec copies from: a grandchild that keeps one open
// must not hold up the wait for the program.
func (c *child) connect(streams bool) (theirs []*os.File, err error) {
	pipe := func(read, write **os.File) {
		if err == nil {
			*read, *write, err = os.Pipe()
		}
	}
	var in, out, errors *os.File
	pipe(&c.errors, &errors)
	if streams {
		pipe(&in, &c.in)
		pipe(&c.out, &out)
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = in, out, errors
	} else {
		c.cmd.Stdout, c.cmd.Stderr = errors, errors
	}
	for _, f := range []*os.File{in, out, errors} {
		if f != nil {
			theirs = append(theirs, f)
		}
	}
	return theirs, err
}

// closeStreams closes this side of input and output.
func (c *child) closeStreams() {
	for _, f := range []*os.File{c.in, c.out} {
		if f != nil {
			_ = f.Close() // may be closed already; the program sees its end either way
		}
	}
}

func (c *child) closeErrors() {
	if c.errors != nil {
		_ = c.errors.Close() // only read from
	}
}

// stop ends the group within about the given time: by the end of its input, by
// a request, by force. Nothing of it runs any more then.
func (c *child) stop(within time.Duration) {
	c.closeStreams()
	if !c.gone(within * 2 / 5) {
		c.group.terminate()
		if !c.gone(within * 2 / 5) {
			c.group.kill()
			c.gone(within / 5)
		}
	}
	c.group.close()
	select {
	case <-c.silent:
	case <-time.After(lastWords): // a process outside the group holds stderr
	}
	c.closeErrors()
	<-c.silent
}

// gone waits until the program and its group have ended.
func (c *child) gone(within time.Duration) bool {
	timer, poll := time.NewTimer(within), time.NewTicker(groupPoll)
	defer timer.Stop()
	defer poll.Stop()
	select {
	case <-c.exited:
	case <-timer.C:
		return false
	}
	for c.group.alive() {
		select {
		case <-poll.C:
		case <-timer.C:
			return !c.group.alive()
		}
	}
	return true
}

// ended reports whether the program has ended by itself, or is about to, and
// how.
func (c *child) ended() (string, bool) {
	select {
	case <-c.exited:
		return c.cmd.ProcessState.String(), true
	case <-time.After(lastWords):
		return "", false
	}
}

// lastWordsOf gives the end of what a stopped program wrote to stderr.
func (p *probe) lastWordsOf(c *child) string {
	text, cut := c.tail.text()
	return strings.TrimSpace(lastBytes(p.errors.text(text, cut), keptStderr-len("...")))
}

// grace is how long the end of a program may take.
func (p *probe) grace() time.Duration {
	return max(min(p.ending, time.Until(p.last)), lastWords)
}

// local probes a program over its standard streams.
func (p *probe) local(ctx context.Context) (Report, error) {
	report, died, err := p.localOnce(ctx, "")
	if died && ctx.Err() == nil {
		// Some servers end when the first message is not initialize.
		report, _, err = p.localOnce(ctx, initializeOnly)
	}
	return report, err
}

// localOnce starts the program, probes it and ends it. It reports whether the
// program ended during the handshake.
func (p *probe) localOnce(ctx context.Context, version string) (report Report, died bool, err error) {
	p.enter(Start)
	c, err := p.start(true)
	if err != nil {
		return Report{}, false, err
	}
	t := &stdioTransport{probe: p, in: c.in, out: c.out, wait: min(discoverWait, p.budget/3)}
	// A program that does not read holds up whoever writes to it.
	release := context.AfterFunc(ctx, c.closeStreams)
	report, err = p.session(ctx, t, version)
	release()
	t.end()
	if err != nil && ctx.Err() == nil && !answered(err) && t.eof.Load() {
		if how, ended := c.ended(); ended {
			died = p.now().phase == Handshake
			err = p.errorf(Failed, "the program ended (%s) before it had answered", how)
		} else {
			err = p.errorf(Failed, "the program closed its stdout before it had answered")
		}
	}
	c.stop(p.grace())
	if quiet := p.now().quiet; quiet != nil {
		quiet.Stop()
	}
	p.stderr = p.lastWordsOf(c)
	return report, died, err
}

// command prepares the program with its folder and its environment.
func (p *probe) command() (*exec.Cmd, error) {
	argv, err := p.launch.Argv(runtime.GOOS)
	if err != nil {
		return nil, err
	}
	env := p.launch.Environ(runtime.GOOS, baseEnviron(os.Environ()), pairVars(p.forwarded))
	path, err := lookPath(argv[0], env)
	if err != nil {
		return nil, err
	}
	if dir := p.launch.Cwd; dir != "" {
		if info, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("working folder: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("working folder: %q is no folder", dir)
		}
	}
	return &exec.Cmd{Path: path, Args: argv, Dir: p.launch.Cwd, Env: env}, nil
}

// lookPath finds a program in the PATH that it will have itself.
func lookPath(name string, env []string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil // relative ones count from the working folder
	}
	path, _, _ := normalize.EnvVars(runtime.GOOS, env)("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // what is run must not depend on where this process stands
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%w: install it, or give its full path", exec.ErrNotFound)
}

// pairVars answers with the pairs.
func pairVars(pairs []normalize.Pair) normalize.Vars {
	return func(name string) (value, origin string, ok bool) {
		for _, p := range pairs {
			if p.Name == name {
				return p.Value, "", true
			}
		}
		return "", "", false
	}
}

// baseEnviron gives what every program gets of this process's environment:
// what finds programs, the home folder, places for temporary files, language.
func baseEnviron(environ []string) []string {
	names := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}
	if runtime.GOOS == "windows" {
		names = []string{
			"PATH", "PATHEXT", "COMSPEC", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "OS",
			"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
			"PROGRAMFILES", "PROGRAMFILES(X86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
		}
	}
	get := normalize.EnvVars(runtime.GOOS, environ)
	var base []string
	for _, name := range names {
		if value, _, ok := get(name); ok {
			base = append(base, name+"="+value)
		}
	}
	return base
}
