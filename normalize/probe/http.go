package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/normalize"
)

const (
	// listenPoll is how often a started program is asked whether it listens.
	listenPoll = 50 * time.Millisecond
	// firstDial bounds finding out whether something listens there before.
	firstDial = time.Second
	// goodbye bounds the request that ends a session.
	goodbye = time.Second
	// maxRedirects is how many redirects a request may follow.
	maxRedirects = 3
)

// checkURL refuses an address that no request can be sent to.
func (p *probe) checkURL() error {
	u, err := url.Parse(p.launch.URL)
	switch {
	case err != nil:
		return p.errorf(Failed, "the address of the server cannot be read as a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return p.errorf(Failed, "the address of the server begins with %q: give one with http or https", u.Scheme)
	case u.Host == "":
		return p.errorf(Failed, "the address of the server has no host")
	}
	return nil
}

// remote probes an address, after it has started the program that listens there
// if the launch has one.
func (p *probe) remote(ctx context.Context) (Report, error) {
	if p.launch.Command == "" {
		return p.reach(ctx)
	}
	if conn, err := p.dial(ctx, firstDial); err == nil {
		_ = conn.Close() // nothing was sent
		return Report{}, p.errorf(Failed, "something listens at the address before the program is started, and may be another server: end it, or leave the program out")
	}
	c, err := p.start(false)
	if err != nil {
		return Report{}, err
	}
	p.server = c
	defer func() {
		c.stop(p.grace())
		p.stderr = p.lastWordsOf(c)
	}()
	if err := p.listens(ctx, c); err != nil {
		return Report{}, err
	}
	return p.reach(ctx)
}

// running fails if the program that should be at the address has ended: then
// whatever answers there is another one.
func (p *probe) running() error {
	if p.server == nil {
		return nil
	}
	select {
	case <-p.server.exited:
		return p.errorf(Failed, "the program ended (%s): what answers at its address is another one", p.server.cmd.ProcessState.String())
	default:
		return nil
	}
}

// dial connects to the address of the launch.
func (p *probe) dial(ctx context.Context, within time.Duration) (net.Conn, error) {
	u, err := url.Parse(p.launch.URL)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // net knows http and https by name
	}
	dialer := &net.Dialer{Timeout: within}
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
}

// listens waits until something listens at the address of the launch.
func (p *probe) listens(ctx context.Context, c *child) error {
	poll := time.NewTicker(listenPoll)
	defer poll.Stop()
	for {
		conn, err := p.dial(ctx, 0)
		if err == nil {
			_ = conn.Close() // nothing was sent
			return p.running()
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.exited:
			return p.errorf(Failed, "the program ended (%s) before it listened at its address", c.cmd.ProcessState.String())
		}
	}
}

// reach opens a session at the address, in a second attempt without
// server/discover.
func (p *probe) reach(ctx context.Context) (Report, error) {
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	defer transport.CloseIdleConnections()
	report, err := p.reachOnce(ctx, transport, "")
	s := p.now()
	if err != nil && ctx.Err() == nil && s.phase == Handshake && !s.denied {
		report, err = p.reachOnce(ctx, transport, initializeOnly)
	}
	return report, err
}

// reachOnce opens one session. A first attempt has a part of the time for the
// handshake.
func (p *probe) reachOnce(ctx context.Context, transport http.RoundTripper, version string) (Report, error) {
	p.enter(Handshake)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if version == "" {
		timer := time.AfterFunc(min(discoverWait, p.budget/3), func() {
			if p.now().phase == Handshake {
				stop()
			}
		})
		defer timer.Stop()
	}
	client := &http.Client{
		Transport:     p.exchange(ctx, transport),
		CheckRedirect: p.redirect,
	}
	if p.launch.Transport == normalize.SSE {
		return p.session(ctx, &mcp.SSEClientTransport{Endpoint: p.launch.URL, HTTPClient: client, MaxEventSize: maxMessage}, version)
	}
	return p.session(ctx, &mcp.StreamableClientTransport{
		Endpoint: p.launch.URL, HTTPClient: client, MaxEventSize: maxMessage,
		MaxRetries: -1, DisableStandaloneSSE: true,
	}, version)
}

// redirect allows a few redirects within the server of the launch.
func (p *probe) redirect(req *http.Request, via []*http.Request) error {
	if !p.own(req.URL) {
		return p.foreign(req.URL)
	}
	if len(via) > maxRedirects {
		return errors.New("too many redirects")
	}
	return nil
}

// own reports whether an address belongs to the server of the launch: the same
// host and port, or the step from http to https on the same host.
func (p *probe) own(u *url.URL) bool {
	base, err := url.Parse(p.launch.URL)
	if err != nil {
		return false
	}
	same := u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host)
	upgrade := base.Scheme == "http" && u.Scheme == "https" && base.Port() == "" && u.Port() == ""
	return same || upgrade && strings.EqualFold(u.Hostname(), base.Hostname())
}

// foreign ends the probe because the server points to another one.
func (p *probe) foreign(u *url.URL) error {
	e := p.errorf(Failed, "the server points to another one, %q: if that is right, give its address", u.Scheme+"://"+u.Host)
	p.fail(e)
	return e
}

// roundTripper is a function as an [http.RoundTripper].
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// exchange sends requests with the headers of the launch, to its server only
// and no longer than ctx, and counts what comes back.
func (p *probe) exchange(ctx context.Context, next http.RoundTripper) roundTripper {
	return func(req *http.Request) (*http.Response, error) {
		if !p.own(req.URL) {
			return nil, p.foreign(req.URL)
		}
		// The SDK detaches some requests from the context of their caller.
		reqCtx, cancel := context.WithCancel(req.Context())
		context.AfterFunc(ctx, cancel)
		if req.Method == http.MethodDelete {
			timer := time.AfterFunc(goodbye, cancel)
			defer timer.Stop()
		}
		req = req.Clone(reqCtx)
		p.setHeaders(req)
		p.askedOver(req)
		res, err := next.RoundTrip(req)
		if err != nil {
			cancel()
			return nil, err
		}
		p.answered(res)
		res.Body = &body{ReadCloser: res.Body, probe: p, cancel: cancel, left: maxMessage, heard: listener{probe: p, stream: isStream(res)}}
		return res, nil
	}
}

// setHeaders adds the headers of the launch where the protocol sets none of its
// own.
func (p *probe) setHeaders(req *http.Request) {
	for _, h := range p.launch.Headers {
		switch {
		case strings.EqualFold(h.Name, "Host"):
			req.Host = h.Value
		case req.Header.Get(h.Name) == "":
			req.Header.Set(h.Name, h.Value)
		}
	}
}

// answered remembers a status that is an error, until there is one that is
// none.
func (p *probe) answered(res *http.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.denied = "", false
	if res.StatusCode >= http.StatusBadRequest {
		p.status = http.StatusText(res.StatusCode)
		p.status = strings.TrimSpace(res.Status[:3] + " " + p.status)
		p.denied = res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden
	}
}

func isStream(res *http.Response) bool {
	return strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
}

// A body counts what is read from it and ends the probe when that is too much.
type body struct {
	io.ReadCloser
	probe  *probe
	cancel context.CancelFunc
	left   int      // for a message; those of a stream are bounded by the SDK
	heard  listener // notes the messages
}

func (b *body) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	if !b.probe.take(n) {
		return 0, errTooLarge
	}
	if b.left -= n; b.left < 0 && !b.heard.stream {
		b.probe.fail(b.probe.errorf(TooLarge, "the server sent a message of more than %d bytes", maxMessage))
		return 0, errTooLarge
	}
	b.heard.write(data[:n])
	if errors.Is(err, io.EOF) {
		b.heard.end()
	}
	return n, err
}

// Close ends the request, too.
func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
