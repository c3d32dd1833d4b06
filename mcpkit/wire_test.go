package mcpkit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the replies in testdata/wire")

const childVariable = "MCPKIT_TEST_CHILD"

// TestMain runs the test server over stdio instead of the tests when TestWireStdio starts the test program again.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	server, err := newTestServer()
	if err == nil {
		err = server.Run(context.Background(), &mcp.StdioTransport{})
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

// A wire case is a txtar file with one file "wire": lines that start with ">" are sent, and each request is answered by
// the line after it, which starts with "<". $META stands for the request metadata in the file "meta".

func TestWire(t *testing.T) {
	forEachCase(t, func(t *testing.T) exchange {
		t.Helper()
		clientIn, serverOut := io.Pipe()
		serverIn, clientOut := io.Pipe()
		server, err := newTestServer()
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.WithoutCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- server.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut})
		}()
		t.Cleanup(func() {
			clientOut.Close()
			if err := <-ended; err != nil {
				t.Errorf("server ended with %v", err)
			}
		})
		return lines(t, clientOut, clientIn)
	})
}

func TestWireStdio(t *testing.T) {
	forEachCase(t, func(t *testing.T) exchange {
		t.Helper()
		child := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
		child.Env = append(os.Environ(), childVariable+"=1", "GORACE=atexit_sleep_ms=0")
		var stderr strings.Builder
		child.Stderr = &stderr
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			if err := child.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("child ended with %v, stderr %q", err, stderr.String())
			}
		})
		return lines(t, in, out)
	})
}

func TestWireHTTP(t *testing.T) {
	forEachCase(t, func(t *testing.T) exchange {
		t.Helper()
		server, err := newTestServer()
		if err != nil {
			t.Fatal(err)
		}
		client := &poster{url: serve(t, server, nil)}
		return func(request string) string {
			status, reply := client.post(t, request)
			if status == http.StatusAccepted {
				return ""
			}
			return reply
		}
	})
}

// An exchange sends one message and returns the reply, which is empty for a notification.
type exchange func(request string) string

// lines is the exchange of the stdio transport.
func lines(t *testing.T, w io.Writer, r io.Reader) exchange {
	t.Helper()
	replies := bufio.NewReader(r)
	return func(request string) string {
		if _, err := io.WriteString(w, request); err != nil {
			t.Fatalf("sending %s: %v", request, err)
		}
		if !strings.Contains(request, `"id":`) {
			return ""
		}
		reply, err := replies.ReadString('\n')
		if err != nil {
			t.Fatalf("no reply to %s: %v", request, err)
		}
		return reply
	}
}

func forEachCase(t *testing.T, start func(*testing.T) exchange) {
	t.Helper()
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			send := start(t)
			for i, f := range archive.Files {
				if f.Name != "wire" {
					continue
				}
				want := string(f.Data)
				got := converse(t, want, fileNamed(archive, "meta"), send)
				if *update {
					archive.Files[i].Data = []byte(got)
					if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("wire (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// converse sends the lines of a script that start with ">" and returns the script with the replies that came.
func converse(t *testing.T, script, meta string, send exchange) string {
	t.Helper()
	var got strings.Builder
	for line := range strings.Lines(script) {
		request, ok := strings.CutPrefix(line, "> ")
		if !ok {
			if !strings.HasPrefix(line, "<") {
				got.WriteString(line)
			}
			continue
		}
		got.WriteString(line)
		request = strings.ReplaceAll(request, "$META", strings.TrimSpace(meta))
		if !json.Valid([]byte(request)) {
			t.Fatalf("not JSON: %s", request)
		}
		if reply := send(request); reply != "" {
			got.WriteString("< " + reply)
		}
	}
	return got.String()
}

func fileNamed(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}
