package lookup

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what is fetched.
const (
	maxHops       = 5       // redirects of one request
	maxRequests   = 20      // requests of one lookup
	cachedAnswers = 64      // answers kept for conditional requests
	cachedBytes   = 4 << 20 // and their size
)

// A fetcher asks the sources. It is safe for concurrent use.
type fetcher struct {
	client   http.Client
	hosts    map[string]string // the allowed hosts, with their scheme
	maxBytes int64
	now      func() time.Time

	mu     sync.Mutex
	cache  map[string]answer
	oldest []string             // addresses in the cache, in the order they came
	size   int                  // bytes in the cache
	closed map[string]time.Time // hosts that want no request before a time
}

// An answer is what a source said.
type answer struct {
	found bool
	body  []byte
	url   string // after redirects
	etag  string
	since string // Last-Modified
}

// newFetcher makes a fetcher that asks the hosts of bases and no other.
func newFetcher(o *Options, bases []*url.URL) *fetcher {
	f := &fetcher{
		hosts: map[string]string{}, maxBytes: o.maxBytes(), now: o.now(),
		cache: map[string]answer{}, closed: map[string]time.Time{},
	}
	for _, b := range bases {
		f.hosts[strings.ToLower(b.Host)] = b.Scheme
	}
	if o != nil && o.Client != nil {
		f.client = *o.Client
	}
	f.client.Jar = nil                  // cookies would be credentials
	f.client.CheckRedirect = f.checkHop // each hop is checked like a first request
	return f
}

// checkHop is asked for every redirect.
func (f *fetcher) checkHop(req *http.Request, via []*http.Request) error {
	if len(via) > maxHops {
		return &Error{Code: CodeIncomplete, Message: "a source redirects more than " + strconv.Itoa(maxHops) + " times"}
	}
	req.Header.Del("Referer")
	return f.allowed(req.URL)
}

// allowed tells whether an address may be asked: its host is one of the bases',
// and the scheme is the base's own, which is https unless an option says http.
func (f *fetcher) allowed(u *url.URL) error {
	scheme, ok := f.hosts[strings.ToLower(u.Host)]
	if !ok || u.Scheme != scheme || u.User != nil {
		return &Error{Code: CodeHostRefused, Message: fmt.Sprintf("%s is not asked: only the configured sources are", clip(u.Scheme+"://"+u.Host))}
	}
	return nil
}

// get asks for one address. A source that has nothing there is an answer that is
// not found; every other failure is an [*Error].
func (f *fetcher) get(ctx context.Context, address string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return answer{}, &Error{Code: CodeHostRefused, Message: "an address of a source is not valid", Err: err}
	}
	if err := f.allowed(req.URL); err != nil {
		return answer{}, err
	}
	if reset, closed := f.closedUntil(req.URL.Host); closed {
		return answer{}, limited(req.URL.Host, reset)
	}
	old := f.cached(address)
	req.Header.Set("User-Agent", "mcpcontract-lookup")
	req.Header.Set("Accept", "application/json, text/plain;q=0.9, */*;q=0.5")
	// The tag says more than the date, which has seconds only.
	if old.etag != "" {
		req.Header.Set("If-None-Match", old.etag)
	} else if old.since != "" {
		req.Header.Set("If-Modified-Since", old.since)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return answer{}, failed(ctx, req.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }() // the answer has been read by then
	return f.read(ctx, address, old, resp)
}

// read takes an answer apart.
func (f *fetcher) read(ctx context.Context, address string, old answer, resp *http.Response) (answer, error) {
	host := resp.Request.URL.Host
	switch code := resp.StatusCode; {
	case code == http.StatusNotModified && old.found:
		return old, nil
	case code == http.StatusNotFound || code == http.StatusGone:
		return answer{url: resp.Request.URL.String()}, nil
	case code == http.StatusTooManyRequests || code == http.StatusForbidden && isLimit(resp.Header):
		reset := resetTime(resp.Header, f.now())
		f.closeUntil(host, reset)
		return answer{}, limited(host, reset)
	case code != http.StatusOK:
		return answer{}, &Error{Code: CodeIncomplete, Message: host + statusOf(code)}
	}
	// The bound holds for the text after decompression, which is done by then.
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.maxBytes+1))
	switch {
	case err != nil:
		return answer{}, failed(ctx, host, err)
	case int64(len(body)) > f.maxBytes:
		return answer{}, &Error{Code: CodeTooLarge, Message: fmt.Sprintf("an answer of %s is over %d bytes", host, f.maxBytes)}
	}
	a := answer{
		found: true, body: body, url: resp.Request.URL.String(),
		etag: resp.Header.Get("ETag"), since: resp.Header.Get("Last-Modified"),
	}
	f.keep(address, a)
	return a, nil
}

// limited is the error of a source that wants a pause.
func limited(host string, reset time.Time) *Error {
	e := &Error{Code: CodeRateLimited, Message: host + " wants no more requests for now", Reset: reset}
	if !reset.IsZero() {
		e.Message += "; try again at " + reset.UTC().Format(time.RFC3339)
	}
	return e
}

// isLimit tells a limit from other refusals: GitHub answers 403 for both.
func isLimit(h http.Header) bool {
	return h.Get("X-Ratelimit-Remaining") == "0" || h.Get("Retry-After") != ""
}

// maxReset bounds for how long a source can make itself not be asked.
const maxReset = 24 * time.Hour

// resetTime reads when a source may be asked again. Retry-After, in seconds or
// as a date, says more about this request than the window of the limit.
func resetTime(h http.Header, now time.Time) time.Time {
	var at time.Time
	if after := h.Get("Retry-After"); after != "" {
		if s, err := strconv.ParseInt(after, 10, 32); err == nil && s >= 0 {
			at = now.Add(time.Duration(s) * time.Second)
		} else if t, err := http.ParseTime(after); err == nil {
			at = t
		}
	} else if s, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && s > 0 {
		at = time.Unix(s, 0)
	}
	if at.Sub(now) > maxReset {
		at = now.Add(maxReset)
	}
	return at
}

// closedUntil tells whether a host wants no requests now, and until when.
func (f *fetcher) closedUntil(host string) (time.Time, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reset, ok := f.closed[host]
	if ok && !f.now().Before(reset) {
		delete(f.closed, host)
		return time.Time{}, false
	}
	return reset, ok
}

// closeUntil remembers a pause. One without an end is not kept: it would last for
// ever.
func (f *fetcher) closeUntil(host string, reset time.Time) {
	if reset.IsZero() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed[host] = reset // hosts are the allowed ones, so the map is small
}

// cached gives the answer that is remembered for an address, or none.
func (f *fetcher) cached(address string) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cache[address]
}

// keep stores an answer that can be asked for again under a condition, and
// drops the oldest where there is no room.
func (f *fetcher) keep(address string, a answer) {
	if a.etag == "" && a.since == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(address)
	f.cache[address] = a
	f.oldest = append(f.oldest, address)
	f.size += len(a.body)
	for len(f.oldest) > cachedAnswers || f.size > cachedBytes {
		f.drop(f.oldest[0])
	}
}

// drop forgets an address. The lock is held.
func (f *fetcher) drop(address string) {
	old, ok := f.cache[address]
	if !ok {
		return
	}
	delete(f.cache, address)
	f.size -= len(old.body)
	for i, kept := range f.oldest {
		if kept == address {
			f.oldest = append(f.oldest[:i:i], f.oldest[i+1:]...)
			break
		}
	}
}
