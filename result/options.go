package result

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A Shape is how a successful tool result is represented for one client.
// The zero Shape, [Auto], leaves the choice to the rules of the package.
type Shape int

const (
	// Auto chooses by what the client declares and by the table of clients.
	Auto Shape = iota
	// Text sends one block of compact JSON text and no structuredContent.
	Text
	// Structured sends structuredContent and no text.
	Structured
)

// String returns "auto", "text" or "structured".
func (s Shape) String() string {
	switch s {
	case Auto:
		return "auto"
	case Text:
		return "text"
	case Structured:
		return "structured"
	}
	return fmt.Sprintf("Shape(%d)", int(s))
}

// MarshalText implements [encoding.TextMarshaler], so that a Shape can be a
// command-line flag by [flag.TextVar].
func (s Shape) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] for the three names
// that [Shape.String] returns.
func (s *Shape) UnmarshalText(text []byte) error {
	for _, known := range []Shape{Auto, Text, Structured} {
		if string(text) == known.String() {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("unknown shape %q: want auto, text or structured", wording.Clip(string(text), 40))
}

// Options configure [Install] and [Middleware]. A nil *Options is valid, and
// each zero field is the default that its comment names. Options are read once
// and never changed, so one value may serve several servers.
type Options struct {
	// Override, if not Auto, is the shape of every successful result, whoever
	// asks. It is meant for an operator's flag.
	Override Shape

	// NoTable turns the table of client names and versions off: then only
	// Override and the client's own declaration lead to Structured.
	NoTable bool

	// OutputSchemas publishes output schemas in the tool lists of protocol
	// 2026-07-28 and later, where one list must serve every client. Clients
	// of that era that read text only then see a schema without structured
	// content, and some of them refuse such results.
	OutputSchemas bool

	// MaxResult is the most bytes of JSON or text in a successful result; a
	// larger one becomes the error result_too_large. Images and other binary
	// blocks do not count. Zero: no limit, so that nil Options bound errors
	// only; measured clients cut from 8,000 to 50,000. Values below 1,024 mean
	// 1,024.
	MaxResult int

	// MaxCatalog is the most bytes of one page of tools/list; a larger one
	// becomes the error catalog_too_large. Zero: no limit. 80 KiB is a tenth of
	// what common models can read.
	MaxCatalog int

	// Provenance, if not nil, says where the content of a server comes from, for
	// servers all of whose replies concern one project. It is called for each
	// success of the tool of that name, by several goroutines at once, and what
	// it returns is added to the payload under the name "provenance", as well as
	// to listed output schemas, unless the tool has a member of that name of its
	// own. A result whose payload is no object stays as it is. The bytes added do not
	// count for MaxResult. Errors get none.
	Provenance func(ctx context.Context, tool string) Provenance `json:"-"`

	// DiagnosticTool is the name of the tool that Install adds. Empty:
	// "diagnostic_read".
	DiagnosticTool string

	// Logger is told of panics, with their stacks, and of results that cannot
	// be sent. Nil: silent.
	Logger *slog.Logger
}

func (o *Options) override() Shape {
	if o == nil {
		return Auto
	}
	return o.Override
}

func (o *Options) table() bool { return o == nil || !o.NoTable }

// minResult is what a page of diagnostic_read needs at the least.
const minResult = 1 << 10

func (o *Options) maxResult() int {
	if o == nil || o.MaxResult <= 0 {
		return 0
	}
	return max(o.MaxResult, minResult)
}

func (o *Options) maxCatalog() int {
	if o == nil {
		return 0
	}
	return o.MaxCatalog
}

func (o *Options) provenance() func(context.Context, string) Provenance {
	if o == nil {
		return nil
	}
	return o.Provenance
}

func (o *Options) diagnosticTool() string {
	if o == nil || o.DiagnosticTool == "" {
		return "diagnostic_read"
	}
	return o.DiagnosticTool
}

func (o *Options) logger() *slog.Logger {
	if o == nil || o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}
