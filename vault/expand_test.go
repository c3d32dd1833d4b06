package vault_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/vault"
)

// varsOf lets a profile answer the references of a pasted config, as servers
// do. asked counts what was looked up; failed keeps what is not a missing name.
func varsOf(p *vault.Profile, asked map[string]int, failed *error) normalize.Vars {
	return func(name string) (value, origin string, ok bool) {
		asked[name]++
		secret, from, err := p.Get(name)
		if err != nil {
			if vault.CodeOf(err) != vault.CodeSecretMissing {
				*failed = errors.Join(*failed, err)
			}
			return "", "", false
		}
		return secret.Reveal(), from.String(), true
	}
}

// TestExpansion puts a vault behind the expander: a value is never looked at
// again, a denied name is not looked up, a value that its field cannot hold is
// refused without being shown, and what is stored holds references only.
func TestExpansion(t *testing.T) {
	v, dir := create(t)
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(
			tx.Set(vault.Default, "TOKEN", "canary-4f1c ${OTHER}"), tx.Set(vault.Default, "OTHER", "never"),
			tx.Set(vault.Default, "LINES", "canary-4f1c\r\nX-More: 1"),
		)
	})
	paste, err := normalize.Parse([]byte(`{"mcpServers": {
		"tracker": {"command": "tracker", "env": {"T": "${TOKEN}", "H": "${HIDDEN}"}},
		"printer": {"type": "http", "url": "https://printer.example/mcp", "headers": {"X-Key": "${LINES}"}}}}`), nil)
	if err != nil || len(paste.Servers) != 2 {
		t.Fatalf("Parse gave %v and %v", paste, err)
	}
	var failed error
	asked := map[string]int{}
	vars := []normalize.Vars{varsOf(profile(t, v, vault.Default), asked, &failed)}
	opts := &normalize.ExpandOptions{GOOS: "linux", Allow: func(r normalize.Ref) bool { return r.Name != "HIDDEN" }}
	tracker, printer := &paste.Servers[0], &paste.Servers[1]
	launch, notes, err := tracker.Expand(t.Context(), vars, opts)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, pair := range launch.Env {
		env[pair.Name] = pair.Value
	}
	if env["T"] != "canary-4f1c ${OTHER}" || env["H"] != "${HIDDEN}" {
		t.Errorf("the environment is %q", env)
	}
	if asked["OTHER"]+asked["HIDDEN"] != 0 || asked["TOKEN"] == 0 {
		t.Errorf("looked up: %v", asked)
	}
	denied := false
	for _, n := range notes {
		denied = denied || n.Code == normalize.RefDenied
	}
	if !denied {
		t.Errorf("the notes %v do not name what was denied", notes)
	}
	_, _, err = printer.Expand(t.Context(), vars, opts)
	if err == nil {
		t.Error("a header with a line break was taken")
	}
	wantClean(t, "the error", printed(t, err))
	for i := range paste.Servers {
		s := &paste.Servers[i]
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		update(t, v, func(tx *vault.Tx) error {
			return tx.SetRecord(vault.Default, vault.Record{Name: s.Name, Data: data})
		})
		record, err := profile(t, v, vault.Default).Record(s.Name)
		if err != nil || !bytes.Contains(record.Data, []byte("${")) {
			t.Errorf("the record is %s, %v", record.Data, err)
		}
		wantClean(t, "the record", string(record.Data))
	}
	wantClean(t, "the directory", dirText(t, dir))
	if failed != nil {
		t.Error(failed)
	}
}
