package transcript_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
	"github.com/mcpcontract/mcpcontract/examples/internal/transcript"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

type input struct {
	Fail bool `json:"fail,omitempty" jsonschema:"fail instead"`
}

type output struct {
	Text   string   `json:"text"`
	Digest string   `json:"digest"`
	Empty  []string `json:"empty"`
	Long   []string `json:"long"`
	Nested struct {
		A int  `json:"a"`
		B bool `json:"b"`
	} `json:"nested"`
}

func newServer(t *testing.T) *mcp.Server {
	t.Helper()
	tool := mcpkit.Tool[input, output]{
		Name: "show", Description: "Show a value.", Effect: mcpkit.ReadOnly,
		Run: func(_ context.Context, in input) (out output, err error) {
			if in.Fail {
				return out, &result.Error{Code: "no_luck", Message: "it did not work"}
			}
			out.Text = "one\n\ntwo\n"
			out.Digest = strings.Repeat("0123abcd", 8)
			out.Long = []string{strings.Repeat("x", 60) + " y", strings.Repeat("z", 60)}
			return out, nil
		},
	}
	page := mcpkit.ResourceTemplate{
		URI: "page://{name}/text", Name: "page",
		Read: func(_ context.Context, name string) ([]*mcp.ResourceContents, error) {
			if name != "one" {
				return nil, nil
			}
			return []*mcp.ResourceContents{
				{URI: "page://one/text", MIMEType: "text/plain", Text: "a line\n"},
				{URI: "page://one/text#more", MIMEType: "application/json", Text: `{"n":1}`},
			}, nil
		},
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, tool.Install, page.Install)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

var steps = []transcript.Step{
	{Title: "A value", Tool: "show"},
	{Title: "A failure", Tool: "show", Args: map[string]any{"fail": true}},
	{Title: "No such tool", Tool: "none"},
	{Title: "A resource", Resource: "page://one/text"},
	{Title: "No such resource", Resource: "page://two/text"},
}

func TestPlay(t *testing.T) {
	const text = `######## Zed 0.1, a session of protocol 2025-11-25

== A value
-> show {}
<- one text block of JSON, N bytes
   text:
      | one
      |
      | two
   digest: 0123abcd0123...
   empty: []
   long:
      - xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx y
      - zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
   nested: {a: 0, b: false}

== A failure
-> show {"fail":true}
<- an error, as text, N bytes
   error: {code: no_luck, message: it did not work}

== No such tool
-> none {}
<- protocol error -32602
   message: unknown tool "none"

== A resource
-> resources/read page://one/text
<- page://one/text, text/plain
   | a line
<- page://one/text#more, application/json
   n: 1

== No such resource
-> resources/read page://two/text
<- protocol error -32602
   message: Resource not found
   data: {uri: page://two/text}
`
	structured := strings.NewReplacer(
		"Zed 0.1, a session of protocol 2025-11-25", "codex 1, protocol 2026-07-28, without a session",
		"one text block of JSON", "structuredContent",
	).Replace(text)
	for want, id := range map[string]peer.Identity{
		text:       {Name: "Zed", Version: "0.1"},
		structured: {Name: "codex", Version: "1", PerRequest: true},
	} {
		t.Run(id.Name, func(t *testing.T) {
			var out strings.Builder
			if err := transcript.Play(t.Context(), &out, newServer(t), id, steps); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, withoutSizes(out.String())); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

// withoutSizes replaces sizes, which depend on the build, by N.
func withoutSizes(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutSuffix(l, " bytes\n"); ok {
			l = rest[:strings.LastIndexByte(rest, ' ')+1] + "N bytes\n"
		}
		b.WriteString(l)
	}
	return b.String()
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestPlayWriteError(t *testing.T) {
	err := transcript.Play(t.Context(), fullDisk{}, newServer(t), peer.Identity{Name: "Zed"}, steps)
	if !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}

func TestPlayCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := transcript.Play(ctx, &strings.Builder{}, newServer(t), peer.Identity{Name: "Zed"}, steps); err == nil {
		t.Error("no error")
	}
}

type grown struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

// A step sends what an earlier reply had, and somebody acts in between.
func TestHeld(t *testing.T) {
	type none struct{}
	give := mcpkit.Tool[none, grown]{
		Name: "give", Description: "Give a token.", Effect: mcpkit.ReadOnly,
		Run: func(context.Context, none) (grown, error) { return grown{"one", "x1_secret"}, nil },
		Blocks: func(_ context.Context, _ none, out grown) ([]mcp.Content, grown) {
			return []mcp.Content{&mcp.TextContent{Text: "two\nlines"}}, out
		},
	}
	type taken struct {
		Token string `json:"token" jsonschema:"the token"`
	}
	var got []string
	take := mcpkit.Tool[taken, none]{
		Name: "take", Description: "Take it back.", Effect: mcpkit.Additive,
		Run: func(_ context.Context, in taken) (none, error) { got = append(got, in.Token); return none{}, nil },
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, give.Install, take.Install)
	if err != nil {
		t.Fatal(err)
	}
	held := &transcript.Held{Member: "token"}
	if held.String() != "" {
		t.Errorf("held %q before any reply", held)
	}
	var out strings.Builder
	err = transcript.Play(t.Context(), &out, server, peer.Identity{Name: "Zed", Version: "0.1"}, []transcript.Step{
		{Title: "Nothing is held yet", Tool: "take", Args: map[string]any{"token": held}},
		{Title: "Give", Tool: "give", Hold: held},
		{Title: "Act", Do: func(w io.Writer) error { _, err := io.WriteString(w, "   done\n"); return err }},
		{Title: "Take", Tool: "take", Args: map[string]any{"token": held}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x1_secret"}, got); diff != "" {
		t.Errorf("sent (-want +got)\n%s\n%s", diff, &out)
	}
	for _, want := range []string{
		"-> take {\"token\":null}\n<- an error", "after 1 of content", "   text \n   | two\n   | lines\n", "== Act\n   done\n", `-> take {"token":"x1_secret"}`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the transcript lacks %q:\n%s", want, &out)
		}
	}
	broken := errors.New("no hands")
	err = transcript.Play(t.Context(), &out, server, peer.Identity{Name: "Zed", Version: "0.1"}, []transcript.Step{
		{Title: "Act", Do: func(io.Writer) error { return broken }},
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
