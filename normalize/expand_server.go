package normalize

import (
	"context"
	"runtime"
	"slices"
	"strings"
)

// ExpandOptions says for whom and where a record is expanded. Nil and the zero
// value are valid.
type ExpandOptions struct {
	// GOOS is the operating system of the launch, as in [runtime.GOOS] and by
	// default that. On "windows" %NAME% is a reference too.
	GOOS string
	// Home is the folder that ~ and ${userHome} stand for; without it both stay
	// as they are.
	Home string
	// Workspace is the folder that ${workspaceFolder} stands for; without it
	// the reference stays as it is.
	Workspace string
	// KeepEmpty lets ${NAME:-default} take a value that is set but empty. By
	// default an empty value counts as none there, as in a POSIX shell.
	KeepEmpty bool
	// Allow is asked before a variable or prompt is looked up; where it says
	// no, the reference stays as it is, noted [RefDenied]. Nil allows all: a
	// paste can name any variable, so set it, or show [Server.Refs] first,
	// unless the paste's author is trusted.
	Allow func(Ref) bool
	// Used is told of each reference that got its value from Vars, and of where
	// from. A secret that ends in the field "command", "url" or one of "args" can
	// be read by every user of the machine. Nil tells nobody.
	Used func(ref Ref, origin string)
}

func (o *ExpandOptions) goos() string {
	if o == nil || o.GOOS == "" {
		return runtime.GOOS
	}
	return o.GOOS
}

// Expand resolves the references of the record, each field once, and gives
// what can be launched. It asks vars in order, as [Expand] does, typically the
// process environment and then a vault; the default of an [Input] comes last.
// The workspace folder, the home folder and the path separator come from opts
// and never from vars. Environment variables do not see each other, but where
// the client of the record's Dialect does so, arguments see the record's own
// environment first.
//
// The notes are those that depend on values and on the target; what the text
// alone tells is in s.Notes. A record that cannot run gives its Err. A bound of
// [Expand], which holds for each field, with 1000 references for the record, and
// a value that its field cannot hold ([BadValue]: a NUL byte, invalid UTF-8, a
// line break in an address or header) are an [*Error] with the field as
// subject; no field is expanded then. The context's error comes back as it is.
func (s *Server) Expand(ctx context.Context, vars []Vars, opts *ExpandOptions) (Launch, []Note, error) {
	if s.Err != nil {
		return Launch{}, nil, s.Err
	}
	f := newFields(ctx, s, vars, opts)
	l := f.launch()
	if f.err != nil {
		return Launch{}, nil, f.err
	}
	if s.Equivalent != nil {
		quiet := ExpandOptions{}
		if opts != nil {
			quiet = *opts
		}
		quiet.Used = nil
		direct, _, err := s.Equivalent.Expand(ctx, vars, &quiet)
		if err != nil {
			return Launch{}, nil, err
		}
		l.Equivalent = &direct
	}
	return l, f.x.notes, nil
}

// fields expands the fields of one record, one after the other. The first
// error ends it.
type fields struct {
	alive func() error // the context's error
	vars  []Vars
	s     *Server
	opts  *ExpandOptions
	scope scope
	x     expander
	err   error
}

func newFields(ctx context.Context, s *Server, vars []Vars, opts *ExpandOptions) *fields {
	if opts == nil {
		opts = &ExpandOptions{}
	}
	f := &fields{alive: ctx.Err, vars: vars, s: s, opts: opts}
	f.scope = scope{server: s, opts: opts, x: &f.x, arg: -1, headers: bridgeHeaders(s)}
	f.x = expander{
		scope:     &f.scope,
		keepEmpty: opts.KeepEmpty,
		percent:   percentNote,
		braceFile: s.Dialect == OpenCode || s.Dialect == Kilo,
	}
	if opts.goos() == "windows" {
		f.x.percent = percentExpand
	}
	f.x.given = make(map[noteKey]struct{}, len(s.Notes))
	for _, n := range s.Notes {
		f.x.given[noteKey{n.Code, n.Subject}] = struct{}{}
	}
	return f
}

// launch expands all fields. The environment comes first, since arguments may
// refer to it.
func (f *fields) launch() Launch {
	s := f.s
	l := Launch{
		Name: s.Name, Transport: s.Transport, Image: s.Image,
		EnvUnset: append([]string(nil), s.EnvUnset...),
		Env:      f.env(),
	}
	l.EnvFrom = f.envFrom()
	l.Command = f.path("command", s.Command)
	l.Args = f.args()
	l.Cwd = f.path("cwd", s.Cwd)
	l.EnvFile = f.path("env_file", s.EnvFile)
	l.URL = f.text("url", s.URL)
	l.Headers = f.pairs("headers", s.Headers)
	l.OAuth = f.oauth()
	if f.err == nil {
		f.notePlatform(&l)
	}
	return l
}

// text expands one field.
func (f *fields) text(field, s string) string { return f.expand(field, "", s) }

// path expands a field whose leading tilde means the home folder.
func (f *fields) path(field, s string) string {
	if !f.hasTilde(s) {
		return f.text(field, s)
	}
	if f.opts.Home == "" {
		f.x.note(TildeLeft, field)
		return f.text(field, s)
	}
	f.x.note(TildeExpanded, field)
	return f.expand(field, f.opts.Home, s[1:])
}

// loose expands a field in which a leading tilde means nothing, though its
// author may have thought so.
func (f *fields) loose(field, s string) string {
	if f.hasTilde(s) {
		f.x.note(TildeLeft, field)
	}
	return f.text(field, s)
}

func (f *fields) hasTilde(s string) bool {
	return strings.HasPrefix(s, "~/") || f.opts.goos() == "windows" && strings.HasPrefix(s, `~\`)
}

func (f *fields) expand(field, prefix, s string) string {
	if !f.begin(field) {
		return ""
	}
	out, err := f.x.expand(f.vars, prefix, s)
	if err == nil {
		err = checkText(field, "", out, f.scope.line)
	}
	if f.err = err; err != nil {
		return ""
	}
	if f.x.took && slices.Contains(f.s.unsent, field) {
		f.x.note(WouldNotExpand, field)
	}
	return out
}

// begin sets up for a field, unless an earlier one failed.
func (f *fields) begin(field string) bool {
	if f.err == nil {
		f.err = f.alive()
	}
	f.x.field = field
	f.scope.line = field == "url" || strings.HasPrefix(field, "headers.")
	return f.err == nil
}
