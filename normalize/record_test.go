package normalize_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// record is a server as the case files write it: resolved in the environment
// that caseVars states.
type record struct {
	Name          string            `json:"name"`
	Scope         string            `json:"scope"`
	Choice        string            `json:"choice"`
	Block         int               `json:"block"`
	Transport     string            `json:"transport"`
	Command       string            `json:"command"`
	Args          []string          `json:"args"`
	Env           map[string]string `json:"env"`
	EnvUnset      []string          `json:"env_unset"`
	EnvFrom       []string          `json:"env_from"`
	EnvFile       string            `json:"env_file"`
	Cwd           string            `json:"cwd"`
	URL           string            `json:"url"`
	Headers       map[string]string `json:"headers"`
	OAuth         any               `json:"oauth"`
	Enabled       *bool             `json:"enabled"`
	Tools         tools             `json:"tools"`
	TimeoutsMS    timeouts          `json:"timeouts_ms"`
	Equivalent    *record           `json:"equivalent"`
	Image         string            `json:"image"`
	LaunchWindows []string          `json:"launch_windows"`
	Error         string            `json:"error"`
	Warnings      []string          `json:"warnings"`
}

type tools struct {
	Allow       []string `json:"allow"`
	Deny        []string `json:"deny"`
	AutoApprove []string `json:"auto_approve"`
}

type timeouts struct {
	Startup int64 `json:"startup"`
	Call    int64 `json:"call"`
}

// A caseFile is what a paste is expected to give.
type caseFile struct {
	OS          string   `json:"os"`
	Dialect     string   `json:"dialect"`
	DocWarnings []string `json:"doc_warnings"`
	Servers     []record `json:"servers"`
}

// caseVars are the variables that are set in every case.
func caseVars(goos string) []normalize.Vars {
	env := map[string]string{
		"USER": "dev", "API_TOKEN": "tok-123", "API_HOST": "api.example.com", "REGION": "eu-1", "EMPTY": "",
		"CHAIN": "${API_TOKEN}", "PW": "p$REGION!x", "HOME": "/home/dev",
	}
	if goos == "windows" {
		delete(env, "HOME")
		env["USERPROFILE"], env["APPDATA"] = `C:\Users\dev`, `C:\Users\dev\AppData\Roaming`
	}
	lookup := func(m map[string]string, origin string) normalize.Vars {
		return func(name string) (string, string, bool) {
			v, ok := m[name]
			return v, origin, ok
		}
	}
	return []normalize.Vars{lookup(env, "env"), lookup(map[string]string{"VAULT_KEY": "vk-456"}, "vault")}
}

func caseOptions(goos string) *normalize.ExpandOptions {
	if goos == "windows" {
		return &normalize.ExpandOptions{GOOS: goos, Home: `C:\Users\dev`, Workspace: `C:\ws`}
	}
	return &normalize.ExpandOptions{GOOS: goos, Home: "/home/dev", Workspace: "/srv/ws"}
}

// resolve gives the record of a server in the environment of the cases.
func resolve(t *testing.T, s normalize.Server, goos string) record {
	t.Helper()
	launch, notes, err := s.Expand(context.Background(), caseVars(goos), caseOptions(goos))
	if err != nil && s.Err == nil {
		t.Fatalf("%s: Expand: %v", s.Name, err)
	}
	r := recordOf(s, launch)
	for _, n := range append(slices.Clone(s.Notes), notes...) {
		r.Warnings = append(r.Warnings, n.String())
	}
	if s.Err != nil {
		r.Error = normalize.Note{Code: s.Err.Code, Subject: s.Err.Subject}.String()
		return r
	}
	if s.Equivalent != nil {
		direct := recordOf(*s.Equivalent, *launch.Equivalent)
		r.Equivalent = &direct
	}
	argv, err := launch.Argv("windows")
	if err != nil {
		t.Fatalf("%s: Argv: %v", s.Name, err)
	}
	r.LaunchWindows = argv
	return r
}

func recordOf(s normalize.Server, l normalize.Launch) record {
	r := record{
		Name: s.Name, Scope: s.Scope, Choice: s.Choice, Block: s.Block, Transport: string(s.Transport),
		Command: l.Command, Args: l.Args, Env: pairMap(l.Env), EnvUnset: l.EnvUnset, EnvFrom: l.EnvFrom, EnvFile: l.EnvFile,
		Cwd: l.Cwd, URL: l.URL, Headers: pairMap(l.Headers), Image: l.Image,
		Tools: tools{Allow: s.AllowTools, Deny: s.DenyTools, AutoApprove: s.AutoApprove},
		TimeoutsMS: timeouts{
			Startup: s.StartTimeout.Milliseconds(), Call: s.CallTimeout.Milliseconds(),
		},
		OAuth: oauthJSON(l.OAuth),
	}
	if s.Disabled {
		off := false
		r.Enabled = &off
	}
	return r
}

func pairMap(pairs []normalize.Pair) map[string]string {
	if len(pairs) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, p := range pairs {
		m[p.Name] = p.Value
	}
	return m
}

// oauthJSON gives what is said about signing in as decoded JSON.
func oauthJSON(o *normalize.OAuth) any {
	if o == nil {
		return nil
	}
	if o.Off {
		return false
	}
	m := map[string]any{}
	if o.ClientID != "" {
		m["client_id"] = o.ClientID
	}
	if o.ClientSecret != "" {
		m["client_secret"] = o.ClientSecret
	}
	if len(o.Scopes) > 0 {
		var scopes []any
		for _, s := range o.Scopes {
			scopes = append(scopes, s)
		}
		m["scopes"] = scopes
	}
	return m
}

// onlyGiven takes out of got what a case gives only where it is worth checking.
func onlyGiven(want, got *record) {
	if want.Image == "" {
		got.Image = ""
	}
	if want.LaunchWindows == nil {
		got.LaunchWindows = nil
	}
	if want.Equivalent != nil && got.Equivalent != nil {
		want.Equivalent.Name, got.Equivalent.Name = "", ""
	}
}

var recordOptions = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool {
		last := p.Last().String()
		return last != ".Allow" && last != ".OAuth"
	}, cmpopts.EquateEmpty()),
	cmp.FilterPath(func(p cmp.Path) bool {
		last := p.Last().String()
		return last == ".Warnings" || last == ".DocWarnings"
	}, cmpopts.SortSlices(strings.Compare)),
}

// TestCases reads each file of testdata/configs that has an expected result
// beside it.
func TestCases(t *testing.T) {
	for _, dir := range []string{"configs", "clients"} {
		wants, err := filepath.Glob(filepath.Join("testdata", dir, "*.want"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range wants {
			t.Run(dir+"/"+strings.TrimSuffix(filepath.Base(path), ".want"), func(t *testing.T) {
				testCase(t, path)
			})
		}
	}
}

func testCase(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want caseFile
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	text, err := os.ReadFile(strings.TrimSuffix(path, ".want"))
	if err != nil {
		t.Fatal(err)
	}
	paste, err := normalize.Parse(text, &normalize.ParseOptions{Dialect: normalize.Dialect(want.Dialect), GOOS: want.OS, Name: filepath.Base(strings.TrimSuffix(path, ".want"))})
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	got := caseFile{OS: want.OS, Dialect: want.Dialect}
	for _, n := range paste.Notes {
		got.DocWarnings = append(got.DocWarnings, n.String())
	}
	for _, s := range paste.Servers {
		got.Servers = append(got.Servers, resolve(t, s, want.OS))
	}
	for i := range min(len(want.Servers), len(got.Servers)) {
		onlyGiven(&want.Servers[i], &got.Servers[i])
	}
	if diff := cmp.Diff(want, got, recordOptions); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
