package lookup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

var update = flag.Bool("update", false, "write what was found into the files of testdata/lookup")

// sources serves the files of a case: each name is a path below one of the four
// bases, and its text is the answer, after an optional line "HTTP code" with
// header lines and a blank line.
type sources map[string]string

func (s sources) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, ok := s[requestName(r)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	code := http.StatusOK
	if head, body, found := strings.Cut(text, "\n\n"); found && strings.HasPrefix(head, "HTTP ") {
		lines := strings.Split(head, "\n")
		code, _ = strconv.Atoi(strings.TrimPrefix(lines[0], "HTTP "))
		for _, line := range lines[1:] {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Set(name, value)
		}
		text = body
	}
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text))
}

// requestName is the path of a request with the parameters that tell requests of
// one source apart.
func requestName(r *http.Request) string {
	query := r.URL.Query()
	for _, same := range []string{"version", "limit", "first"} {
		query.Del(same)
	}
	name := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if len(query) > 0 {
		name += "?" + query.Encode()
	}
	return name
}

// serve starts a server for all four sources and gives the options for it.
func serve(t *testing.T, h http.Handler) (*lookup.Options, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	base := server.URL
	return &lookup.Options{
		Registry: base + "/registry", GitHubAPI: base + "/api", GitHubRaw: base + "/raw", Glama: base + "/glama",
		Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	}, base
}

// scripted is an agent that gives the answer of a case.
type scripted string

func (a scripted) Answer(context.Context, lookup.Task) (string, error) { return string(a), nil }

func TestResolve(t *testing.T) {
	files, err := filepath.Glob("testdata/lookup/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var reference, want string
	var agent lookup.Agent
	answers := sources{}
	for _, f := range archive.Files {
		switch f.Name {
		case "reference":
			reference = strings.TrimSuffix(string(f.Data), "\n")
		case "want":
			want = string(f.Data)
		case "agent":
			agent = scripted(f.Data)
		default:
			answers[f.Name] = string(f.Data)
		}
	}
	opts, base := serve(t, answers)
	opts.Agent = agent
	server, evidence, err := lookup.New(opts).Resolve(t.Context(), reference)
	got := strings.ReplaceAll(shown(t, &server, evidence, err), base+"/", "/")
	got = strings.ReplaceAll(got, strings.TrimPrefix(base, "http://"), "HOST")
	if *update {
		for i, f := range archive.Files {
			if f.Name == "want" {
				archive.Files[i].Data = []byte(got)
			}
		}
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// shown writes a result down in a form that a person reads in a case's file.
func shown(t *testing.T, server *normalize.Server, evidence lookup.Evidence, err error) string {
	t.Helper()
	var b strings.Builder
	if err != nil {
		if server.Name != "" || server.Transport != "" {
			t.Errorf("a record beside the error: %v", server)
		}
		fmt.Fprintf(&b, "%s\n%v\n", lookup.CodeOf(err), err)
	} else {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", " ")
		bare := *server
		bare.Notes, bare.Extra = nil, nil
		if err := encoder.Encode(bare); err != nil {
			t.Fatal(err)
		}
		b.Write(out.Bytes())
		for _, n := range server.Notes {
			fmt.Fprintln(&b, "note", n)
		}
	}
	fmt.Fprintf(&b, "\n%v\n", evidence)
	return b.String()
}
