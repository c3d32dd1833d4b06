package normalize

import "strings"

// A scope is what a record and its surroundings know about names. It decides
// before any variable is asked.
type scope struct {
	server   *Server
	opts     *ExpandOptions
	x        *expander
	entryEnv map[string]entryVar // the entry's own environment, expanded
	headers  map[int]bool        // arguments that a bridge reads as headers
	arg      int                 // index of the present argument, or -1
	line     bool                // the field holds no line breaks
	dry      func(Ref)           // told of all that would be asked for, if not nil
}

// An entryVar is one variable of the entry's own environment.
type entryVar struct {
	value    string
	resolved bool
}

// lookup decides about a reference.
func (c *scope) lookup(r *ref) decision {
	if value, ok := c.context(r); ok {
		if value == "" {
			return decision{verdict: isUnset}
		}
		return decision{takeValue, value}
	}
	if d := c.own(r); d.verdict != askVars {
		return d
	}
	if c.dry != nil && r.kind != refBare {
		c.dry(c.ref(r))
	}
	if !c.allowed(r) {
		if r.kind != refBare {
			c.x.note(RefDenied, r.name)
		}
		return decision{verdict: keepText}
	}
	if r.kind == refInput && !r.hasDef {
		c.offerDefault(r)
	}
	return decision{}
}

// context answers the names that stand for the surroundings of a launch. An
// empty value is an unknown one.
func (c *scope) context(r *ref) (string, bool) {
	if r.kind != refVar {
		return "", false
	}
	switch r.name {
	case ctxSeparator, ctxPathSeparator:
		return c.separator(), true
	case ctxWorkspace:
		return c.opts.Workspace, true
	case ctxWorkspaceBasename:
		return baseName(c.opts.Workspace), true
	case ctxHome:
		return c.opts.Home, true
	}
	if c.server.Dialect != MCPB || c.opts.Home == "" {
		return "", false
	}
	switch r.name {
	case "HOME":
		return c.opts.Home, true
	case "DESKTOP", "DOCUMENTS", "DOWNLOADS":
		return c.opts.Home + c.separator() + r.name[:1] + strings.ToLower(r.name[1:]), true
	}
	return "", false
}

func (c *scope) separator() string {
	if c.opts.goos() == "windows" {
		return `\`
	}
	return "/"
}

// own answers references of arguments to the entry's own environment, where
// the client or the program looks there first.
func (c *scope) own(r *ref) decision {
	if c.arg < 0 || r.kind != refVar {
		return decision{}
	}
	v, ok := c.entryEnv[r.name]
	if !ok || c.server.Dialect != CopilotAgent && !c.headers[c.arg] {
		return decision{}
	}
	c.x.note(RefToEntryEnv, r.name)
	switch {
	case c.headers[c.arg]:
		return decision{verdict: keepText}
	case c.dry != nil && r.hasDef:
		return decision{verdict: isUnset} // so that the default is seen
	case !v.resolved:
		return decision{verdict: keepText}
	case v.value == "" && r.hasDef && !c.opts.KeepEmpty:
		return decision{verdict: isUnset}
	}
	return decision{takeValue, v.value}
}

// offerDefault gives a prompt its declared default.
func (c *scope) offerDefault(r *ref) {
	in := c.server.input(strings.TrimPrefix(r.name, inputPrefix))
	if in != nil && len(in.Default) == 1 {
		r.def, r.hasDef, r.plain = in.Default[0], true, false
	}
}

func (c *scope) allowed(r *ref) bool {
	return c.opts.Allow == nil || c.opts.Allow(c.ref(r))
}

func (c *scope) used(r *ref, origin string) {
	if c.opts.Used != nil {
		c.opts.Used(c.ref(r), origin)
	}
}

func (c *scope) ref(r *ref) Ref {
	return Ref{Name: r.name, Field: c.x.field, Windows: r.kind == refPercent}
}

// bridgeHeaders finds the arguments that mcp-remote reads as headers. It puts
// the values of its own environment into them, which the entry's is part of.
func bridgeHeaders(s *Server) map[int]bool {
	bridge := packageName(baseName(s.Command)) == bridgePackage
	headers := make(map[int]bool)
	for i, arg := range s.Args {
		bridge = bridge || packageName(arg) == bridgePackage
		if bridge && i > 0 && s.Args[i-1] == "--header" {
			headers[i] = true
		}
	}
	return headers
}

// bridgePackage is the program that makes a stdio server of a remote one.
const bridgePackage = "mcp-remote"

// packageName cuts the version from the name of a package.
func packageName(s string) string {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		return s[:i]
	}
	return s
}

// baseName gives the last element of a path with either separator.
func baseName(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
