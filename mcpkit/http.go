package mcpkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// firstStateless is the first protocol version that has no sessions.
const firstStateless = "2026-07-28"

// HTTPOptions configure an [HTTPHandler]. A nil *HTTPOptions and the zero value are ready to use and serve this machine
// only; nothing is changed in them.
type HTTPOptions struct {
	// Hosts are the names in the Host header under which others reach the server, without port. localhost and loopback
	// addresses are always served; every other name is refused, since a web page could have its own name point at a
	// server that is not meant for it (DNS rebinding).
	Hosts []string

	// Origins are the origins, such as https://app.example.com, whose web pages may use the server; they get the CORS
	// headers for it. Pages of the server's own origin may too. All other pages are refused. Programs other than
	// browsers send no Origin.
	Origins []string

	// Verify, if not nil, checks the bearer token of each request. The UserID that it returns becomes the [Principal]
	// and must not be empty; a session is only served to the user that began it. What its errors say is logged and not
	// sent. nil lets everybody in.
	Verify auth.TokenVerifier

	// Bearer says more about tokens: required scopes, where clients find the authorization server, clock skew. It is
	// used only with Verify. nil is its zero value.
	Bearer *auth.RequireBearerTokenOptions

	// MaxBody is the most bytes of a request body. Zero means 4 MiB. A batch, which protocol 2025-03-26 knows, may have at
	// most 64 KiB.
	MaxBody int64

	// Timeout is how long a client may take to send a request, and to accept each piece of a reply. It does not limit how
	// long a call runs. Zero means 30 seconds.
	Timeout time.Duration

	// SessionTimeout ends sessions of the handshake era that send nothing for so long. Zero means 30 minutes.
	SessionTimeout time.Duration

	// MaxSessions is the most sessions of the handshake era at a time. Beyond it, initialize is refused with status 503.
	// Zero means 1,000.
	MaxSessions int

	// MaxConns is the most connections that [HTTPHandler.Serve] has open at a time; it closes what comes beyond. Zero
	// means 1,000.
	MaxConns int

	// Grace is how long [HTTPHandler.Serve] lets calls finish when it is told to stop. Zero means 10 seconds.
	Grace time.Duration

	// Logger gets one record for each refused request, and what net/http and the SDK complain about. nil logs nothing.
	Logger *slog.Logger
}

// HTTPHandler serves one MCP server over streamable HTTP, to clients of both protocol eras on one URL: requests whose
// MCP-Protocol-Version header says 2026-07-28 or later are served without sessions, all others in sessions. It serves
// every path except those below /.well-known/.
//
// It is safe for concurrent use. Use [HTTPHandler.Serve], or hang it into a server with read, idle and header limits of
// its own and call [HTTPHandler.Shutdown] in the end, which ends the sessions.
type HTTPHandler struct {
	server    *mcp.Server
	opts      HTTPOptions
	origin    *http.CrossOriginProtection
	guarded   http.Handler // checks the token, then calls route
	sessions  http.Handler
	stateless http.Handler
	starting  atomic.Int64 // requests that may be starting a session
	drain     func()       // closes draining, once
	draining  chan struct{}
}

// NewHTTPHandler returns a handler for s. The error says which of the options has no meaning.
func NewHTTPHandler(s *mcp.Server, opts *HTTPOptions) (*HTTPHandler, error) {
	if s == nil {
		return nil, errors.New("new http handler: the server is nil")
	}
	h := &HTTPHandler{server: s, opts: opts.withDefaults(), origin: http.NewCrossOriginProtection(), draining: make(chan struct{})}
	h.drain = sync.OnceFunc(func() { close(h.draining) })
	for _, origin := range h.opts.Origins {
		if err := h.origin.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("new http handler: %w", err)
		}
	}
	for _, host := range h.opts.Hosts {
		if host == "" || net.ParseIP(host) == nil && strings.ContainsAny(host, "/:@?#[]*, \t") {
			return nil, fmt.Errorf("new http handler: host %q is not a name without scheme, port and path", clip(host))
		}
	}
	get := func(*http.Request) *mcp.Server { return s }
	sdk := mcp.StreamableHTTPOptions{
		Logger:                       h.opts.Logger,
		SessionTimeout:               h.opts.SessionTimeout,
		MaxRequestBodyBytes:          -1,   // the body is read and bounded before
		DisableLocalhostProtection:   true, // so are hosts, also where a proxy on this machine serves another name
		PropagateRequestCancellation: true, // without sessions a call is of no use to a client that has gone
	}
	h.sessions = mcp.NewStreamableHTTPHandler(get, &sdk)
	sdk.Stateless = true
	h.stateless = mcp.NewStreamableHTTPHandler(get, &sdk)
	h.guarded = http.HandlerFunc(h.route)
	if h.opts.Verify != nil {
		h.guarded = auth.RequireBearerToken(h.verify, h.opts.Bearer)(h.guarded)
	}
	return h, nil
}

func (o *HTTPOptions) withDefaults() HTTPOptions {
	var opts HTTPOptions
	if o != nil {
		opts = *o
	}
	opts.MaxBody = cmp.Or(opts.MaxBody, 4<<20)
	opts.Timeout = cmp.Or(opts.Timeout, 30*time.Second)
	opts.SessionTimeout = cmp.Or(opts.SessionTimeout, 30*time.Minute)
	opts.MaxSessions = cmp.Or(opts.MaxSessions, 1000)
	opts.MaxConns = cmp.Or(opts.MaxConns, 1000)
	opts.Grace = cmp.Or(opts.Grace, 10*time.Second)
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return opts
}

// ServeHTTP serves one request. It refuses with status 403 a foreign Host or Origin, with 401 or 403 a bad token, with
// 413 and 408 a body that is too large or too slow, with 400 and the parse error of JSON-RPC a body that is not one JSON
// value, and with 503 a session too many and everything after [HTTPHandler.Shutdown].
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = newPatientWriter(w, h.opts.Timeout)
	select {
	case <-h.draining:
		h.refuse(w, r, http.StatusServiceUnavailable, "the server is stopping")
		return
	default:
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/.well-known/"):
		http.NotFound(w, r)
	case !h.ownHost(r.Host):
		h.refuse(w, r, http.StatusForbidden, "this server is not known by the name in the Host header")
	case !h.ownOrigin(r):
		h.refuse(w, r, http.StatusForbidden, "web pages of this origin may not use the server")
	case h.cors(w, r):
		w.WriteHeader(http.StatusNoContent)
	default:
		h.guarded.ServeHTTP(w, r)
	}
}

// refuse answers with a fixed text, so that nothing of the request comes back.
func (h *HTTPHandler) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	h.noteRefusal(r, status, text)
	http.Error(w, text, status)
}

func (h *HTTPHandler) noteRefusal(r *http.Request, status int, reason string) {
	h.opts.Logger.LogAttrs(r.Context(), slog.LevelWarn, "request refused",
		slog.Int("status", status), slog.String("reason", reason), slog.String("remote", r.RemoteAddr))
}

// hostname returns a Host header in lower case and without port.
func hostname(host string) string {
	return strings.ToLower((&url.URL{Host: host}).Hostname())
}

func (h *HTTPHandler) ownHost(host string) bool {
	name := hostname(host)
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(h.opts.Hosts, func(own string) bool { return strings.EqualFold(own, name) })
}

// ownOrigin applies the cross-origin rules of net/http to every method: there a GET is taken to be harmless, here it
// reads what a server has to say.
func (h *HTTPHandler) ownOrigin(r *http.Request) bool {
	as := http.Request{Method: http.MethodPost, Host: r.Host, Header: r.Header, URL: r.URL}
	return h.origin.Check(&as) == nil
}

// cors lets pages of a trusted origin read replies, and reports whether the request only asks what it may send.
func (h *HTTPHandler) cors(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if !slices.Contains(h.opts.Origins, origin) {
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	return true
}

// verify asks the caller's verifier, and keeps what it says about a failure from the client.
func (h *HTTPHandler) verify(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
	info, err := h.opts.Verify(ctx, token, r)
	if err == nil && info != nil && info.UserID == "" {
		err = errors.New("the verifier returned no UserID")
	}
	if err == nil {
		return info, nil
	}
	h.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "token refused", slog.String("reason", err.Error()), slog.String("remote", r.RemoteAddr))
	for _, known := range []error{auth.ErrInvalidToken, auth.ErrOAuth} {
		if errors.Is(err, known) {
			return nil, known
		}
	}
	return nil, errors.New("the token could not be verified")
}

// route hands a request that may be served to the handler of its era.
func (h *HTTPHandler) route(w http.ResponseWriter, r *http.Request) {
	if !h.readBody(w, r) {
		return
	}
	stateless := r.Header.Get("Mcp-Protocol-Version") >= firstStateless
	if r.Method == http.MethodGet || stateless && r.Header.Get("Mcp-Method") == "subscriptions/listen" {
		ctx, cancel := h.untilDrained(r.Context())
		defer cancel()
		r = r.WithContext(ctx)
	}
	if stateless {
		h.stateless.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
		// A request that is about to start a session counts until it is answered, so that many at once find no gap.
		starting := h.starting.Add(1)
		defer h.starting.Add(-1)
		if h.sessionCount()+int(starting) > h.opts.MaxSessions {
			w.Header().Set("Retry-After", "60")
			h.refuse(w, r, http.StatusServiceUnavailable, "there are too many sessions")
			return
		}
	}
	h.sessions.ServeHTTP(w, r)
}

// untilDrained ends a context when the server stops: a stream has no end of its own.
func (h *HTTPHandler) untilDrained(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-h.draining:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (h *HTTPHandler) sessionCount() (n int) {
	for s := range h.server.Sessions() {
		if s.ID() != "" { // without an id it belongs to one request, or to another transport
			n++
		}
	}
	return n
}
