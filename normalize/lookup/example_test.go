package lookup_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

// exampleSource plays all the sources: a registry that knows one server.
func exampleSource() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != "/v0.1/servers/io.github.acme%2Fnotes/versions/latest" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"server": {"name": "io.github.acme/notes", "version": "1.0.0", "packages": [
			{"registryType": "npm", "identifier": "@acme/notes", "version": "1.0.0", "environmentVariables": [{"name": "NOTES_TOKEN"}]}]}}`)
	}))
}

func Example() {
	source := exampleSource()
	defer source.Close()
	resolver := lookup.New(&lookup.Options{Registry: source.URL})
	server, evidence, err := resolver.Resolve(context.Background(), "io.github.acme/notes")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(server.Command, server.Args, server.Env)
	for _, step := range evidence {
		fmt.Println(step.Step+":", step.Outcome)
	}
	// Output:
	// npx [-y @acme/notes@1.0.0] [{NOTES_TOKEN ${NOTES_TOKEN}}]
	// reference: a name of the registry
	// registry: io.github.acme/notes 1.0.0: a hint until a probe agrees
	// registry: gives npm @acme/notes
	// decision: npm @acme/notes; a claim until a probe agrees
}

func ExampleNew() {
	resolver := lookup.New(nil)
	_, _, err := resolver.Resolve(context.Background(), "https://github.com/acme")
	fmt.Println(lookup.CodeOf(err))
	fmt.Println(err)
	// Output:
	// reference_invalid
	// lookup: this is no address of a repository; it has to be https://github.com/OWNER/REPO
}

// A Command hands what no fixed rule can settle to a program of the user's
// choice.
func ExampleCommand() {
	source := httptest.NewServer(http.NotFoundHandler())
	defer source.Close()
	resolver := lookup.New(&lookup.Options{
		Registry: source.URL,
		Agent:    &lookup.Command{Argv: []string{"/bin/sh", "-c", `echo '{"error": "no such server", "evidence": []}'`}},
	})
	_, evidence, err := resolver.Resolve(context.Background(), "io.github.acme/none")
	fmt.Println(lookup.CodeOf(err))
	fmt.Println(evidence[len(evidence)-1].Outcome)
	// Output:
	// agent_declined
	// the agent cannot tell: no such server
}
