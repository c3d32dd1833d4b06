package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

func TestInit(t *testing.T) {
	h := newHome(t)
	for path, want := range map[string]os.FileMode{
		h.vault():                                     0o700,
		filepath.Join(h.vault(), "vault.json"):        0o600,
		filepath.Join(filepath.Dir(h.vault()), "key"): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	key, err := os.ReadFile(filepath.Join(filepath.Dir(h.vault()), "key"))
	if err != nil {
		t.Fatal(err)
	}
	out, msgs, code := runCommand(t, "", "init", "-profile", "work")
	if code != 0 || out == "" || strings.Contains(out, "made the vault") || !strings.Contains(out, "made the profile work") {
		t.Errorf("again: %d %s%s", code, out, msgs)
	}
	if again, err := os.ReadFile(filepath.Join(filepath.Dir(h.vault()), "key")); err != nil || string(again) != string(key) {
		t.Errorf("the key file was changed: %v", err)
	}

	elsewhere := filepath.Join(h.dir, "elsewhere")
	if out, msgs, code := runCommand(t, "", "-vault", elsewhere, "-key-file", filepath.Join(elsewhere, "key"), "init"); code != 1 || !strings.Contains(msgs, "inside the folder of the vault") {
		t.Errorf("a key inside: %d %s%s", code, out, msgs)
	}
	if _, msgs, code := runCommand(t, "", "-vault", elsewhere, "-key-file", filepath.Join(h.dir, "-k"), "init"); code != 1 || !strings.Contains(msgs, "error: -key-file ") {
		t.Errorf("a key file that cannot be made: %d %s", code, msgs)
	}
	if _, err := os.Stat(elsewhere); !os.IsNotExist(err) {
		t.Errorf("something was made: %v", err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(h.vault()), "key")); err != nil {
		t.Fatal(err)
	}
	if out, msgs, code := runCommand(t, "", "init"); code != 1 || !strings.Contains(msgs, "key") {
		t.Errorf("a vault without its key: %d %s%s", code, out, msgs)
	}
}

func TestSecrets(t *testing.T) {
	h := newHome(t)
	steps := []struct {
		stdin string
		args  []string
		want  string // in what is printed
		code  int
	}{
		{"", []string{"secret", "list"}, "", 0},
		{canary + "\n", []string{"secret", "set", "API_TOKEN"}, "stored API_TOKEN in the profile default\n", 0},
		{canary, []string{"secret", "set", "input:tok"}, "stored input:tok in the profile default\n", 0},
		{"", []string{"secret", "list"}, "API_TOKEN\ninput:tok\n", 0},
		{"", []string{"secret", "set", "EMPTY"}, "the value is empty", 1},
		{strings.Repeat("x", maxSecret+1), []string{"secret", "set", "LONG"}, "more than 65536 bytes", 1},
		{"", []string{"secret", "set", "API_TOKEN", canary}, "takes other arguments", 2},
		{"", []string{"secret", "set", "a/b"}, "is no name of a secret", 2},
		{"", []string{"secret", "show", "API_TOKEN"}, "secret set NAME", 2},
		{"", []string{"secret"}, "takes other arguments", 2},
		{"", []string{"secret", "rm", "API_TOKEN"}, "removed API_TOKEN from the profile default\n", 0},
		{"", []string{"secret", "rm", "API_TOKEN"}, "no such secret", 1},
		{"", []string{"secret", "list"}, "input:tok\n", 0},
	}
	for _, step := range steps {
		out, msgs, code := runCommand(t, step.stdin, step.args...)
		if code != step.code || step.want == "" && out+msgs != "" || !strings.Contains(out+msgs, step.want) || strings.Contains(out+msgs, canary) {
			t.Errorf("%q ended with %d: %s%s", step.args, code, out, msgs)
		}
	}
	if _, hits, err := search(h.dir, canary); err != nil || hits > 0 {
		t.Errorf("%d files have the secret, %v", hits, err)
	}
}

// TestConnectionCommands looks at a connection as a person does.
func TestConnectionCommands(t *testing.T) {
	h := newHome(t)
	h.workspace(t)
	if out, _, _ := runCommand(t, "", "list"); out != "no connections\n" {
		t.Error(out)
	}
	s := start(t, peer.Identity{Name: "claude-code", Version: "2.1.332"})
	proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
	if proposed.ProposalToken == "" {
		t.Fatal(raw)
	}
	s.call(t, "register_server", apply(proposed.ProposalToken))
	s.end(t)
	steps := []struct {
		args []string
		want string
		code int
	}{
		{[]string{"list"}, "handbook  stdio  on  7 tools", 0},
		{[]string{"disable", "handbook"}, "off", 0},
		{[]string{"list", "-profile", "default"}, "off", 0},
		{[]string{"enable", "handbook"}, "\ton\t", 0},
		{[]string{"enable", "handbooks"}, `"handbook" is one`, 1},
		{[]string{"probe", "handbook"}, "the tools are those that were approved", 0},
		{[]string{"probe", "nothing"}, "there is no connection", 1},
		{[]string{"approve"}, "nothing waits for approval", 0},
		{[]string{"approve", "0123456789ab"}, "0123456789ab", 1},
		{[]string{"approve", "reject"}, "say connections approve reject ID...", 2},
		{[]string{"-vault", filepath.Join(h.dir, "none"), "approve", "reject"}, "say connections approve reject ID...", 2},
		{[]string{"list", "-profile", "nobody"}, `no profile "nobody"`, 1},
		{[]string{"-vault", filepath.Join(h.dir, "none"), "list"}, "connections -vault " + filepath.Join(h.dir, "none") + " init", 1},
		{[]string{"list", "x"}, `the command "list" takes other arguments: say connections list; run with -h`, 2},
		{[]string{"enable"}, `the command "enable" takes other arguments: say connections enable NAME; run with -h`, 2},
		{[]string{"-http", "127.0.0.1:port"}, "-http 127.0.0.1:port: give an address such as", 1},
		{[]string{"destroy"}, `unknown command "destroy"; run with -h`, 2},
		{[]string{"-nope"}, "not defined", 2},
		{[]string{"-approve", "never", "list"}, "want token, elicit or command", 2},
		{[]string{"-h"}, "usage: connections [flags]", 0},
		{[]string{"list", "-h"}, "-key-file", 0},
		{[]string{"help"}, "-approve", 0},
		{[]string{"resolve", "https://user:" + canary + "@/"}, "error: lookup", 1},
		{[]string{"-http", "0.0.0.0:0"}, "open to other machines", 1},
	}
	for _, step := range steps {
		out, msgs, code := runCommand(t, "", step.args...)
		if code != step.code || !strings.Contains(out+msgs, step.want) || strings.Contains(out+msgs, canary) {
			t.Errorf("%q ended with %d, want %d and %q:\n%s%s", step.args, code, step.code, step.want, out, msgs)
		}
	}
}

// TestVaultThatDoesNotOpen holds that a message names the flag that mends it, and
// that a command line which is wrong is told so before the vault is looked at.
func TestVaultThatDoesNotOpen(t *testing.T) {
	h := newHome(t)
	other, open := filepath.Join(h.dir, "other"), filepath.Join(h.dir, "open")
	for path, text := range map[string]string{other: strings.Repeat("A", 43) + "=\n", open: "x"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o644); err != nil { //nolint:gosec // it is to be refused
		t.Fatal(err)
	}
	none := filepath.Join(h.dir, "none")
	steps := []struct {
		args []string
		want string
		code int
	}{
		{[]string{"-key-file", other, "list"}, "-key-file " + other + ": open: the key does not open the vault", 1},
		{[]string{"-key-file", open, "list"}, "-key-file " + open + ": key: the key file is not safe", 1},
		{[]string{"-key-file", none, "list"}, "-key-file " + none + ": key: the key is not available", 1},
		{[]string{"-key-file", filepath.Join(h.vault(), "vault.json"), "list"}, "inside the vault's directory", 1},
		{[]string{"-key-file", other, "init"}, "-key-file " + other + ": open: the key does not open the vault", 1},
		{[]string{"-profile", "a b", "init"}, "-profile 'a b': create: the argument is not well formed", 1},
		{[]string{"-vault", none, "secret", "set"}, "say connections secret set NAME", 2},
		{[]string{"-vault", none, "secret", "set", "1a"}, "is no name of a secret", 2},
		{[]string{"-vault", none, "secret", "set", "A"}, "there is no vault in " + none, 1},
	}
	for _, step := range steps {
		out, msgs, code := runCommand(t, "", step.args...)
		if code != step.code || !strings.Contains(out+msgs, step.want) {
			t.Errorf("%q ended with %d, want %d and %q:\n%s%s", step.args, code, step.code, step.want, out, msgs)
		}
	}
	if err := os.WriteFile(filepath.Join(h.vault(), "vault.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"list", "init"} {
		if out, msgs, code := runCommand(t, "", command); code != 1 || !strings.Contains(msgs, "-vault "+h.vault()+": open: the file is not a vault") {
			t.Errorf("%s ended with %d: %s%s", command, code, out, msgs)
		}
	}
}
