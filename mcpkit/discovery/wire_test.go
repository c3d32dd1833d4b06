package discovery_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the answers of testdata anew")

// archive is the workspace of the tests, and a session on it.
const archive = "testdata/workspace.txtar"

// TestWire makes the requests of the session as each client.
func TestWire(t *testing.T) {
	ar, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	session := &ar.Files[len(ar.Files)-1]
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			r, root := newResolver(t, nil)
			p := dial(t, r, nil, id)
			var got strings.Builder
			for line := range strings.Lines(string(session.Data)) {
				if strings.HasPrefix(line, "=") || strings.HasPrefix(line, "!") {
					continue
				}
				got.WriteString(line)
				if request, ok := strings.CutPrefix(line, "> "); ok {
					got.WriteString(p.answer(strings.TrimSuffix(request, "\n")) + "\n")
				}
			}
			if strings.Contains(got.String(), root) {
				t.Error("an answer names a folder of this machine")
			}
			if *update {
				session.Data = []byte(got.String())
				if err := os.WriteFile(archive, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(session.Data), got.String()); diff != "" {
				t.Errorf("session (-want +got):\n%s", diff)
			}
		})
	}
}

// answer makes the request of one line and returns the line of its answer.
func (p *peer) answer(request string) string {
	p.tb.Helper()
	name, args, _ := strings.Cut(request, " ")
	if !strings.Contains(name, "/") {
		payload, failed, _ := p.call(name, args)
		if failed {
			return "! " + string(payload)
		}
		return "= " + string(payload)
	}
	r := p.send(name, args)
	if r.Error != nil {
		text, err := json.Marshal(r.Error)
		if err != nil {
			p.tb.Fatal(err)
		}
		return "!! " + string(text)
	}
	return "= " + p.plain(r.Result)
}

// plain drops what only one era of the protocol has.
func (p *peer) plain(result json.RawMessage) string {
	p.tb.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(result, &members); err != nil {
		p.tb.Fatal(err)
	}
	for _, name := range []string{"resultType", "_meta", "ttlMs", "cacheScope"} {
		delete(members, name)
	}
	text, err := json.Marshal(members)
	if err != nil {
		p.tb.Fatal(err)
	}
	return string(text)
}
