package connections

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// Record is one server as it goes over the wire, and as the commands print it:
// the fields that a person knows from configuration files. What is left out is
// empty, or for Enabled true.
type Record struct {
	// Name is the server's name, as it was written.
	Name string `json:"name,omitempty"`
	// Scope, Choice and Block tell where in a text of several scopes, ways to run
	// a server or fences the record stood.
	Scope  string `json:"scope,omitempty"`
	Choice string `json:"choice,omitempty"`
	Block  int    `json:"block,omitempty"`

	Target

	// Equivalent is a simpler way to reach the same server.
	Equivalent *Target `json:"equivalent,omitempty"`
	// Image is the container image that the command runs.
	Image string `json:"image,omitempty"`
	// LaunchWindows is the command line on Windows.
	LaunchWindows []string `json:"launch_windows,omitempty"`
	// Error says why there is nothing to run: a code, and its subject after a
	// colon.
	Error string `json:"error,omitempty"`
	// Warnings are notes: a code, and its subject after a colon.
	Warnings []string `json:"warnings,omitempty"`
}

// Target is how to run or reach a server.
type Target struct {
	// Transport is stdio, http, sse or ws.
	Transport string `json:"transport,omitempty"`
	// Command and Args start the server.
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Env is added to the environment; EnvUnset are taken out of it, EnvFrom
	// passed on.
	Env      map[string]string `json:"env,omitempty"`
	EnvUnset []string          `json:"env_unset,omitempty"`
	EnvFrom  []string          `json:"env_from,omitempty"`
	// EnvFile is a file of variables, which nothing here reads.
	EnvFile string `json:"env_file,omitempty"`
	// Cwd is the working folder.
	Cwd string `json:"cwd,omitempty"`
	// URL and Headers reach the server.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// OAuth is false for off, or an object with client_id, client_secret and
	// scopes.
	OAuth json.RawMessage `json:"oauth,omitempty"`

	// Enabled is false for a server that is off, and left out for all others.
	Enabled *bool `json:"enabled,omitempty"`
	// Tools says which tools to offer.
	Tools *ToolRules `json:"tools,omitempty"`
	// TimeoutsMS has timeouts in milliseconds: of the start, and of one call.
	TimeoutsMS *Timeouts `json:"timeouts_ms,omitempty"`
}

// ToolRules say which tools of a server to offer.
type ToolRules struct {
	// Allow are the only ones; left out means all, and empty none.
	Allow []string `json:"allow,omitzero"`
	// Deny are taken away.
	Deny []string `json:"deny,omitempty"`
	// AutoApprove are what the text wants to run without a question. It is not
	// in force.
	AutoApprove []string `json:"auto_approve,omitempty"`
}

// Timeouts are in milliseconds.
type Timeouts struct {
	// Startup bounds connecting, and listing what there is.
	Startup float64 `json:"startup,omitempty"`
	// Call bounds one request.
	Call float64 `json:"call,omitempty"`
}

// RecordOf makes a Record of a server. launch is what its references resolve to;
// nil leaves them as they are, so that the record holds no value of any. The
// notes become warnings.
func RecordOf(s *normalize.Server, launch *normalize.Launch, notes []normalize.Note) Record {
	r := Record{Name: s.Name, Scope: s.Scope, Choice: s.Choice, Block: s.Block, Warnings: noteTexts(notes)}
	if s.Err != nil {
		r.Error = normalize.Note{Code: s.Err.Code, Subject: s.Err.Subject}.String()
		return r
	}
	if launch == nil {
		launch = asWritten(s)
	}
	r.Target = targetOf(s, launch)
	if s.Equivalent != nil && launch.Equivalent != nil {
		direct := targetOf(s.Equivalent, launch.Equivalent)
		r.Equivalent = &direct
	}
	r.Image = launch.Image
	if argv, err := launch.Argv("windows"); err == nil {
		r.LaunchWindows = argv
	}
	return r
}

// targetOf joins what a record says with what its launch resolves to.
func targetOf(s *normalize.Server, l *normalize.Launch) Target {
	t := Target{
		Transport: string(s.Transport), Command: l.Command, Args: l.Args,
		Env: pairMap(l.Env), EnvUnset: l.EnvUnset, EnvFrom: l.EnvFrom, EnvFile: l.EnvFile,
		Cwd: l.Cwd, URL: l.URL, Headers: pairMap(l.Headers), OAuth: oauthJSON(l.OAuth),
	}
	if s.Disabled {
		t.Enabled = new(bool)
	}
	if s.AllowTools != nil || len(s.DenyTools)+len(s.AutoApprove) > 0 {
		t.Tools = &ToolRules{s.AllowTools, s.DenyTools, s.AutoApprove}
	}
	if s.StartTimeout+s.CallTimeout > 0 {
		t.TimeoutsMS = &Timeouts{milliseconds(s.StartTimeout), milliseconds(s.CallTimeout)}
	}
	return t
}

// milliseconds keeps fractions: timeouts may be given as such.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// pairMap loses the order, which means nothing to the reader of a reply.
func pairMap(list []normalize.Pair) map[string]string {
	m := make(map[string]string, len(list))
	for _, p := range list {
		m[p.Name] = p.Value
	}
	return m
}

// oauthJSON is an object, false for off, or nothing where nothing is said.
func oauthJSON(o *normalize.OAuth) json.RawMessage {
	switch {
	case o == nil:
		return nil
	case o.Off:
		return json.RawMessage("false")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		ClientID     string   `json:"client_id,omitempty"`
		ClientSecret string   `json:"client_secret,omitempty"`
		Scopes       []string `json:"scopes,omitempty"`
	}{o.ClientID, o.ClientSecret, o.Scopes})
	if err != nil { // texts always have a JSON form
		return json.RawMessage("{}")
	}
	return bytes.TrimSpace(b.Bytes())
}

// noteTexts gives codes with subjects, without sentences: they are the stable part.
func noteTexts(notes []normalize.Note) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = n.String()
	}
	return out
}

// asWritten gives a record's fields with their references unresolved.
func asWritten(s *normalize.Server) *normalize.Launch {
	l := &normalize.Launch{
		Name: s.Name, Transport: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env, EnvUnset: s.EnvUnset,
		EnvFrom: s.EnvFrom, EnvFile: s.EnvFile, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers, OAuth: s.OAuth, Image: s.Image,
	}
	if s.Equivalent != nil {
		l.Equivalent = asWritten(s.Equivalent)
	}
	return l
}
