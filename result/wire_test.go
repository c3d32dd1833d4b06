package result_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the replies in testdata/wire")

// A wire sends one line of JSON and returns the line that answers it, empty
// for a notification.
type wire interface {
	send(tb testing.TB, line string) string
}

// transports are the two ways to reach a server. Whatever a test sees on one
// it must see on the other.
var transports = []struct {
	name string
	open func(*testing.T, serverConfig) wire
}{
	{"stdio", openStdio},
	{"http", openHTTP},
}

// A child is a server process: this test binary, started again.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func openStdio(t *testing.T, config serverConfig) wire {
	t.Helper()
	return startChild(t, config)
}

func startChild(t *testing.T, config serverConfig) *child {
	t.Helper()
	value, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, exe)
	// A program with the race detector sleeps for a second before it ends.
	cmd.Env = append(os.Environ(), serverVariable+"="+string(value), "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
		cancel()
	})
	return &child{cmd, in, bufio.NewReaderSize(out, 1<<20)}
}

func (c *child) write(tb testing.TB, line string) {
	tb.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		tb.Fatalf("writing to the server: %v", err)
	}
}

func (c *child) send(tb testing.TB, line string) string {
	tb.Helper()
	c.write(tb, line)
	if !isCall(tb, line) {
		return ""
	}
	reply, err := c.out.ReadString('\n')
	if err != nil {
		tb.Fatalf("no reply to %.200s: %v", line, err)
	}
	return strings.TrimSuffix(reply, "\n")
}

// ends waits until the server says a line, which it returns, or ends.
func (c *child) ends(t *testing.T) (line string, ended bool) {
	t.Helper()
	line, err := c.out.ReadString('\n')
	return line, err == io.EOF
}

// rest closes the server's input and returns what it still says.
func (c *child) rest(t *testing.T) string {
	t.Helper()
	c.in.Close()
	data, err := io.ReadAll(c.out)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func isCall(tb testing.TB, line string) bool {
	tb.Helper()
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		tb.Fatalf("%v in %.200s", err, line)
	}
	return m.ID != nil
}

// A web is a server behind HTTP on loopback, one URL for each era.
type web struct {
	stateful, stateless *httptest.Server
	session             string
}

func openHTTP(t *testing.T, config serverConfig) wire {
	t.Helper()
	s := fixture(config)
	get := func(*http.Request) *mcp.Server { return s }
	w := &web{
		stateful:  httptest.NewServer(mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true})),
		stateless: httptest.NewServer(mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true})),
	}
	t.Cleanup(func() {
		for session := range s.Sessions() {
			session.Close()
		}
		w.stateful.Close()
		w.stateless.Close()
	})
	return w
}

func (w *web) send(tb testing.TB, line string) string {
	tb.Helper()
	var m struct {
		Method string
		Params struct {
			Name, URI string
			Meta      map[string]any `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		tb.Fatalf("%v in %.200s", err, line)
	}
	url := w.stateful.URL
	version, perRequest := m.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
	if perRequest {
		url = w.stateless.URL
	}
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(line))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	switch {
	case perRequest:
		req.Header.Set("Mcp-Protocol-Version", version)
		req.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	case m.Method != "initialize":
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	client := http.Client{Timeout: time.Minute} // a call that is never answered is a failure
	res, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	if m.Method == "initialize" {
		w.session = res.Header.Get("Mcp-Session-Id")
	}
	if body := bytes.TrimSpace(body); len(body) > 0 && !json.Valid(body) { // the status of a JSON-RPC error varies
		tb.Fatalf("status %s for %.200s: %s", res.Status, line, body)
	}
	return string(bytes.TrimSpace(body))
}

// TestWire plays each file of testdata/wire over both transports: lines that
// start with "> " are sent, lines that start with "< " must come back.
// Diagnostic ids are random and stand as {id}.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, tr := range transports {
				t.Run(tr.name, func(t *testing.T) {
					if !*update {
						t.Parallel()
					}
					play(t, file, archive, tr.open)
				})
			}
		})
	}
}

var diagnosticID = regexp.MustCompile(`\b[A-Z2-7]{26}\b`)

func play(t *testing.T, file string, archive *txtar.Archive, open func(*testing.T, serverConfig) wire) {
	t.Helper()
	var config serverConfig
	for i, f := range archive.Files {
		if f.Name == "config" {
			if err := json.Unmarshal(f.Data, &config); err != nil {
				t.Fatal(err)
			}
			continue
		}
		w := open(t, config) // a connection of its own for each section
		want := string(f.Data)
		var got strings.Builder
		id := ""
		for line := range strings.Lines(want) {
			request, ok := strings.CutPrefix(line, "> ")
			if !ok {
				continue
			}
			got.WriteString(line)
			reply := w.send(t, strings.ReplaceAll(strings.TrimSpace(request), "{id}", id))
			if reply == "" {
				continue
			}
			if found := diagnosticID.FindString(reply); found != "" {
				id = found
			}
			fmt.Fprintf(&got, "< %s\n", diagnosticID.ReplaceAllString(reply, "{id}"))
		}
		if *update {
			archive.Files[i].Data = []byte(got.String())
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("section %s (-want +got):\n%s", f.Name, diff)
		}
	}
}

// A piped is a server in this process behind its stdio transport.
type piped struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func pipe(tb testing.TB, s *mcp.Server) *piped {
	tb.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(context.Background(), &mcp.IOTransport{Reader: inR, Writer: outW})
	}()
	tb.Cleanup(func() {
		inW.Close()
		outR.Close()
		<-done
	})
	return &piped{inW, bufio.NewReaderSize(outR, 1<<20)}
}

func (p *piped) send(tb testing.TB, line string) string {
	tb.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		tb.Fatal(err)
	}
	if !isCall(tb, line) {
		return ""
	}
	reply, err := p.out.ReadString('\n')
	if err != nil {
		tb.Fatalf("no reply to %.200s: %v", line, err)
	}
	return strings.TrimSuffix(reply, "\n")
}
