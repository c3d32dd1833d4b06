package candidates

import (
	"errors"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/stage"
)

// What descriptions and messages repeat of patterns and of the hint.
const (
	maxPatterns = 8
	maxPattern  = 80  // bytes
	maxHint     = 200 // bytes
)

// allowed says where candidates may go, "" if that is not known.
func (f *feature) allowed() string {
	switch {
	case f.opts.Allow == nil:
		return ""
	case len(f.opts.Allow) > 0:
		return "files may go to " + wording.QuoteAll(f.opts.Allow, maxPatterns, maxPattern)
	}
	text := "no path is allowed"
	if hint := wording.Clip(strings.TrimSpace(f.opts.Hint), maxHint); hint != "" {
		text += "; " + hint
	}
	return text
}

// places is what a description says of paths, to be put behind another sentence.
func (f *feature) places() string {
	text := f.allowed()
	if text == "" {
		return ""
	}
	text = " " + strings.ToUpper(text[:1]) + text[1:]
	if len(f.opts.Allow) > 0 && len(f.opts.Authorized) > 0 {
		text += "; no approval is needed for " + wording.QuoteAll(f.opts.Authorized, maxPatterns, maxPattern)
	}
	return text + "."
}

// explain says in an error about a path that is not allowed which ones are.
func (f *feature) explain(err error) error {
	e, ok := errors.AsType[*stage.Error](err)
	if !ok || e.Code != stage.CodeNotAllowed || f.opts.Allow == nil {
		return err
	}
	told := *e
	told.Detail = f.allowed()
	return &told
}
