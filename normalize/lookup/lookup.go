package lookup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// Options says where a Resolver looks and how long. Nil and the zero value are
// valid. The four base addresses are for mirrors and tests; their hosts are the
// only ones that are asked, with the base's own scheme.
type Options struct {
	// Registry is the base of the official registry's API; empty means
	// https://registry.modelcontextprotocol.io.
	Registry string
	// GitHubAPI is the base of GitHub's REST API; empty means
	// https://api.github.com.
	GitHubAPI string
	// GitHubRaw is where the files of repositories are; empty means
	// https://raw.githubusercontent.com.
	GitHubRaw string
	// Glama is the base of Glama's API; empty means https://glama.ai/api/mcp.
	Glama string
	// Client makes the requests; nil means a client of its own with the default
	// transport. It is copied, and the copy has no cookie jar and the redirect
	// policy of this package.
	Client *http.Client
	// Agent is asked what the chain cannot close; nil asks nobody.
	Agent Agent
	// Timeout bounds the chain of one lookup, without the agent; 0 means 30
	// seconds. A text that is being read when it is over is read to its end.
	Timeout time.Duration
	// MaxBytes bounds one answer of a source; 0 means 1 MiB.
	MaxBytes int64
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
}

// The defaults of Options.
const (
	defaultTimeout  = 30 * time.Second
	defaultMaxBytes = 1 << 20
)

// maxBytes is the bound of one answer.
func (o *Options) maxBytes() int64 {
	if o == nil || o.MaxBytes <= 0 {
		return defaultMaxBytes
	}
	return o.MaxBytes
}

// now is the clock.
func (o *Options) now() func() time.Time {
	if o == nil || o.Now == nil {
		return time.Now
	}
	return o.Now
}

// timeout is the time of the chain.
func (o *Options) timeout() time.Duration {
	if o == nil || o.Timeout <= 0 {
		return defaultTimeout
	}
	return o.Timeout
}

// bases gives the base addresses in the order of the fields.
func (o *Options) bases() [4]string {
	if o == nil {
		o = &Options{}
	}
	out := [4]string{o.Registry, o.GitHubAPI, o.GitHubRaw, o.Glama}
	for i, std := range [4]string{
		"https://registry.modelcontextprotocol.io", "https://api.github.com",
		"https://raw.githubusercontent.com", "https://glama.ai/api/mcp",
	} {
		if out[i] == "" {
			out[i] = std
		}
	}
	return out
}

// A Resolver looks references up. It remembers answers for conditional requests
// (at most 64, 4 MiB together) and which hosts want no requests for a while. It
// is safe for concurrent use and needs no clean-up.
type Resolver struct {
	fetch    *fetcher
	registry string
	api      string
	raw      string
	glama    string
	agent    Agent
	timeout  time.Duration
}

// New makes a Resolver. It panics where a base address of opts is no http or
// https address with a host and without user, query and fragment: that is a
// mistake in a program and no input.
func New(opts *Options) *Resolver {
	var parsed []*url.URL
	bases := opts.bases()
	for i, base := range bases {
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			panic(fmt.Sprintf("lookup: base address %d of the options is not valid", i+1))
		}
		parsed = append(parsed, u)
		bases[i] = strings.TrimRight(base, "/")
	}
	r := &Resolver{
		fetch: newFetcher(opts, parsed), timeout: opts.timeout(),
		registry: bases[0], api: bases[1], raw: bases[2], glama: bases[3],
	}
	if opts != nil {
		r.agent = opts.Agent
	}
	return r
}

// Resolve turns a reference into exactly one record, with the evidence for it.
// The record is what normalize makes of a source's own text: with references in
// place of values, and a name that the source gives. Nothing about it has been
// tried: it is a claim until a probe agrees.
//
// Every failure is an [*Error], which carries the evidence up to there; its code
// says whether the reference, the sources or the agent is at fault. The record
// is the zero value then.
func (r *Resolver) Resolve(ctx context.Context, text string) (normalize.Server, Evidence, error) {
	ref, err := parseReference(text)
	if err != nil {
		ev := Evidence{{Step: stepReference, Source: "input", Outcome: "refused: " + err.Error()}}
		return normalize.Server{}, ev, &Error{Code: CodeInvalid, Message: err.Error(), Evidence: ev}
	}
	s := &session{r: r, ref: ref}
	s.note(stepReference, s.shown(), ref.describe())
	// The agent runs under the caller's time, since it has a bound of its own.
	chain, cancel := context.WithTimeoutCause(ctx, r.timeout, tooSlow(r.timeout))
	server, failure := s.walk(chain)
	cancel()
	if failure != nil && s.forAgent(failure) {
		server, failure = s.askAgent(ctx, failure)
	}
	if failure != nil {
		return normalize.Server{}, s.evidence, s.fail(failure)
	}
	s.finish(server)
	return *server, s.evidence, nil
}

// A session is one lookup.
type session struct {
	r         *Resolver
	ref       reference   // what is looked up; a page of Glama becomes its repository
	evidence  Evidence    // all steps so far
	documents []Document  // fetched texts, for an agent
	found     []candidate // in the order of the chain
	repo      repository  // the one that was read, if any
	requests  int         // made so far
	// trouble is the first failure of a source, and repoTrouble that of the
	// repository which the reference names.
	trouble, repoTrouble *Error
	// offered is the choice that a vague reference leaves.
	offered *Error
	// several is set where the reference stands for several servers.
	several *Error
}

// shown is the reference as evidence may show it. Free text is left out, since
// it may hold anything.
func (s *session) shown() string {
	if s.ref.kind == refWords || s.ref.kind == refCommand {
		return "input"
	}
	return s.ref.String()
}

// told is the reference as others get it: the registry, and an agent.
func (s *session) told() string {
	if s.ref.kind == refWords {
		return secrets.Redact(s.ref.name)
	}
	return s.ref.String()
}

// note writes one step of the evidence down.
func (s *session) note(step, source, outcome string) {
	s.evidence = append(s.evidence, Step{Step: step, Source: source, Outcome: outcome})
}

// fail completes an error with what every failure carries.
func (s *session) fail(e *Error) *Error {
	out := *e
	if shown := s.shown(); shown != "input" {
		out.Reference = clip(shown)
	}
	out.Evidence = s.evidence
	return &out
}

// ask gets one address of a source. Where that fails, the evidence says so, and
// trouble remembers it: a source that could not be asked must never look like
// one that knows nothing. Missing is the outcome where nothing is there.
func (s *session) ask(ctx context.Context, step, address, missing string) (answer, bool) {
	a, err := answer{}, error(nil)
	if s.requests++; s.requests > maxRequests {
		err = &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the lookup wants more than %d requests", maxRequests)}
	} else {
		a, err = s.r.fetch.get(ctx, address)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		s.note(step, address, "not answered: "+e.Message)
		if s.trouble == nil {
			s.trouble = e
		}
		// A file that is too large is left out like one that cannot be read; any
		// other failure may hide a file that contradicts the rest.
		if step != stepRegistry && step != stepGlama && e.Code != CodeTooLarge && s.repoTrouble == nil {
			s.repoTrouble = e
		}
		return answer{}, false
	}
	if !a.found {
		s.note(step, address, missing)
	}
	return a, a.found
}

// walk goes through the chain and decides.
func (s *session) walk(ctx context.Context) (*normalize.Server, *Error) {
	s.gather(ctx)
	// Time first: what was found until it ran out may lack what contradicts it.
	switch {
	case ctx.Err() != nil:
		return nil, ctxError(ctx)
	case s.ref.kind == refGitHub && s.repoTrouble != nil:
		return nil, s.repoTrouble
	}
	chosen, failure := s.decide()
	if failure != nil {
		if s.trouble != nil && (failure.Code == CodeNotFound || failure == s.offered) {
			return nil, s.trouble
		}
		return nil, failure
	}
	s.glamaNames(ctx, chosen)
	if ctx.Err() != nil {
		return nil, ctxError(ctx)
	}
	return chosen, nil
}

// gather asks the sources that can know a reference of its kind.
func (s *session) gather(ctx context.Context) {
	if s.ref.kind == refGlama {
		s.followGlama(ctx)
	}
	switch s.ref.kind {
	case refGitHub:
		s.gitHub(ctx)
	case refRegistry:
		s.registryName(ctx)
	case refPackage:
		s.namedPackage(ctx)
	case refBare:
		s.barePackage(ctx)
	case refSmithery:
		s.smithery(ctx)
	case refCommand:
		s.take(stepReference, "input", s.ref.name, nil)
	case refWords:
		s.search(ctx)
	case refAddress, refGlama:
	}
}

// finish writes down what a person should know about the chosen record.
func (s *session) finish(server *normalize.Server) {
	for _, n := range server.Notes {
		switch n.Code {
		case normalize.ArchivedPackage, normalize.InventedPackage:
			s.note("package", n.Subject, strings.TrimSuffix(string(n.Code), "_package")+": "+n.Message)
		}
	}
}
