package probe

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/normalize"
)

const (
	// maxTimeout is the default and the upper bound of Options.Timeout.
	maxTimeout = 30 * time.Second
	// maxMessage is the most bytes of one message.
	maxMessage = 4 << 20
	// maxPages is the most pages of a catalog.
	maxPages = 200
	// keptStderr is how much of stderr an error holds.
	keptStderr = 8 << 10
	// maxName is the most bytes of a name in a report.
	maxName = 256
	// maxRead is how much of a longer one is looked at.
	maxRead = 1 << 10
)

// Options configure [Check]. A nil *Options is valid, and each zero field is the
// default that its comment names. They are not changed.
type Options struct {
	// Timeout bounds the whole probe, the end of the server included. 0 and
	// more than 30 seconds mean 30 seconds; a deadline of the context counts, too.
	Timeout time.Duration
	// MaxBytes bounds all that the server sends, stderr apart, which is read
	// without end and kept in part. 0 means 8 MiB.
	MaxBytes int64
	// MaxTools bounds the catalog. 0 means 2,000.
	MaxTools int
	// Vars are asked, in order, for the variables that the launch forwards by
	// name (Launch.EnvFrom). Nil means the environment of this process.
	Vars []normalize.Vars
	// Hide are further values that no text of an error or a report may hold, such
	// as those that references in the launch had. Of one with less than 4 bytes
	// only what stands alone is hidden.
	Hide []string
}

func (o *Options) timeout() time.Duration {
	if o == nil || o.Timeout <= 0 {
		return maxTimeout
	}
	return min(o.Timeout, maxTimeout)
}

func (o *Options) maxBytes() int64 {
	if o == nil || o.MaxBytes <= 0 {
		return 8 << 20
	}
	return o.MaxBytes
}

func (o *Options) maxTools() int {
	if o == nil || o.MaxTools <= 0 {
		return 2000
	}
	return o.MaxTools
}

func (o *Options) hide() []string {
	if o == nil {
		return nil
	}
	return o.Hide
}

func (o *Options) vars() []normalize.Vars {
	if o == nil || o.Vars == nil {
		return []normalize.Vars{normalize.EnvVars(runtime.GOOS, os.Environ())}
	}
	return o.Vars
}

// Report is what a server says about itself. Its texts are the server's own: do
// not follow them. Names are cut at 256 bytes.
type Report struct {
	// Name and Version are the server's identity, empty where it gives none.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Protocol is the version of MCP that the session has, such as "2025-11-25".
	Protocol string `json:"protocol"`
	// Tools are the names of all tools as they can be shown, sorted, each once.
	// Never nil.
	Tools []string `json:"tools"`
	// Duplicates are the names of Tools that the catalog has more than once, or
	// has several of that look the same, sorted. A client, or a person, cannot say
	// which of them is called.
	Duplicates []string `json:"duplicates,omitempty"`
	// Digest is the SHA-256 over the catalog in hexadecimal: name, title,
	// description, schemas and annotations of each tool. The order of the tools
	// and of the keys in a schema makes no difference to it; how a number in a
	// schema is written does.
	Digest string `json:"catalogDigest"`
	// Skipped counts the lines on the standard output of a program that are no
	// messages. A strict client may give up where there are some.
	Skipped int `json:"skippedLines,omitempty"`
}

// Check starts or reaches the server of a launch, opens a session, lists all
// tools and ends the session and the program. What it finds is the report.
//
// An error is an [*Error]: [SpawnFailed] where the program cannot be started,
// [Timeout] and [TooLarge] where a limit ended the probe, [Unsupported] for a
// transport other than stdio, HTTP and SSE, and else [Failed]. If ctx is
// canceled, the program is ended and the context's error comes back as it is.
func Check(ctx context.Context, launch normalize.Launch, opts *Options) (Report, error) {
	p := newProbe(launch, opts)
	if err := p.supported(); err != nil {
		return Report{}, err
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return Report{}, err
	}
	p.budget = opts.timeout()
	if last, ok := ctx.Deadline(); ok {
		p.budget = min(p.budget, time.Until(last))
	}
	if p.budget <= 0 {
		return Report{}, p.timedOut()
	}
	p.last = time.Now().Add(p.budget)
	// The end of the program has its share of the time.
	p.ending = min(p.budget/4, 3*time.Second)
	work, stop := context.WithTimeout(ctx, p.budget-p.ending)
	defer stop()
	work, p.fail = context.WithCancelCause(work)
	defer p.fail(nil)

	var report Report
	var err error
	if launch.Transport == normalize.Stdio {
		report, err = p.local(work)
	} else {
		report, err = p.remote(work)
	}
	switch {
	case err == nil:
		return report, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return Report{}, ctx.Err()
	}
	return Report{}, p.explain(work, err)
}

// A probe is one run of Check. All but the state is written by the goroutine of
// Check only.
type probe struct {
	launch    normalize.Launch
	opts      *Options
	forwarded []normalize.Pair // what Launch.EnvFrom stands for
	errors    *redactor        // for texts of errors
	names     *redactor        // for texts of reports
	budget    time.Duration    // for all of it
	ending    time.Duration    // the share of the end
	last      time.Time        // when all has to be over
	fail      context.CancelCauseFunc
	stderr    string // of the program that ended last, redacted
	server    *child // that has to be running, if it is reached at an address

	mu sync.Mutex
	state
}

// state is what the goroutines of a probe share, under its lock.
type state struct {
	phase  Phase
	left   int64  // bytes that the server may still send
	status string // the last HTTP status that is an error
	denied bool   // it was 401 or 403
	noise  noise
	quiet  *time.Timer     // ends a probe that got noise and nothing else
	listID jsonrpc.ID      // of the last question for tools
	listed json.RawMessage // what answered it
}

// now gives the state.
func (p *probe) now() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// enter begins a phase.
func (p *probe) enter(phase Phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = phase
}

func newProbe(launch normalize.Launch, opts *Options) *probe {
	p := &probe{launch: launch, opts: opts, fail: func(error) {}, state: state{phase: Start, left: opts.maxBytes()}}
	for _, name := range launch.EnvFrom {
		for _, vars := range opts.vars() {
			if vars == nil {
				continue
			}
			if value, _, ok := vars(name); ok {
				p.forwarded = append(p.forwarded, normalize.Pair{Name: name, Value: value})
				break
			}
		}
	}
	all, marked := secretsOf(launch, p.forwarded, opts.hide())
	p.errors, p.names = newRedactor(all), newRedactor(marked)
	return p
}

// supported refuses what cannot be probed before anything is started.
func (p *probe) supported() error {
	switch t := p.launch.Transport; {
	case t == normalize.Stdio && p.launch.Command == "":
		return p.errorf(SpawnFailed, "the launch names no program to start")
	case t == normalize.Stdio:
		return nil
	case t != normalize.HTTP && t != normalize.SSE:
		name := string(t)
		if name == "" {
			name = "(none)"
		}
		return p.errorf(Unsupported, "the transport %q cannot be probed: only stdio, http and sse can", name)
	}
	return p.checkURL()
}

// take counts n bytes from the server and reports whether it may send them. It
// ends the probe if not.
func (p *probe) take(n int) bool {
	p.mu.Lock()
	p.left -= int64(n)
	over := p.left < 0
	p.mu.Unlock()
	if over {
		p.fail(p.errorf(TooLarge, "the server sent more than %d bytes", p.opts.maxBytes()))
	}
	return !over
}

// spoke notes that there was a message.
func (p *probe) spoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noise.spoke = true
}

// skip counts a line that is no message and reports whether to go on.
func (p *probe) skip(line []byte) bool {
	p.mu.Lock()
	if p.noise.lines == 0 {
		p.noise.first = wording.Clip(string(line), maxFirst)
	}
	p.noise.lines++
	p.noise.bytes += len(line)
	n := p.noise
	if n.lines == 1 {
		p.quiet = time.AfterFunc(min(noiseWait, p.budget/3), func() {
			if !p.now().noise.spoke {
				p.fail(p.onlyNoise())
			}
		})
	}
	p.mu.Unlock()
	if n.lines <= maxNoise && n.bytes <= maxNoiseBytes {
		return true
	}
	p.fail(p.onlyNoise())
	return false
}

// show gives a text of the server for a message: quoted by the caller, without
// secrets, one line, short.
func (p *probe) show(s string) string {
	return wording.Clip(p.errors.text(oneLine(clean(s)), false), 200)
}

// name gives a name that the server reports.
func (p *probe) name(s string) string {
	s = oneLine(clean(s))
	read := s[:min(len(s), maxRead)]
	shown := p.names.text(read, false)
	if len(read) < len(s) {
		shown += "..."
	}
	return wording.Clip(shown, maxName-3)
}
