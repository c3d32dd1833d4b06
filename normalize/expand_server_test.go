package normalize_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
)

func pairs(kv ...string) []normalize.Pair {
	var out []normalize.Pair
	for i := 0; i < len(kv); i += 2 {
		out = append(out, normalize.Pair{Name: kv[i], Value: kv[i+1]})
	}
	return out
}

// launchMap gives a launch as a map, since a launch marshals to its summary.
func launchOf(t *testing.T, s normalize.Server, opts *normalize.ExpandOptions, vars ...normalize.Vars) (normalize.Launch, []string) {
	t.Helper()
	l, notes, err := s.Expand(t.Context(), vars, opts)
	if err != nil {
		t.Fatal(err)
	}
	got := short(notes)
	slices.Sort(got)
	return l, got
}

// fieldsOf compares launches field by field; the type prints only its name.
type fieldsOf normalize.Launch

func TestServerExpand(t *testing.T) {
	env := normalize.EnvVars("linux", []string{
		"API_TOKEN=tok-123", "REGION=eu-1", "EMPTY=", "CHAIN=${API_TOKEN}", "lower=x", "EXTRA=1", "userHome=wrong", "workspaceFolder=wrong",
	})
	vault := func(name string) (string, string, bool) {
		v, ok := map[string]string{"VAULT_KEY": "vk-456", "input:asked": "answer", "input:many": "a\nb"}[name]
		return v, "vault", ok
	}
	linux := &normalize.ExpandOptions{GOOS: "linux", Home: "/home/dev", Workspace: "/srv/ws/"}
	tests := []struct {
		name  string
		in    normalize.Server
		opts  *normalize.ExpandOptions
		want  normalize.Launch
		notes []string
	}{
		{
			name: "every field",
			in: normalize.Server{
				Name: "n", Transport: normalize.Stdio, Command: "~/bin/${REGION}", Args: []string{"${API_TOKEN}", "~/x"},
				Env: pairs("A", "${VAULT_KEY}", "${REGION}", "k", "T", "~/y"), EnvUnset: []string{"GONE"}, EnvFrom: []string{"EXTRA", "NOT_SET"},
				EnvFile: "~/.env.${REGION}", Cwd: "${workspaceFolder}/x", URL: "https://${REGION}/", Headers: pairs("X", "${lower}"),
				OAuth: &normalize.OAuth{ClientID: "${REGION}", ClientSecret: "${VAULT_KEY}", Scopes: []string{"${lower}"}}, Image: "img",
			},
			want: normalize.Launch{
				Name: "n", Transport: normalize.Stdio, Command: "/home/dev/bin/eu-1", Args: []string{"tok-123", "~/x"},
				Env: pairs("A", "vk-456", "${REGION}", "k", "T", "~/y"), EnvUnset: []string{"GONE"}, EnvFrom: []string{"EXTRA", "NOT_SET"},
				EnvFile: "/home/dev/.env.eu-1", Cwd: "/srv/ws//x", URL: "https://eu-1/", Headers: pairs("X", "x"),
				OAuth: &normalize.OAuth{ClientID: "eu-1", ClientSecret: "vk-456", Scopes: []string{"x"}}, Image: "img",
			},
			notes: []string{"env_from_unset:NOT_SET", "tilde_expanded:command", "tilde_expanded:env_file", "tilde_left:args[1]", "tilde_left:env.T"},
		},
		{
			name: "surroundings",
			in: normalize.Server{Transport: normalize.Stdio, Command: "c", Args: []string{
				"${workspaceFolderBasename}", "${userHome}", "a${/}b${pathSeparator}c", "${workspaceFolder:-d}",
			}},
			want: normalize.Launch{Transport: normalize.Stdio, Command: "c", Args: []string{"ws", "/home/dev", "a/b/c", "/srv/ws/"}},
		},
		{
			name: "surroundings unknown",
			in: normalize.Server{Transport: normalize.Stdio, Command: "~/c", Args: []string{
				"${workspaceFolder}", "${workspaceFolderBasename}", "${userHome}", "${workspaceFolder:-d}",
			}},
			opts: &normalize.ExpandOptions{GOOS: "linux"},
			want: normalize.Launch{Transport: normalize.Stdio, Command: "~/c", Args: []string{
				"${workspaceFolder}", "${workspaceFolderBasename}", "${userHome}", "d",
			}},
			notes: []string{"tilde_left:command", "unresolved:userHome", "unresolved:workspaceFolder", "unresolved:workspaceFolderBasename"},
		},
		{
			name: "values stay as they are",
			in:   normalize.Server{Transport: normalize.HTTP, URL: "u", Headers: pairs("A", "${CHAIN}", "B", "${API_TOKEN}${lower}$lower $LOUD")},
			want: normalize.Launch{Transport: normalize.HTTP, URL: "u", Headers: pairs("A", "${API_TOKEN}", "B", "tok-123x$lower $LOUD")},
			// What the text alone tells is the parser's to say.
			notes: []string{"bare_var_left:headers.B", "value_looks_like_ref:headers.A"},
		},
		{
			name: "prompts",
			in: normalize.Server{
				Transport: normalize.Stdio, Command: "c",
				Args: []string{"${input:asked}", "${input:def}", "${input:none}", "${input:strange}", "${input:many}", "${input:list}", "x${input:list}", "${input:open}"},
				Inputs: []normalize.Input{
					{ID: "asked", Default: []string{"unused"}},
					{ID: "def", Default: []string{"${REGION}-x"}},
					{ID: "none"},
					{ID: "many", Multiple: true},
					{ID: "list", Multiple: true, Default: []string{"${userHome}/a", "b"}},
					{ID: "open", Multiple: true},
				},
				Notes: []normalize.Note{{Code: normalize.InputUndefined, Subject: "strange"}},
			},
			want: normalize.Launch{Transport: normalize.Stdio, Command: "c", Args: []string{
				"answer", "eu-1-x", "${input:none}", "${input:strange}", "a", "b", "/home/dev/a", "b", "x${input:list}", "${input:open}",
			}},
			notes: []string{"input_default_used:def", "input_default_used:list", "needs_input:list", "needs_input:none", "needs_input:open"},
		},
		{
			name: "windows",
			in: normalize.Server{
				Transport: normalize.Stdio, Command: "npx", Cwd: `~\proj`,
				Args: []string{"%API_TOKEN%", "%NOT_SET%%REGION%", "a b", "100%ab%20", "${/}", "${REGION}%CHAIN%"},
			},
			opts: &normalize.ExpandOptions{GOOS: "windows", Home: `C:\Users\dev`},
			want: normalize.Launch{
				Transport: normalize.Stdio, Command: "npx", Cwd: `C:\Users\dev\proj`,
				Args: []string{"tok-123", "%NOT_SET%eu-1", "a b", "100%ab%20", `\`, "eu-1${API_TOKEN}"},
			},
			notes: []string{
				"percent_var_expanded:API_TOKEN", "percent_var_expanded:CHAIN", "percent_var_expanded:REGION", "percent_var_left:args[1]",
				"space_in_arg_under_cmd:args[2]", "tilde_expanded:cwd", "value_looks_like_ref:args[5]",
			},
		},
		{
			name:  "percent elsewhere",
			in:    normalize.Server{Transport: normalize.Stdio, Command: "%HOME%", Env: pairs("A", "%REGION%", "B", "50%", "C", "%C3%A9", "D", "%CACHE%", "E", "%XY%", "F", "%C3%")},
			want:  normalize.Launch{Transport: normalize.Stdio, Command: "%HOME%", Env: pairs("A", "%REGION%", "B", "50%", "C", "%C3%A9", "D", "%CACHE%", "E", "%XY%", "F", "%C3%")},
			notes: []string{"percent_var_left:command", "percent_var_left:env.A", "percent_var_left:env.D", "percent_var_left:env.E"},
		},
		{
			name: "arguments that see the entry's own environment",
			in: normalize.Server{
				Dialect: normalize.CopilotAgent, Transport: normalize.Stdio, Command: "${OWN}",
				Args: []string{"${OWN}", "${OPEN}", "${OPEN:-d}", "${BLANK:-d}", "${REGION}", "${BLANK}"},
				Env:  pairs("OWN", "${REGION}", "OPEN", "${NOT_SET}", "BLANK", "", "SELF", "${OWN}"),
			},
			want: normalize.Launch{
				Transport: normalize.Stdio, Command: "${OWN}",
				Args: []string{"eu-1", "${OPEN}", "${OPEN:-d}", "d", "eu-1", ""},
				Env:  pairs("OWN", "eu-1", "OPEN", "${NOT_SET}", "BLANK", "", "SELF", "${OWN}"),
			},
			notes: []string{"ref_to_entry_env:BLANK", "ref_to_entry_env:OPEN", "ref_to_entry_env:OWN", "unresolved:NOT_SET", "unresolved:OWN"},
		},
		{
			name: "headers of a bridge",
			in: normalize.Server{
				Transport: normalize.Stdio, Command: "npx",
				Args: []string{"-y", "mcp-remote@1.2.3", "https://${REGION}/${AUTH}", "--header", "A:${AUTH}", "--header", "B:${REGION}"},
				Env:  pairs("AUTH", "Bearer ${API_TOKEN}"),
				Equivalent: &normalize.Server{
					Transport: normalize.HTTP, URL: "https://${REGION}/", Headers: pairs("A", "Bearer ${API_TOKEN}"),
				},
			},
			want: normalize.Launch{
				Transport: normalize.Stdio, Command: "npx",
				Args:       []string{"-y", "mcp-remote@1.2.3", "https://eu-1/${AUTH}", "--header", "A:${AUTH}", "--header", "B:eu-1"},
				Env:        pairs("AUTH", "Bearer tok-123"),
				Equivalent: &normalize.Launch{Transport: normalize.HTTP, URL: "https://eu-1/", Headers: pairs("A", "Bearer tok-123")},
			},
			notes: []string{"ref_to_entry_env:AUTH", "unresolved:AUTH"},
		},
		{
			name: "no bridge",
			in:   normalize.Server{Transport: normalize.Stdio, Command: "curl", Args: []string{"--header", "A:${OWN}"}, Env: pairs("OWN", "v")},
			want: normalize.Launch{Transport: normalize.Stdio, Command: "curl", Args: []string{"--header", "A:${OWN}"}, Env: pairs("OWN", "v")},

			notes: []string{"unresolved:OWN"},
		},
		{
			name: "container",
			in: normalize.Server{
				Transport: normalize.Stdio, Command: "docker", Image: "acme/x", Env: pairs("OWN", "1"),
				Args: []string{"run", "-e", "OWN", "-e", "REGION", "-e", "NOT_SET", "-e", "SET=1", "--env=ALSO_NOT", "--env", "REGION", "acme/x", "-e", "LATER"},
			},
			want: normalize.Launch{
				Transport: normalize.Stdio, Command: "docker", Image: "acme/x", Env: pairs("OWN", "1"),
				Args: []string{"run", "-e", "OWN", "-e", "REGION", "-e", "NOT_SET", "-e", "SET=1", "--env=ALSO_NOT", "--env", "REGION", "acme/x", "-e", "LATER"},
			},
			notes: []string{"docker_env_without_value:ALSO_NOT", "docker_env_without_value:NOT_SET"},
		},
		{
			name: "folders of a bundle",
			in:   normalize.Server{Dialect: normalize.MCPB, Transport: normalize.Stdio, Command: "node", Args: []string{"${HOME}", "${DOCUMENTS}/x", "${__dirname}/i.js"}},
			want: normalize.Launch{Transport: normalize.Stdio, Command: "node", Args: []string{"/home/dev", "/home/dev/Documents/x", "${__dirname}/i.js"}},

			notes: []string{"unresolved:__dirname"},
		},
		{
			name: "files that a client would read",
			in:   normalize.Server{Dialect: normalize.OpenCode, Transport: normalize.HTTP, URL: "u", Headers: pairs("A", "{file:~/${REGION}}${REGION}", "B", "{file:x", "C", "{x}")},
			want: normalize.Launch{Transport: normalize.HTTP, URL: "u", Headers: pairs("A", "{file:~/${REGION}}eu-1", "B", "{file:x", "C", "{x}")},
		},
		{
			name: "braces that mean nothing elsewhere",
			in:   normalize.Server{Transport: normalize.HTTP, URL: "u", Headers: pairs("A", "{file:${REGION}}")},
			want: normalize.Launch{Transport: normalize.HTTP, URL: "u", Headers: pairs("A", "{file:eu-1}")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := tt.opts
			if opts == nil {
				opts = linux
			}
			l, notes := launchOf(t, tt.in, opts, env, vault)
			want, got := tt.want.Equivalent, l.Equivalent
			l.Equivalent, tt.want.Equivalent = nil, nil
			if diff := cmp.Diff(fieldsOf(tt.want), fieldsOf(l)); diff != "" {
				t.Errorf("launch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff((*fieldsOf)(want), (*fieldsOf)(got)); diff != "" {
				t.Errorf("equivalent (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServerExpandKeepEmpty(t *testing.T) {
	env := normalize.EnvVars("linux", []string{"EMPTY="})
	s := normalize.Server{Transport: normalize.Stdio, Command: "c", Args: []string{"${EMPTY:-d}"}}
	for keep, want := range map[bool]string{false: "d", true: ""} {
		l, _ := launchOf(t, s, &normalize.ExpandOptions{KeepEmpty: keep}, env)
		if l.Args[0] != want {
			t.Errorf("KeepEmpty %v: %q, want %q", keep, l.Args[0], want)
		}
	}
}

// TestServerExpandAllow checks that a refused name is not even looked up, and
// that nothing of it appears.
func TestServerExpandAllow(t *testing.T) {
	var asked []string
	vars := func(name string) (string, string, bool) {
		asked = append(asked, name)
		return "value-of-" + name, "env", true
	}
	s := normalize.Server{
		Transport: normalize.Stdio, Command: "c", Args: []string{"${GOOD}", "x${BAD}", "${BAD:-d}", "%BAD%", "$bad", "${input:bad}"},
		EnvFrom: []string{"BAD", "GOOD"},
	}
	var used []string
	l, notes := launchOf(t, s, &normalize.ExpandOptions{
		GOOS:  "windows",
		Allow: func(r normalize.Ref) bool { return !strings.Contains(strings.ToLower(r.Name), "bad") },
		Used:  func(r normalize.Ref, origin string) { used = append(used, r.Name+" "+r.Field+" "+origin) },
	}, vars)
	want := []string{"value-of-GOOD", "x${BAD}", "${BAD:-d}", "%BAD%", "$bad", "${input:bad}"}
	if diff := cmp.Diff(want, l.Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ref_denied:BAD", "ref_denied:input:bad"}, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if slices.ContainsFunc(asked, func(name string) bool { return name != "GOOD" }) {
		t.Errorf("asked for %q", asked)
	}
	if diff := cmp.Diff([]string{"GOOD args[0] env"}, used); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
}

func TestServerExpandErrors(t *testing.T) {
	vars := mapVars(map[string]string{"NUL": "a\x00b", "BAD8": "\xff", "CRLF": "secret\r\nX: y", "OK": "v", "BIG": strings.Repeat("x", 1<<20)})
	many := make([]string, 101)
	for i := range many {
		many[i] = strings.Repeat("${OK}", 10)
	}
	tests := []struct {
		name    string
		in      normalize.Server
		code    normalize.Code
		subject string
	}{
		{"value with NUL", normalize.Server{Command: "c", Args: []string{"x", "${NUL}"}}, normalize.BadValue, "args[1]"},
		{"text with NUL", normalize.Server{Command: "a\x00"}, normalize.BadValue, "command"},
		{"value in bad UTF-8", normalize.Server{Env: pairs("A", "${BAD8}")}, normalize.BadValue, "env.A"},
		{"line break in a header", normalize.Server{Headers: pairs("A", "${CRLF}")}, normalize.BadValue, "headers.A"},
		{"line break in a default", normalize.Server{URL: "${NO:-a\nb}"}, normalize.BadValue, "url"},
		{"line break in the answer of an argument", normalize.Server{Command: "c", Args: []string{"${CRLF}"}}, "", ""},
		{"too deep", normalize.Server{Cwd: nested("${U:-", 17, "}")}, normalize.TooDeep, "cwd"},
		{"references of all fields count", normalize.Server{Command: "c", Args: many}, normalize.TooMany, "args[100]"},
		{"too large", normalize.Server{Cwd: "x${BIG}"}, normalize.TooLarge, "cwd"},
		{
			"prompts that refer to themselves",
			normalize.Server{Cwd: "${input:a}", Inputs: []normalize.Input{{ID: "a", Default: []string{"${input:a}"}}}},
			normalize.TooDeep, "cwd",
		},
		{"a prompt with several answers", normalize.Server{
			Command: "c", Args: []string{"${input:a}"},
			Inputs: []normalize.Input{{ID: "a", Multiple: true, Default: []string{"ok", "${NUL}"}}},
		}, normalize.BadValue, "args[0]"},
		{"the equivalent", normalize.Server{Command: "c", Equivalent: &normalize.Server{URL: "${CRLF}"}}, normalize.BadValue, "url"},
		{"a record that cannot run", normalize.Server{Err: &normalize.Error{Code: normalize.EntryNull, Subject: "x"}}, normalize.EntryNull, "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, _, err := tt.in.Expand(t.Context(), []normalize.Vars{vars}, &normalize.ExpandOptions{GOOS: "linux"})
			if normalize.CodeOf(err) != tt.code {
				t.Fatalf("error %v, want code %q", err, tt.code)
			}
			if err == nil {
				return
			}
			var e *normalize.Error
			if errors.As(err, &e); e.Subject != tt.subject {
				t.Errorf("subject %q, want %q", e.Subject, tt.subject)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the message holds the value: %v", err)
			}
			if diff := cmp.Diff(fieldsOf{}, fieldsOf(l)); diff != "" {
				t.Errorf("a failed expansion gave a launch:\n%s", diff)
			}
		})
	}
}

func TestServerExpandCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := normalize.Server{Transport: normalize.Stdio, Command: "${A}"}
	vars := func(string) (string, string, bool) { t.Error("asked"); return "", "", false }
	if _, _, err := s.Expand(ctx, []normalize.Vars{vars}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestServerRefs(t *testing.T) {
	s := normalize.Server{
		Dialect: normalize.CopilotAgent, Transport: normalize.Stdio, Command: "${CMD}",
		Args:    []string{"${OWN:-${SECRET}}", "${OWN}", "%WIN%", "$bare", "${userHome}", "${A}${A}", "${input:list}"},
		Env:     pairs("OWN", "${A:-${B}}"),
		EnvFrom: []string{"FWD"},
		Cwd:     "${workspaceFolder}", EnvFile: "${E}", URL: "${U}", Headers: pairs("H", "${input:p}"),
		OAuth:      &normalize.OAuth{ClientSecret: "${S}"},
		Inputs:     []normalize.Input{{ID: "p", Default: []string{"${DEF}"}}, {ID: "list", Multiple: true, Default: []string{"${L}"}}},
		Equivalent: &normalize.Server{URL: "${EQ}"},
	}
	want := []normalize.Ref{
		{Name: "A", Field: "env.OWN"},
		{Name: "B", Field: "env.OWN"},
		{Name: "FWD", Field: "env_from"},
		{Name: "CMD", Field: "command"},
		{Name: "SECRET", Field: "args[0]"},
		{Name: "WIN", Field: "args[2]", Windows: true},
		{Name: "A", Field: "args[5]"},
		{Name: "input:list", Field: "args[6]"},
		{Name: "L", Field: "args[6]"},
		{Name: "E", Field: "env_file"},
		{Name: "U", Field: "url"},
		{Name: "input:p", Field: "headers.H"},
		{Name: "DEF", Field: "headers.H"},
		{Name: "S", Field: "oauth.client_secret"},
		{Name: "EQ", Field: "equivalent.url"},
	}
	if diff := cmp.Diff(want, s.Refs()); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
	bad := normalize.Server{Command: "${A}", Err: &normalize.Error{Code: normalize.EntryNull}}
	if refs := bad.Refs(); refs != nil {
		t.Errorf("a record that cannot run has references %v", refs)
	}
}

// TestRefsCoverExpand checks on generated records that Expand asks for nothing
// that Refs does not name, whatever is set, and for nothing at all that Allow
// refuses.
func TestRefsCoverExpand(t *testing.T) {
	clients := normalize.Dialects()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := generate(r, clients)
		s.Inputs[0].Default = [][]string{nil, {"${FROM_DEFAULT}"}}[r.IntN(2)]
		named := map[string]bool{"b": true} // stands bare in the records, so only its existence is asked for
		for _, ref := range s.Refs() {
			named[ref.Name] = true
		}
		vars := func(name string) (string, string, bool) {
			if !named[name] {
				t.Errorf("record %d: asked for %q, which Refs does not name: %+v", seed, name, s)
			}
			return []string{"", "value"}[r.IntN(2)], "", r.IntN(2) == 0
		}
		for _, goos := range []string{"linux", "windows"} {
			if _, _, err := s.Expand(t.Context(), []normalize.Vars{vars}, &normalize.ExpandOptions{GOOS: goos}); err != nil {
				t.Fatal(err)
			}
		}
		none := func(name string) (string, string, bool) {
			t.Errorf("record %d: asked for %q, which is refused", seed, name)
			return "", "", false
		}
		refuse := &normalize.ExpandOptions{Allow: func(normalize.Ref) bool { return false }}
		if _, _, err := s.Expand(t.Context(), []normalize.Vars{none}, refuse); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLaunchIsSilent checks that no usual way of printing shows a value.
func TestLaunchIsSilent(t *testing.T) {
	const canary = "canary-7f3a"
	l := normalize.Launch{
		Name: "n", Transport: normalize.Stdio, Command: canary, Args: []string{canary}, Env: pairs("A", canary),
		Headers: pairs("A", canary), URL: canary, OAuth: &normalize.OAuth{ClientSecret: canary}, Equivalent: &normalize.Launch{URL: canary},
	}
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		fmt.Fprintf(&b, verb+" "+verb+"\n", l, &l)
	}
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "launch", l)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "launch", &l)
	data, err := json.Marshal(map[string]any{"a": l, "b": &l})
	if err != nil {
		t.Fatal(err)
	}
	b.Write(data)
	if strings.Contains(b.String(), canary) {
		t.Errorf("a value shows:\n%s", b.String())
	}
	if want := `{"a":{"name":"n","transport":"stdio"},"b":{"name":"n","transport":"stdio"}}`; string(data) != want {
		t.Errorf("marshaled %s, want %s", data, want)
	}
}
