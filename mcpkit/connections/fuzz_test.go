package connections_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/result"
)

// A request that could be carried out has its text replaced and nothing else; all
// others stay as they are.
func FuzzWithoutText(f *testing.F) {
	f.Add([]byte(`{"request":{"op":"prepare","text":"a \"b\"","name":"x"}}`))
	f.Add([]byte(`{"a":{"text":"b"}, "request" : { "text" : "\u0041", "op" : "prepare" } }`))
	f.Add([]byte(`{"request":{"op":"apply","proposalToken":"x1"}}`))
	f.Add([]byte(`{"request":{"op":"prepare","text":1,"text":"b"}}`))
	f.Add([]byte(`{"request":[{"op":"prepare","text":"b"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, text, found := connections.WithoutText(raw, "the-id")
		var want struct {
			Request map[string]json.RawMessage `json:"request"`
		}
		var outer map[string]json.RawMessage
		if json.Unmarshal(raw, &outer) != nil || json.Unmarshal(outer["request"], &want.Request) != nil {
			return // nothing that could be carried out
		}
		var op, whole string
		prepare := json.Unmarshal(want.Request["op"], &op) == nil && op == "prepare"
		hasText := json.Unmarshal(want.Request["text"], &whole) == nil && string(want.Request["text"]) != "null"
		if repeats(raw) {
			return // will be refused
		}
		if found != (prepare && hasText) {
			t.Fatalf("found %v in %s", found, raw)
		}
		if !found {
			return
		}
		if text != whole {
			t.Errorf("text %q, want %q", text, whole)
		}
		var before, after map[string]any
		if err := json.Unmarshal(raw, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		before["request"].(map[string]any)["text"] = "the-id"
		if !reflect.DeepEqual(before, after) {
			t.Errorf("got %s of %s", got, raw)
		}
	})
}

// repeats reports whether an object names a field twice, as far as its text tells.
func repeats(raw []byte) bool {
	for _, name := range []string{`request`, `op`, `text`} {
		if bytes.Count(bytes.ToLower(raw), []byte(name)) > 1 {
			return true
		}
	}
	return bytes.Contains(raw, []byte(`\u`)) // a name may be spelled so
}

// A JSON value whose strings are not changed stays the same value.
func FuzzRewriteStrings(f *testing.F) {
	f.Add([]byte(`{"a":[1.50,"x<",{"b":null}],"c":{}}`))
	f.Add([]byte(`{"a":"\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := connections.RewriteStrings(raw, func(_, value string) string { return value })
		var before, after any
		if json.Unmarshal(raw, &before) != nil || before == nil {
			return
		}
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Whatever is pasted, no secret stays in the record, and with the values in the
// places of the references it launches what was pasted.
func FuzzLift(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","args":["--token","canary-1","--header=X-Key: canary-2"],"env":{"T_KEY":"canary-33","U":"a ${B}"}}}}`))
	f.Add([]byte(`{"mcpServers":{"a":{"url":"https://u:canary-1@x.example.com/Zq7Vt2Lm9Rx4Kc8Wb3Nd6Hf1?key=c","headers":{"Authorization":"Bearer canary-2"}}}}`))
	f.Add([]byte("[mcp_servers.a]\ncommand = \"sh\"\nargs = [\"-c\", \"TOKEN=canary-1 x\"]\n"))
	f.Fuzz(checkLift)
}

// The same of all texts that package normalize is tested with.
func TestLiftKeepsLaunches(t *testing.T) {
	t.Parallel()
	wants, err := filepath.Glob("../../normalize/testdata/*/*.want")
	if err != nil || len(wants) < 90 {
		t.Fatalf("%d files, %v", len(wants), err)
	}
	for _, want := range wants {
		file := strings.TrimSuffix(want, ".want")
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkLift(t, text)
		})
	}
}

func checkLift(t *testing.T, text []byte) {
	t.Helper()
	paste, err := normalize.Parse(text, nil)
	if err != nil {
		return
	}
	for i := range paste.Servers {
		s := &paste.Servers[i]
		if s.Err != nil {
			continue
		}
		lifted, found, err := connections.Lift(s)
		if e, ok := errors.AsType[*result.Error](err); ok && e.Code == connections.CodeTooManySecrets {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		record, err := json.Marshal(&lifted)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range found {
			if len(value) >= 16 && !strings.ContainsAny(value, "\"\\<>&\u2028\u2029") && strings.Contains(string(record), value) && !strings.Contains(name, value) {
				t.Errorf("%q is in %s", value, record)
			}
		}
		vars := func(name string) (string, string, bool) {
			value, ok := found[name]
			return value, "pasted", ok
		}
		want, _, err := s.Expand(context.Background(), nil, &normalize.ExpandOptions{GOOS: "linux"})
		if err != nil {
			continue
		}
		got, _, err := lifted.Expand(context.Background(), []normalize.Vars{vars}, &normalize.ExpandOptions{GOOS: "linux"})
		if err != nil {
			t.Fatalf("%s: %v", record, err)
		}
		if diff := cmp.Diff([]any{want.Command, want.Args, want.Env, want.URL, want.Headers}, []any{got.Command, got.Args, got.Env, got.URL, got.Headers}); diff != "" {
			t.Errorf("launch (-want +got):\n%s", diff)
		}
	}
}
