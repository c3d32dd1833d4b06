package normalize

import (
	"slices"
	"strings"
)

// bridge makes a record that reaches the present one through mcp-remote, or
// nil where that program cannot reach it either.
func (x *exporter) bridge() *Server {
	s := x.s
	if !bridgeable(s) {
		return nil
	}
	b := *s
	b.Transport, b.Command, b.URL, b.Headers, b.OAuth, b.Env = Stdio, "npx", "", nil, nil, nil
	b.Args = []string{"-y", bridgePackage, s.URL}
	x.alias = map[string]string{"args[2]": "url"}
	if s.OAuth != nil {
		x.lose("oauth", "mcp-remote signs in by itself")
	}
	if len(s.Env) > 0 {
		x.lose("env", "variables are for a program that the client starts")
	}
	for _, h := range s.Headers {
		x.bridgeHeader(&b, h)
	}
	only := "http-only"
	if s.Transport == SSE {
		only = "sse-only"
	}
	b.Args = append(b.Args, "--transport", only)
	if hasScheme(s.URL, "http") && !isLocal(s.URL) {
		b.Args = append(b.Args, "--allow-http")
	}
	for _, tool := range s.DenyTools {
		b.Args = append(b.Args, "--ignore-tool", tool)
	}
	b.DenyTools = nil
	if len(urlSecrets(s.URL)) > 0 {
		x.note(SecretInArgs, s.Name, "the address holds a secret, which every user of the machine can read on the command line of mcp-remote")
	}
	x.note(BridgeWritten, s.Name, "the client cannot speak "+string(s.Transport)+", so mcp-remote does")
	return &b
}

// bridgeable reports whether mcp-remote can reach a server.
func bridgeable(s *Server) bool {
	return (s.Transport == HTTP || s.Transport == SSE) && isAddress(s.URL) && !isSocket(s.URL)
}

// bridgeHeader adds a header to a bridge. Its value goes into the environment,
// since clients lose an argument with a blank.
func (x *exporter) bridgeHeader(b *Server, h Pair) {
	if !bridgeTakes(h.Name) {
		x.lose("headers."+h.Name, "mcp-remote takes no such name")
		return
	}
	name := bridgeVar(h.Name, b.Env)
	if forwarded := soleVar(h.Value); forwarded != "" && (x.d.name(roleEnvFrom) != "" || x.d.name(roleEnvKeys) != "") {
		name = forwarded
	}
	x.alias["env."+name] = "headers." + h.Name
	b.Args = append(b.Args, "--header", h.Name+":${"+name+"}")
	if p := (Pair{Name: name, Value: h.Value}); !slices.Contains(b.Env, p) {
		b.Env = append(b.Env, p)
	}
}

// bridgeTakes reports whether mcp-remote takes a header of that name.
func bridgeTakes(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isNameStart(c) && c-'0' > 9 && c != '-' {
			return false
		}
	}
	return name != ""
}

// bridgeVar names the variable that holds a header, other than those in env.
func bridgeVar(header string, env []Pair) string {
	name := "HEADER_" + strings.ToUpper(strings.ReplaceAll(header, "-", "_"))
	if strings.EqualFold(header, "Authorization") {
		name = "AUTH_HEADER"
	}
	for slices.ContainsFunc(env, func(p Pair) bool { return p.Name == name }) {
		name += "_"
	}
	return name
}

// isLocal reports whether an http address is on this machine.
func isLocal(url string) bool {
	host := strings.ToLower(url[len("http://"):])
	for _, local := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if rest, ok := strings.CutPrefix(host, local); ok && (rest == "" || strings.IndexByte(":/?#", rest[0]) >= 0) {
			return true
		}
	}
	return false
}
