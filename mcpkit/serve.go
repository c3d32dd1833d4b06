package mcpkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxHeader   = 64 << 10
	maxBatch    = 64 << 10 // some hundred calls, which all run at once
	idleTimeout = 2 * time.Minute
)

// Serve serves connections from l until ctx ends, and closes l. Then it takes no new requests, ends streams, lets calls
// finish for as long as [HTTPOptions].Grace, and ends the sessions. It returns nil after an orderly end, and an error
// that wraps [context.DeadlineExceeded] if calls had to be left behind.
//
// Beyond the limits of the handler, request headers are limited to 64 KiB and an idle connection to two minutes.
func (h *HTTPHandler) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: h.opts.Timeout,
		WriteTimeout:      h.opts.Timeout, // until the first piece of a reply; the handler extends it for each
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         limitConns(h.opts.MaxConns),
		ErrorLog:          slog.NewLogLogger(h.opts.Logger.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	var failed error
	select {
	case failed = <-ended:
	case <-ctx.Done():
	}
	err := h.stop(context.WithoutCancel(ctx), server)
	if failed == nil {
		if closed := <-ended; !errors.Is(closed, http.ErrServerClosed) {
			failed = closed
		}
	}
	return errors.Join(failed, err)
}

// stop ends what server is doing, within the time that the options give it.
func (h *HTTPHandler) stop(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, h.opts.Grace)
	defer cancel()
	h.drain()
	err := errors.Join(server.Shutdown(ctx), h.Shutdown(ctx))
	if err == nil {
		return nil
	}
	_ = server.Close() // the connections that are left; the error is known
	return fmt.Errorf("stopping: calls did not end within %v: %w", h.opts.Grace, err)
}

// limitConns returns a hook that closes the connections beyond limit.
func limitConns(limit int) func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > int64(limit) {
				_ = c.Close() // the server notices and counts it as closed
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
}

// Shutdown refuses new requests, ends streams, and ends every session once its calls are answered. It returns the error
// of ctx if that takes longer; the sessions that are left end when their calls do.
//
// Calls of clients without sessions belong to the HTTP server: let its own Shutdown wait for them.
func (h *HTTPHandler) Shutdown(ctx context.Context) error {
	h.drain()
	var closing sync.WaitGroup
	for s := range h.server.Sessions() {
		if s.ID() != "" {
			closing.Go(func() { h.closeSession(s) })
		}
	}
	done := make(chan struct{})
	go func() {
		closing.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *HTTPHandler) closeSession(s *mcp.ServerSession) {
	if err := s.Close(); err != nil {
		h.opts.Logger.Warn("ending a session", slog.String("reason", err.Error()))
	}
}

// readBody replaces the body of r by one that is complete, so that nobody after it waits for the client. It reports
// whether that was possible; if not, it has answered.
func (h *HTTPHandler) readBody(w http.ResponseWriter, r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody {
		return true
	}
	// What has no deadlines is no connection. The server takes this one back with the end of the body.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.opts.Timeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.opts.MaxBody))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		h.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", h.opts.MaxBody))
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.refuse(w, r, http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %v", h.opts.Timeout))
	case err != nil:
		h.refuse(w, r, http.StatusBadRequest, "the body could not be read")
	case len(body) > maxBatch && bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")):
		h.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a batch may have at most %d bytes", maxBatch))
	case r.Method == http.MethodPost && len(body) > 0 && !json.Valid(body):
		// The SDK would take a value at its beginning and leave out the rest.
		h.refuseBody(w, r, "null", jsonrpc.CodeParseError, "the body is not one JSON value")
	case r.Method == http.MethodPost && !keepsID(body):
		h.refuseBody(w, r, string(idOf(body)), jsonrpc.CodeInvalidRequest, wantID)
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		return true
	}
	return false
}

// refuseBody answers a body that the SDK would not answer, or not under its id.
func (h *HTTPHandler) refuseBody(w http.ResponseWriter, r *http.Request, id string, code int64, message string) {
	h.noteRefusal(r, http.StatusBadRequest, message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	// A client that has gone needs no answer.
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

// A patientWriter gives the client some time for each piece of a reply, instead of a time for all of it: a reply may be
// a stream without an end. Between requests the server takes the deadline back.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func newPatientWriter(w http.ResponseWriter, timeout time.Duration) *patientWriter {
	p := &patientWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
	p.extend()
	return p
}

func (p *patientWriter) extend() {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.timeout)) // what has no deadlines is no connection
}

func (p *patientWriter) Write(data []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(data)
}

func (p *patientWriter) WriteHeader(status int) {
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

// Unwrap lets an http.ResponseController reach the connection.
func (p *patientWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
