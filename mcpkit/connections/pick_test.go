package connections_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/vault"
)

// tokens are arguments with so many different secrets under one name.
func tokens(n int) []string {
	args := make([]string, n)
	for i := range args {
		args[i] = fmt.Sprintf("token=a%dbcdef", i)
	}
	return args
}

// Each secret asks for about one name, however many there are of one base.
func TestNamesAreAskedForOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	free := func(string, string) bool { calls++; return true }
	_, found, err := connections.LiftBy(t.Context(), &normalize.Server{Name: "s", Args: tokens(connections.MaxSecrets)}, free)
	if err != nil || len(found) != connections.MaxSecrets || found["S_TOKEN"] == "" || found["S_TOKEN_100"] == "" {
		t.Fatalf("%d secrets, %v", len(found), err)
	}
	if calls > connections.MaxSecrets {
		t.Errorf("asked %d times", calls)
	}

	// Of a name that another value has: once for it, and then again for a value
	// that may be that.
	calls = 0
	held := map[string]string{"S_TOKEN": "other", "S_TOKEN_2": "a1bcdef"}
	_, found, err = connections.LiftBy(t.Context(), &normalize.Server{Name: "s", Args: tokens(3)}, func(name, value string) bool {
		calls++
		return held[name] == "" || held[name] == value
	})
	want := map[string]string{"S_TOKEN_2": "a1bcdef", "S_TOKEN_3": "a0bcdef", "S_TOKEN_4": "a2bcdef"}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	if calls > 7 {
		t.Errorf("asked %d times", calls)
	}
}

// A record with too many secrets is refused before more than that are named.
func TestTooManySecrets(t *testing.T) {
	t.Parallel()
	address := "https://x.example.com/mcp?" + strings.Join(tokens(20_000), "&")
	for name, s := range map[string]*normalize.Server{
		"arguments": {Name: "s", Args: tokens(connections.MaxSecrets + 1)},
		"a url":     {Name: "s", URL: address},
	} {
		calls := 0
		out, found, err := connections.LiftBy(t.Context(), s, func(string, string) bool { calls++; return true })
		if e, ok := errors.AsType[*result.Error](err); !ok || e.Code != connections.CodeTooManySecrets || !strings.Contains(e.Message, "more than 100") {
			t.Errorf("%s: %v", name, err)
		}
		if calls > connections.MaxSecrets || len(found) > 0 || out.URL != "" || out.Args != nil {
			t.Errorf("%s: asked %d times, found %d", name, calls, len(found))
		}
	}
	same := slices.Repeat([]string{"token=a0bcdef"}, 500)
	if _, found, err := connections.LiftBy(t.Context(), &normalize.Server{Name: "s", Args: same}, func(string, string) bool { return true }); len(found) != 1 || err != nil {
		t.Errorf("one secret 500 times: %d, %v", len(found), err)
	}
}

// Who calls can end the search for a name.
func TestLiftEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, _, err := connections.LiftBy(ctx, &normalize.Server{Name: "s", Args: tokens(2)}, func(string, string) bool {
		if calls++; calls == 10 {
			cancel()
		}
		return calls > 1000
	})
	if !errors.Is(err, context.Canceled) || calls != 10 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// What a proposal reads of the vault does not grow with the secrets of the text.
func TestPrepareReadsTheVaultOnce(t *testing.T) {
	t.Parallel()
	reads := func(n int) map[string]int {
		d := newDesk(t)
		d.set(t, "S_TOKEN", "other")
		d.set(t, "S_TOKEN_2", "another")
		store := d.connections(t)
		p := wiretest.Dial(t, d.serverOf(t, store), wiretest.Stateless, "codex")
		counts := connections.CountReads(store, nil)
		r, raw := call(t, p, "register_server", prepare(m{"text": encode(t, m{"mcpServers": m{"s": m{"command": "x", "args": tokens(n)}}})}))
		if r.ProposalToken == "" || !slices.Contains(r.Proposal.Refs, "S_TOKEN_3") || len(r.Proposal.Refs) != n {
			t.Fatal(raw)
		}
		return counts
	}
	few, many := reads(3), reads(60)
	if diff := cmp.Diff(few, many); diff != "" {
		t.Errorf("reads for 3 and for 60 secrets (-3 +60):\n%s", diff)
	}
	if few["Get"] > 8 || few["Names"] > 4 {
		t.Errorf("reads %v", few)
	}
}

// A vault that cannot be read ends the search for a name.
func TestPrepareWithoutVault(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.set(t, "S_TOKEN", "other")
	store := d.connections(t)
	p := wiretest.Dial(t, d.serverOf(t, store), wiretest.Stateless, "codex")
	connections.CountReads(store, &vault.Error{Code: vault.CodeTampered})
	text := encode(t, m{"mcpServers": m{"s": m{"command": "x", "args": tokens(1)}}})
	for tool, args := range map[string]m{"register_server": prepare(m{"text": text}), "normalize_config": {"text": text}} {
		if r, raw := call(t, p, tool, args); r.Error.Code != string(vault.CodeTampered) {
			t.Errorf("%s: %s", tool, raw)
		}
	}
}

// No secret gets a name that means something to systems or programs.
func TestReservedNames(t *testing.T) {
	t.Parallel()
	const secret = "ghp_0123456789abcdefghij"
	for server, want := range map[string]string{
		"path": "PATH_SECRET", "Home": "HOME_SECRET", "user": "USER_SECRET", "shell": "SHELL_SECRET", "lang": "LANG_SECRET",
		"tmp": "TMP_SECRET", "ld_preload": "SECRET_LD_PRELOAD_SECRET", "lc all": "SECRET_LC_ALL_SECRET", "node-options": "NODE_OPTIONS_SECRET",
		"windir": "WINDIR_SECRET", "paths": "PATHS", "acme": "ACME", "": "SECRET",
	} {
		out, found, err := connections.Lift(&normalize.Server{Name: server, Args: []string{"/opt/" + secret + "/run"}})
		if err != nil || found[want] != secret || len(found) != 1 || out.Args[0] != "/opt/${"+want+"}/run" {
			t.Errorf("%s: %q, %v, %v", server, out.Args, found, err)
		}
	}

	// Nor does the variable of a server itself.
	_, found, err := connections.Lift(&normalize.Server{Name: "acme", Env: []normalize.Pair{{Name: "ld_preload", Value: secret}, {Name: "API_KEY", Value: "canary-1"}}})
	if diff := cmp.Diff(map[string]string{"ACME_LD_PRELOAD": secret, "API_KEY": "canary-1"}, found); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}

	// The second secret is numbered behind the word.
	_, found, err = connections.Lift(&normalize.Server{Name: "path", Args: []string{secret, secret + "k"}})
	if found["PATH_SECRET"] == "" || found["PATH_SECRET_2"] == "" || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// Package normalize notes variables as dangerous that cannot be asked for from here:
// its list is in this one.
func TestReservedHasDangerous(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../normalize/internal/risk/risk.go")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`"([A-Z0-9_]+)"`).FindAllSubmatch(source, -1)
	if len(list) < 40 {
		t.Fatalf("%d names", len(list))
	}
	for _, match := range list {
		if name := string(match[1]); !connections.Reserved(name) {
			t.Errorf("%s is free", name)
		}
	}
}
