package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// result is what normalize prints.
type result struct {
	DocWarnings []string `json:"doc_warnings"`
	Servers     []record `json:"servers"`
}

// record is one server as normalize prints it. What is left out is empty, or
// for enabled true.
type record struct {
	Name          string            `json:"name,omitempty"`
	Scope         string            `json:"scope,omitempty"`
	Choice        string            `json:"choice,omitempty"`
	Block         int               `json:"block,omitempty"`
	Transport     string            `json:"transport,omitempty"`
	Command       string            `json:"command,omitempty"`
	Args          []string          `json:"args,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	EnvUnset      []string          `json:"env_unset,omitempty"`
	EnvFrom       []string          `json:"env_from,omitempty"`
	EnvFile       string            `json:"env_file,omitempty"`
	Cwd           string            `json:"cwd,omitempty"`
	URL           string            `json:"url,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	OAuth         *oauth            `json:"oauth,omitempty"`
	Enabled       *bool             `json:"enabled,omitempty"`
	Tools         *tools            `json:"tools,omitempty"`
	TimeoutsMS    *timeouts         `json:"timeouts_ms,omitempty"`
	Equivalent    *record           `json:"equivalent,omitempty"`
	Image         string            `json:"image,omitempty"`
	LaunchWindows []string          `json:"launch_windows,omitempty"`
	Error         string            `json:"error,omitempty"`
	Warnings      []string          `json:"warnings,omitempty"`
}

type tools struct {
	Allow       []string `json:"allow,omitzero"` // empty: no tool
	Deny        []string `json:"deny,omitempty"`
	AutoApprove []string `json:"auto_approve,omitempty"`
}

type timeouts struct {
	Startup float64 `json:"startup,omitempty"`
	Call    float64 `json:"call,omitempty"`
}

// oauth is an object, or false for off.
type oauth normalize.OAuth

// MarshalJSON writes the object, or false.
func (o oauth) MarshalJSON() ([]byte, error) {
	if o.Off {
		return []byte("false"), nil
	}
	return json.Marshal(struct {
		ClientID     string   `json:"client_id,omitempty"`
		ClientSecret string   `json:"client_secret,omitempty"`
		Scopes       []string `json:"scopes,omitempty"`
	}{o.ClientID, o.ClientSecret, o.Scopes})
}

// newRecord joins what a record says and what its launch resolves to.
func newRecord(s *normalize.Server, l *normalize.Launch, notes []normalize.Note, fault *normalize.Error) record {
	r := record{Name: s.Name, Scope: s.Scope, Choice: s.Choice, Block: s.Block, Warnings: noteTexts(notes)}
	if fault != nil {
		r.Error = normalize.Note{Code: fault.Code, Subject: fault.Subject}.String()
		return r
	}
	r.launch(s, l)
	if s.Equivalent != nil && l.Equivalent != nil {
		r.Equivalent = &record{}
		r.Equivalent.launch(s.Equivalent, l.Equivalent)
	}
	r.Image = l.Image
	if argv, err := l.Argv("windows"); err == nil {
		r.LaunchWindows = argv
	}
	return r
}

// windowsNotes says why a launch has no command line on Windows.
func windowsNotes(l *normalize.Launch) []normalize.Note {
	_, err := l.Argv("windows")
	e, ok := errors.AsType[*normalize.Error](err)
	if !ok {
		return nil
	}
	return []normalize.Note{{Code: normalize.NotExpressible, Subject: "launch_windows." + e.Subject, Message: e.Message}}
}

func (r *record) launch(s *normalize.Server, l *normalize.Launch) {
	r.Transport, r.Command, r.Args = string(s.Transport), l.Command, l.Args
	r.Env, r.EnvUnset, r.EnvFrom, r.EnvFile = pairs(l.Env), l.EnvUnset, l.EnvFrom, l.EnvFile
	r.Cwd, r.URL, r.Headers, r.OAuth = l.Cwd, l.URL, pairs(l.Headers), (*oauth)(l.OAuth)
	if s.Disabled {
		r.Enabled = new(bool)
	}
	if s.AllowTools != nil || len(s.DenyTools)+len(s.AutoApprove) > 0 {
		r.Tools = &tools{s.AllowTools, s.DenyTools, s.AutoApprove}
	}
	if s.StartTimeout+s.CallTimeout > 0 {
		r.TimeoutsMS = &timeouts{milliseconds(s.StartTimeout), milliseconds(s.CallTimeout)}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func pairs(list []normalize.Pair) map[string]string {
	m := make(map[string]string, len(list))
	for _, p := range list {
		m[p.Name] = p.Value
	}
	return m
}

func noteTexts(notes []normalize.Note) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = n.String()
	}
	return out
}

// asWritten gives a record's fields with their references unresolved.
func asWritten(s *normalize.Server) normalize.Launch {
	l := normalize.Launch{
		Name: s.Name, Transport: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env, EnvUnset: s.EnvUnset,
		EnvFrom: s.EnvFrom, EnvFile: s.EnvFile, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers, OAuth: s.OAuth, Image: s.Image,
	}
	if s.Equivalent != nil {
		direct := asWritten(s.Equivalent)
		l.Equivalent = &direct
	}
	return l
}
