package result_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// FuzzText: whatever JSON a tool sends, a text client reads the same value in
// one last block, without white space between tokens, and a structured client
// reads it as structured content if it is an object.
func FuzzText(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"b c\u003c\\u003c\"\\\\\u0026"}`, ` [1, 2.50,{"x" : null}]`, `"\u003C"`, `null`, `-0.0e1`, `{"a`, `{"\\\u003e":"\ud83d\ude00"}`, "{\n\t\"a\":\r1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		valid := json.Valid([]byte(raw))
		for _, client := range []string{"codex", "Zed"} {
			made := &mcp.CallToolResult{StructuredContent: json.RawMessage(raw)}
			res, err := through(t, nil, "tools/call", callFrom(client, "1.0.0"), made, nil)
			if err != nil {
				t.Fatal(err)
			}
			out := res.(*mcp.CallToolResult)
			if _, err := json.Marshal(out); err != nil {
				t.Fatalf("%q for %s cannot be encoded: %v", raw, client, err)
			}
			if !valid || out.IsError {
				continue
			}
			got := out.StructuredContent
			if got == nil {
				got = json.RawMessage(textOf(out))
			} else if trimmed := strings.TrimLeft(raw, " \t\r\n"); client == "Zed" || trimmed[0] != '{' {
				t.Fatalf("%q for %s is structured", raw, client)
			}
			sameValue(t, raw, string(got.(json.RawMessage)), out.StructuredContent == nil)
		}
	})
}

func sameValue(t *testing.T, raw, got string, text bool) {
	t.Helper()
	var want, have any
	if err := json.Unmarshal([]byte(raw), &want); err != nil {
		return // a number that no float holds
	}
	if want == nil {
		want = map[string]any{}
	}
	if err := json.Unmarshal([]byte(got), &have); err != nil || !reflect.DeepEqual(want, have) {
		t.Fatalf("%q became %q, error %v", raw, got, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(got)); err != nil {
		t.Fatal(err)
	}
	if text && strings.ContainsAny(got, " \n") && compact.String() != got {
		t.Fatalf("%q became %q, which is not compact", raw, got)
	}
}

// FuzzFailure: whatever an error says, its result is one block of valid JSON
// with the code, and within the budget.
func FuzzFailure(f *testing.F) {
	f.Add("gone", "the note is gone", `{"path":"a.md"}`, uint16(1))
	f.Add("", "", `null`, uint16(0))
	f.Add("a\x00b", "\x01\xff<\u2028", `["\u003c"]`, uint16(3000))
	f.Add(strings.Repeat("x", 100), strings.Repeat(`"`, 1800), `{"paths":["a","b"]}`, uint16(1))
	f.Fuzz(func(t *testing.T, code, message, details string, times uint16) {
		message = strings.Repeat(message, int(times))
		e := &result.Error{Code: code, Message: message, Details: json.RawMessage(details)}
		for _, req := range []mcp.Request{callFrom("codex", "1.0.0"), new(mcp.CallToolRequest)} {
			res, err := through(t, nil, "tools/call", req, nil, fmt.Errorf("wrapped: %w", e))
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(res)
			if err != nil || len(data) > 7500 {
				t.Fatalf("%d bytes, error %v", len(data), err)
			}
			var got failure
			if err := json.Unmarshal([]byte(textOf(res)), &got); err != nil && json.Valid([]byte(details)) {
				var loose struct{ Error struct{ Code string } } // details of another form
				if err := json.Unmarshal([]byte(textOf(res)), &loose); err != nil {
					t.Fatalf("%v in %s", err, textOf(res))
				}
			}
			if !json.Valid([]byte(textOf(res))) {
				t.Fatalf("not JSON: %s", textOf(res))
			}
		}
	})
}

// FuzzVersion: a version is read by its numbers, and in no other way.
func FuzzVersion(f *testing.F) {
	for _, v := range []string{"2.0.21", "2.0.20", "v2.1.0", "2.1.0 (Claude Code)", "2.1", "10.0.0-rc.1", "2.0.21-", "2..1", "99999999999999999999.0.0", ""} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, version string) {
		c := result.Client{Name: "claude-code", Version: version, Protocol: "2025-11-25"}
		got := new(result.Options).ShapeFor(c)
		parts := strings.Split(version, ".")
		numbers := make([]int, 0, 3)
		for _, p := range parts {
			if n, err := strconv.Atoi(p); err == nil && strconv.Itoa(n) == p && n >= 0 {
				numbers = append(numbers, n)
			}
		}
		if len(parts) != 3 || len(numbers) != 3 {
			return // no plain version: the table test has what counts
		}
		a, b, c3 := numbers[0], numbers[1], numbers[2]
		want := result.Text
		if a > 2 || a == 2 && (b > 0 || c3 >= 21) {
			want = result.Structured
		}
		if got != want {
			t.Errorf("%q: got %v, want %v", version, got, want)
		}
	})
}

// FuzzOpen: nothing opens but what was sealed, for what it was sealed for.
func FuzzOpen(f *testing.F) {
	f.Add("", "", "state", "query")
	f.Add("AAAA", "query", "", "query")
	f.Fuzz(func(t *testing.T, sealed, bound, plain, sealedFor string) {
		s := result.NewSealer(0)
		var e *result.Error
		if _, err := s.Open(sealed, []byte(bound)); !errors.As(err, &e) || e.Code != result.CodeCursorInvalid {
			t.Fatalf("%q opens, or with error %v", sealed, err)
		}
		cursor, err := s.Seal([]byte(plain), []byte(sealedFor))
		if err != nil {
			if len(plain) <= 4<<10 {
				t.Fatal(err)
			}
			return
		}
		got, err := s.Open(cursor, []byte(sealedFor))
		if err != nil || string(got) != plain {
			t.Fatalf("got %q and error %v, want %q", got, err, plain)
		}
		if _, err := s.Open(cursor, []byte(bound)); (err == nil) != (bound == sealedFor) {
			t.Fatalf("sealed for %q, opened for %q: %v", sealedFor, bound, err)
		}
	})
}

// FuzzDiagnostic: the pages of any text, of any size, joined are the text.
func FuzzDiagnostic(f *testing.F) {
	f.Add("a€\"😀\n", uint16(7))
	f.Add("\x00<>\u2028\xff", uint16(1))
	f.Fuzz(func(t *testing.T, text string, maxBytes uint16) {
		if text == "" || len(text) > 100 {
			return
		}
		s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "v1"}, nil)
		result.Install(s, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "x"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New(text + strings.Repeat("x", 8000))
		})
		w, meta := pipe(t, s), perRequest("Zed", "1.0.0")
		reply, _ := callTool(t, w, meta, "x", `{}`)
		got := readAll(t, w, meta, failureOf(t, reply).Error.Details.DiagnosticID, max(200, int(maxBytes)))
		var e failure
		if err := json.Unmarshal([]byte(got), &e); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(text, "\uFFFD") + strings.Repeat("x", 8000); e.Error.Message != want {
			t.Errorf("got %.100q, want %.100q", e.Error.Message, want)
		}
	})
}
