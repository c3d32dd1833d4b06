package normalize_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// A pasted configuration becomes one record per server, a record becomes what can be
// run, and records become the file of another client.
func Example() {
	paste, err := normalize.Parse([]byte(`{
	  "mcpServers": {
	    "files": {
	      "command": "npx -y @acme/files-mcp",
	      "args": ["${workspaceFolder}"],
	      "env": { "ACME_TOKEN": "${ACME_TOKEN}" },
	    },
	  },
	}`), nil)
	if err != nil {
		log.Fatal(err) // could not be read: line, column and a hint
	}
	for _, n := range paste.Notes {
		fmt.Println(n, "-", n.Message)
	}
	files := paste.Servers[0]
	for _, r := range files.Refs() {
		fmt.Println("needs", r.Name)
	}

	env := normalize.EnvVars("linux", []string{"ACME_TOKEN=tok-123"})
	launch, _, err := files.Expand(context.Background(), []normalize.Vars{env}, &normalize.ExpandOptions{GOOS: "linux", Workspace: "/srv/ws"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(launch.Command, launch.Args, launch.Env)

	out, notes, err := normalize.Export(normalize.Codex, paste.Servers, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(out))
	for _, n := range notes {
		fmt.Println(n, "-", n.Message)
	}
	// Output:
	// trailing_commas_removed - commas before a closing bracket were skipped; clients that want strict JSON refuse them
	// needs ACME_TOKEN
	// npx [-y @acme/files-mcp /srv/ws] [{ACME_TOKEN tok-123}]
	// [mcp_servers.files]
	// command = "npx"
	// args = ["-y", "@acme/files-mcp", "${workspaceFolder}"]
	// env_vars = ["ACME_TOKEN"]
	// not_expressible:files:args[2] - the client does not know ${workspaceFolder}
}

func ExampleParse() {
	paste, err := normalize.Parse([]byte(`Add this to your settings:

	"mcpServers": {
	  "files": { "command": "npx -y @acme/files-mcp", "env": { "ACME_TOKEN": "${env:ACME_TOKEN}" } },
	  "hub": { "url": "https://hub.example.com/mcp" },
	}
	`), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(paste.Notes)
	for _, s := range paste.Servers {
		fmt.Println(s.Name, s.Transport, s.Command, s.Args, s.Env, s.URL, s.Notes)
	}
	// Output:
	// [trailing_commas_removed braces_added prose_skipped]
	// files stdio npx [-y @acme/files-mcp] [{ACME_TOKEN ${ACME_TOKEN}}]  [command_split]
	// hub http  [] [] https://hub.example.com/mcp [type_inferred:http]
}

// What stands there as a secret in clear is noted and left where it is.
func ExampleParse_secrets() {
	paste, err := normalize.Parse([]byte(`{"mcpServers": {
	  "db": {"command": "npx", "args": ["@acme/db-mcp"], "env": {"DB_PASSWORD": "plum-jam"}},
	  "hub": {"url": "https://hub.example.com/mcp?api_key=plum-jam"}
	}}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range paste.Servers {
		for _, n := range s.Notes {
			fmt.Printf("%s, line %d: %s\n", s.Name, n.Line, n)
		}
	}
	// Output:
	// db, line 2: secret_inline:env.DB_PASSWORD
	// hub, line 3: type_inferred:http
	// hub, line 3: secret_in_url:api_key
}

// One bad entry takes no other along, and keeps what it says.
func ExampleParse_badEntry() {
	paste, err := normalize.Parse([]byte(`{"mcpServers": {
	  "files": {"comand": "npx", "args": ["-y", "@acme/files-mcp"], "timeout": 5},
	  "hub": {"type": "http", "url": "https://hub.example.com/mcp"}
	}}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range paste.Servers {
		if s.Err != nil {
			fmt.Println(s.Name, s.Err)
			fmt.Println(string(s.Extra))
			continue
		}
		fmt.Println(s.Name, s.Transport, s.URL)
	}
	// Output:
	// files line 2, column 4: the entry says neither what to run nor where to connect; did you mean "command" where it says "comand"?
	// {"comand":"npx","args":["-y","@acme/files-mcp"],"timeout":5}
	// hub http https://hub.example.com/mcp
}

func ExampleParse_unreadable() {
	_, err := normalize.Parse([]byte("{\n  \"mcpServers\": {\n    \"files\" { \"command\": \"npx\" }\n  }\n}\n"), nil)
	fmt.Println(err)
	fmt.Println(normalize.CodeOf(err))
	// Output:
	// line 3, column 13: a colon is missing after a name; write name: value pairs
	// unreadable
}

func ExampleServer_Refs() {
	s := normalize.Server{
		Transport: normalize.HTTP, URL: "https://${HOST:-${FALLBACK}}/mcp",
		Headers: []normalize.Pair{{Name: "Authorization", Value: "Bearer ${input:key}"}},
	}
	for _, r := range s.Refs() {
		fmt.Println(r.Name, r.Field)
	}
	// Output:
	// HOST url
	// FALLBACK url
	// input:key headers.Authorization
}

func ExampleServer_Expand() {
	s := normalize.Server{
		Name: "files", Transport: normalize.Stdio, Command: "npx",
		Args: []string{"-y", "@acme/files-mcp", "${workspaceFolder}"},
		Env:  []normalize.Pair{{Name: "ACME_TOKEN", Value: "${TOKEN}"}},
	}
	env := normalize.EnvVars("linux", []string{"TOKEN=tok-123"})
	l, notes, err := s.Expand(context.Background(), []normalize.Vars{env}, &normalize.ExpandOptions{
		GOOS: "linux", Workspace: "/srv/ws",
	})
	fmt.Println(l.Args, l.Env, notes, err)
	fmt.Println(l) // holds secrets, so it does not print them
	// Output:
	// [-y @acme/files-mcp /srv/ws] [{ACME_TOKEN tok-123}] [] <nil>
	// launch of "files" (stdio)
}

func ExampleExpand() {
	vars := func(name string) (value, origin string, ok bool) {
		value, ok = map[string]string{"HOST": "api.example.com"}[name]
		return value, "example", ok
	}
	s, notes, err := normalize.Expand("https://${HOST}:${PORT:-443}/${TENANT}", vars)
	fmt.Println(s, notes[0], err)
	// Output: https://api.example.com:443/${TENANT} unresolved:TENANT <nil>
}

func ExampleEnvVars() {
	vars := normalize.EnvVars("windows", []string{"Path=C:\\bin"})
	value, origin, ok := vars("PATH")
	fmt.Println(value, origin, ok)
	// Output: C:\bin env true
}

func ExampleLaunch_Argv() {
	l := normalize.Launch{Command: "npx", Args: []string{"-y", "@acme/mcp", "--url=https://x.example.com/?a=1&b=2"}}
	argv, err := l.Argv("windows")
	fmt.Println(argv, err)
	// Output: [cmd /c npx -y @acme/mcp --url=https://x.example.com/?a=1^^^&b=2] <nil>
}

func ExampleLaunch_Environ() {
	l := normalize.Launch{
		Env: []normalize.Pair{{Name: "TOKEN", Value: "t"}}, EnvUnset: []string{"NODE_OPTIONS"}, EnvFrom: []string{"REGION"},
	}
	vault := func(name string) (value, origin string, ok bool) { return "eu-1", "vault", name == "REGION" }
	fmt.Println(l.Environ("linux", []string{"PATH=/bin", "NODE_OPTIONS=--inspect", "TOKEN=old"}, vault))
	// Output: [PATH=/bin REGION=eu-1 TOKEN=t]
}

func ExampleExport() {
	servers := []normalize.Server{{
		Name: "hub", Transport: normalize.HTTP, URL: "https://hub.example.com/mcp",
		Headers:    []normalize.Pair{{Name: "Authorization", Value: "Bearer ${HUB_TOKEN}"}},
		AllowTools: []string{"search"}, StartTimeout: 2500 * time.Millisecond,
	}, {
		Name: "old", Transport: normalize.SSE, URL: "https://old.example.com/sse",
	}}
	out, notes, err := normalize.Export(normalize.Codex, servers, nil)
	fmt.Print(string(out))
	fmt.Println(notes, err)
	// Output:
	// [mcp_servers.hub]
	// url = "https://hub.example.com/mcp"
	// bearer_token_env_var = "HUB_TOKEN"
	// enabled_tools = ["search"]
	// startup_timeout_sec = 2.5
	//
	// [mcp_servers.old]
	// command = "npx"
	// args = ["-y", "mcp-remote", "https://old.example.com/sse", "--transport", "sse-only"]
	// [bridge_written:old] <nil>
}

func ExampleExport_windows() {
	servers := []normalize.Server{{Name: "a", Transport: normalize.Stdio, Command: "npx", Args: []string{"-y", "pkg", "a&b"}}}
	out, _, err := normalize.Export(normalize.Warp, servers, &normalize.ExportOptions{GOOS: "windows"})
	fmt.Println(strings.Contains(string(out), `"a^^^&b"`), err)
	// Output: true <nil>
}

func ExampleDialects() {
	ids := normalize.Dialects()
	fmt.Println(ids[0], "to", ids[len(ids)-1])
	// Output: claude-code to generic
}

func ExampleCodeOf() {
	_, err := normalize.Parse(nil, &normalize.ParseOptions{Dialect: "emacs"})
	fmt.Println(normalize.CodeOf(err))
	// Output: unknown_dialect
}
