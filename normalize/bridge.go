package normalize

import (
	"slices"
	"strings"
)

// bridges are programs that make a local server of a remote one, by the names
// of their packages.
var bridges = map[string]bool{"mcp-remote": true, "supergateway": true, "mcp-proxy": true, "fastmcp": true}

// bridgeLine finds the bridge that a command line runs and the arguments after
// its name.
func bridgeLine(command string, args []string) (name string, rest []string) {
	if program := programName(command); bridges[program] {
		return program, args
	}
	if script := baseName(packageOf(command, args)); bridges[packageName(script)] {
		for i, arg := range args {
			if packageName(baseName(arg)) == packageName(script) {
				return packageName(script), args[i+1:]
			}
		}
	}
	for i, arg := range args {
		arg = strings.TrimPrefix(arg, "npm:")
		if name := packageName(arg); bridges[name] && name != "fastmcp" {
			return name, args[i+1:]
		}
	}
	return "", nil
}

// bridge notes a record that only forwards to a remote server, and offers the
// direct form.
func (e *draft) bridge() {
	if e.s.Command == "" {
		return
	}
	e.smitheryRun()
	name, args := bridgeLine(e.s.Command, e.s.Args)
	if name == "fastmcp" && (len(args) == 0 || args[0] != "run") {
		return
	}
	direct := readBridge(name, args)
	if direct.URL == "" || badField(&direct) != "" {
		return
	}
	e.note(RemoteBridgeDetected, name, e.command.off)
	for i, h := range direct.Headers {
		direct.Headers[i].Value = inlineEnv(h.Value, e.s.Env)
	}
	direct.Headers = slices.DeleteFunc(direct.Headers, func(h Pair) bool { return badHeader(h.Name, h.Value) })
	direct.Name, direct.Dialect, direct.Inputs = e.s.Name, e.s.Dialect, e.s.Inputs
	e.s.Equivalent = &direct
}

// readBridge reads the options of a bridge into the record of what it reaches.
func readBridge(name string, args []string) Server {
	s := Server{}
	stated := Transport("")
	for i := 0; i < len(args); i++ {
		option, value, inline := strings.Cut(args[i], "=")
		if !strings.HasPrefix(option, "-") {
			if s.URL == "" && isAddress(args[i]) {
				s.URL = args[i]
			}
			continue
		}
		if !inline && i+1 < len(args) && bridgeTakesValue(option) {
			i++
			value = args[i]
		}
		switch option {
		case "--header", "-H":
			s.Headers = appendHeader(s.Headers, value)
		case "--headers": // two words
			if i+1 < len(args) {
				i++
				s.Headers = append(s.Headers, Pair{value, args[i]})
			}
		case "--oauth2Bearer":
			s.Headers = append(s.Headers, Pair{"Authorization", "Bearer " + value})
		case "--ignore-tool":
			s.DenyTools = append(s.DenyTools, value)
		case "--transport":
			stated = bridgeTransport(value)
		case "--sse", "--streamableHttp":
			s.URL, stated = value, bridgeTransport(option[2:])
		}
	}
	s.Transport = bridgeDefault(name, s.URL, stated)
	return s
}

// bridgeTakesValue tells whether an option of some bridge has a value after it.
func bridgeTakesValue(option string) bool {
	switch option {
	case "--allow-http", "--debug", "--silent", "--enable-proxy", "--disable-resource-parameter", "--verbose", "-v", "--stateful":
		return false
	}
	return true
}

func bridgeTransport(word string) Transport {
	switch strings.ToLower(word) {
	case "sse-only", "sse-first", "sse":
		return SSE
	case "http-only", "streamablehttp", "streamable-http", "http":
		return HTTP
	}
	return ""
}

func bridgeDefault(name, address string, stated Transport) Transport {
	switch {
	case stated != "":
		return stated
	case endsInSSE(address), name == "mcp-proxy":
		return SSE
	}
	return HTTP
}

// appendHeader adds "Name: value". A header that cannot be read is left to the
// bridge.
func appendHeader(headers []Pair, line string) []Pair {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return headers
	}
	return append(headers, Pair{strings.TrimSpace(name), strings.TrimSpace(value)})
}

// inlineEnv puts the entry's own variables into a value: a bridge reads them
// from there. Their texts may hold references, which stay for Expand.
func inlineEnv(s string, env []Pair) string {
	for i := 0; i < len(s); {
		if s[i] != '$' {
			i++
			continue
		}
		var r ref
		scanRef(s[i:], &r)
		if r.kind != refVar || r.hasDef {
			i += r.size
			continue
		}
		value, ok := findPair(env, r.name)
		if !ok {
			i += r.size
			continue
		}
		s = s[:i] + value + s[i+r.size:]
		i += len(value)
	}
	return s
}

func findPair(pairs []Pair, name string) (string, bool) {
	for _, p := range pairs {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}
