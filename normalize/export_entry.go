package normalize

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// entry makes the client's entry of a record, or nil where there is none.
func (x *exporter) entry(s *Server) *syntax.Node {
	x.s, x.alias, x.headerVars = s, nil, nil
	if s.Err == nil {
		x.dropBadPairs()
	}
	if code, why := unrunnable(s); why != "" {
		x.note(Skipped, s.Name+"("+string(code)+")", why)
		return nil
	}
	switch {
	case s.Disabled && !x.canSwitchOff():
		x.lose("enabled", "the client has no switch for a server that is off, so it was left out")
		return nil
	case x.d.types.of(s.Transport) == cannot:
		bridge := x.bridge()
		if bridge == nil {
			x.lose("transport", "the client cannot speak it, so the server was left out")
			return nil
		}
		x.s = bridge
	}
	x.takeName()
	n := objectNode()
	if name := x.d.name(roleName); name != "" {
		setMember(n, name, textNode(x.name))
	}
	x.transport(n)
	if x.s.Transport != Stdio {
		x.remote(n)
	} else if !x.process(n) {
		delete(x.names, x.name)
		return nil
	}
	x.env(n)
	x.state(n)
	x.tools(n)
	x.timeouts(n)
	x.oauth(n)
	x.declare()
	x.extra(n)
	if x.q.needsName && n.Get("name") == nil {
		setMember(n, "name", textNode(x.name))
	}
	return n
}

// unrunnable says what keeps any client from running a record, "" if nothing
// does, and gives its code.
func unrunnable(s *Server) (code Code, why string) {
	switch field := badField(s); {
	case s.Err != nil:
		return s.Err.Code, strings.TrimSuffix("the record cannot run: "+s.Err.Message, ": ")
	case s.Transport == Stdio && s.Command == "", s.Transport != Stdio && s.URL == "":
		return NoCommandOrURL, "the record has nothing to run or to connect to"
	case field != "":
		return BadValue, "no process or request can take the field " + field
	}
	return "", ""
}

// dropBadPairs takes out the variables and headers that no process or request
// can take.
func (x *exporter) dropBadPairs() {
	const why = "no process or request can take this, so it was left out"
	clean := *x.s
	keep := func(field string, pairs []Pair, bad func(name, value string) bool) []Pair {
		return slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool {
			if bad(p.Name, p.Value) {
				x.lose(field+"."+clip(p.Name), why)
			}
			return bad(p.Name, p.Value)
		})
	}
	clean.Env = keep("env", x.s.Env, badVariable)
	clean.Headers = keep("headers", x.s.Headers, badHeader)
	clean.EnvFrom = slices.DeleteFunc(slices.Clone(x.s.EnvFrom), badName)
	clean.EnvUnset = slices.DeleteFunc(slices.Clone(x.s.EnvUnset), badName)
	x.s = &clean
}

// fieldOf gives the client's name for a role, or "".
func (x *exporter) fieldOf(r role) string {
	switch {
	case x.q.plain && r == roleCwd:
		return "cwd"
	case x.q.plain && r == roleDisabled:
		return "disabled"
	}
	return x.d.name(r)
}

// put sets the client's field for a role, if it has one.
func (x *exporter) put(n *syntax.Node, r role, value *syntax.Node) bool {
	name := x.fieldOf(r)
	if name != "" {
		setPath(n, name, value)
	}
	return name != ""
}

// transport writes the type, where the client has a word for it, and notes
// where the client would take the entry for another one.
func (x *exporter) transport(n *syntax.Node) {
	t := x.s.Transport
	word := x.d.types.of(t)
	if word != "" {
		x.put(n, roleType, textNode(word))
	}
	if t != Stdio && x.readAs(word) != t {
		x.lose("transport", "the client takes the entry for "+string(x.readAs(word)))
	}
}

// readAs says which transport an entry with the present address and that word
// for its type has.
func (x *exporter) readAs(word string) Transport {
	t := &x.d.types
	switch {
	case word == "" && x.s.Transport == HTTP && x.d.name(roleHTTPURL) != "":
		return HTTP
	case word == "":
		return x.inferred()
	case word == t.http:
		return HTTP
	case word == t.sse:
		return SSE
	}
	return WS
}

// inferred says which transport an address has in an entry without a type.
func (x *exporter) inferred() Transport {
	switch {
	case isSocket(x.s.URL):
		return WS
	case x.d.untypedSSE, endsInSSE(x.s.URL):
		return SSE
	}
	return HTTP
}

// process writes what is started, and where. It reports false for what cannot
// be started.
func (x *exporter) process(n *syntax.Node) bool {
	words := []string{x.text("command", x.s.Command)}
	headers := bridgeHeaders(x.s)
	for i, arg := range x.s.Args {
		x.own = headers[i]
		words = append(words, x.text("args["+strconv.Itoa(i)+"]", arg))
	}
	x.own = false
	if x.batch() {
		if words = x.cmdWords(words, headers); words == nil {
			return false
		}
	}
	if x.d.argv {
		x.put(n, roleCommand, listNode(words))
	} else {
		x.put(n, roleCommand, textNode(words[0]))
		if len(words) > 1 || x.q.needsArgs {
			x.put(n, roleArgs, listNode(words[1:]))
		}
	}
	if x.s.Cwd != "" && !x.put(n, roleCwd, textNode(x.text("cwd", x.s.Cwd))) {
		x.lose("cwd", "the client has no working folder")
	}
	if x.s.EnvFile != "" && !x.put(n, roleEnvFile, textNode(x.text("env_file", x.s.EnvFile))) {
		x.lose("env_file", "the client reads no file of variables")
	}
	return true
}

// batch reports whether the present server is started through cmd.
func (x *exporter) batch() bool {
	return x.opts.GOOS == "windows" && x.s.Transport == Stdio && needsCmd(x.s.Command)
}

// cmdWords puts cmd before a batch file and its arguments. It gives nil where
// cmd cannot pass them on. Own tells the arguments that the program itself
// expands.
func (x *exporter) cmdWords(words []string, own map[int]bool) []string {
	argv, err := Launch{Command: words[0], Args: words[1:]}.cmdLine()
	if e, ok := errors.AsType[*Error](err); ok {
		x.lose(e.Subject, "cmd cannot pass it on unchanged, so the server was left out; put the value into a variable")
		return nil
	}
	if !slices.Contains(argv[:len(argv)-len(words)+1], words[0]) {
		x.lose("command", "it is written with the escapes of cmd")
	}
	for i, arg := range words[1:] {
		switch {
		case strings.ContainsAny(arg, " \t"):
			x.lose(argField(i), "cmd may split this argument; pass it through a variable")
		case strings.Count(arg, "%") > 1:
			x.lose(argField(i), "cmd may replace what stands between percent signs; pass it through a variable")
		case holdsRef(arg) && !own[i]:
			x.lose(argField(i), "cmd acts on signs in the value of the reference; pass it through a variable")
		}
	}
	return argv
}

// remote writes where to connect, and what goes along.
func (x *exporter) remote(n *syntax.Node) {
	x.loseProcess()
	url := textNode(x.text("url", x.s.URL))
	if x.s.Transport != HTTP || !x.put(n, roleHTTPURL, url) {
		x.put(n, roleURL, url)
	}
	headers, vars := objectNode(), objectNode()
	for _, h := range x.s.Headers {
		field := "headers." + h.Name
		name, bearer := x.byName(h)
		switch {
		case name == "":
			setMember(headers, h.Name, textNode(x.text(field, h.Value)))
		case bearer:
			x.put(n, roleBearerVar, textNode(name))
		default:
			setMember(vars, h.Name, textNode(name))
		}
	}
	if len(headers.Members) > 0 {
		x.put(n, roleHeaders, headers)
	}
	if len(vars.Members) > 0 {
		x.put(n, roleHeaderVars, vars)
	}
}

// loseProcess notes what only a program that is started has.
func (x *exporter) loseProcess() {
	const why = "no client both starts a program and connects to an address"
	if x.s.Command != "" {
		x.lose("command", why)
	}
	if len(x.s.Args) > 0 {
		x.lose("args", why)
	}
	if x.s.Cwd != "" {
		x.lose("cwd", why)
	}
	if x.s.EnvFile != "" {
		x.lose("env_file", why)
	}
}

// byName gives the variable that a header consists of, for a client whose
// fields name variables. Bearer is set where it is the token of the
// Authorization header.
func (x *exporter) byName(h Pair) (name string, bearer bool) {
	if x.d.refs != refByName {
		return "", false
	}
	if token, ok := strings.CutPrefix(h.Value, "Bearer "); ok && strings.EqualFold(h.Name, "Authorization") {
		name = soleVar(token)
		return name, name != ""
	}
	return soleVar(h.Value), false
}

// soleVar gives the name of the variable that s is a reference to, if it is
// nothing else and has no default.
func soleVar(s string) string {
	if r, whole := wholeVar(s); whole && !r.hasDef {
		return r.name
	}
	return ""
}

// wholeVar gives the reference to a variable that s is, if it is nothing else.
func wholeVar(s string) (r ref, whole bool) {
	if !strings.HasPrefix(s, "${") {
		return ref{}, false
	}
	scanRef(s, &r)
	return r, r.kind == refVar && r.size == len(s) && !isContext(r.name)
}

// env writes the variables. Those that only forward one of the same name move
// to the client's list of such names, if it has one, and out of it if not.
func (x *exporter) env(n *syntax.Node) {
	env := objectNode()
	names := x.headerVars
	list := roleEnvFrom
	keyed := x.d.name(roleEnvKeys) != ""
	if keyed {
		list = roleEnvKeys
	}
	named := x.d.name(list) != ""
	for _, p := range x.s.Env {
		if forwarded := p.Name != "" && soleVar(p.Value) == p.Name; forwarded && named {
			names = addName(names, p.Name)
		} else {
			setMember(env, p.Name, textNode(x.text("env."+p.Name, p.Value)))
		}
	}
	for _, name := range x.s.EnvFrom {
		if named {
			names = addName(names, name)
		} else {
			setMember(env, name, textNode(x.text("env."+name, "${"+name+"}")))
		}
	}
	x.unset(env)
	if len(env.Members)+len(names) > 0 && x.s.Transport != Stdio && !keyed {
		x.lose("env", "variables are for a program that the client starts")
		return
	}
	if len(env.Members) > 0 {
		x.put(n, roleEnv, env)
	}
	if len(names) > 0 {
		x.put(n, list, listNode(names))
	}
}

// unset writes the variables to remove.
func (x *exporter) unset(env *syntax.Node) {
	if len(x.s.EnvUnset) > 0 && !x.d.nullUnsets {
		x.lose("env_unset", "the client cannot remove a variable")
		return
	}
	for _, name := range x.s.EnvUnset {
		setMember(env, name, &syntax.Node{Kind: syntax.Null})
	}
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
