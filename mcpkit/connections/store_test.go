package connections_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/vault"
)

// fake replaces probes by ones that find the given tools.
func (d *desk) fake(tools ...string) {
	d.opts.Probe = func(context.Context, normalize.Launch, *probe.Options) (probe.Report, error) {
		return probe.Report{Name: "fake", Version: "1", Protocol: "2025-11-25", Tools: tools, Digest: fmt.Sprintf("%064x", len(tools))}, nil
	}
}

// add registers a pasted text, under the given name.
func (d *desk) add(tb testing.TB, name, text string) {
	tb.Helper()
	p := wiretest.Dial(tb, d.server(tb), wiretest.Stateless, "codex")
	r, raw := call(tb, p, "register_server", prepare(m{"text": text, "name": name, "replace": true}))
	if r.ProposalToken == "" {
		tb.Fatal(raw)
	}
	if done, raw := call(tb, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		tb.Fatal(raw)
	}
}

func (d *desk) secrets(tb testing.TB) []string {
	tb.Helper()
	names, err := d.connections(tb).Secrets()
	if err != nil {
		tb.Fatal(err)
	}
	return names
}

func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return ""
}

func TestListInPages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	var want []string
	for i := range 12 {
		name := fmt.Sprintf("server %02d", i)
		want = append(want, name)
		d.add(t, name, `{"command": "acme", "args": ["`+strings.Repeat("long ", 300)+`"]}`)
	}
	p := wiretest.Dial(t, d.server(t), wiretest.Handshake, "zed")
	var got []string
	args, pages := m{}, 0
	for {
		r, raw := call(t, p, "list_servers", args)
		pages++
		if len(raw) > 10_000 || pages > 12 {
			t.Fatalf("page %d has %d bytes", pages, len(raw))
		}
		for _, item := range r.Items {
			got = append(got, item.Name)
		}
		if r.NextCursor == "" {
			break
		}
		args = m{"cursor": r.NextCursor}
	}
	if diff := cmp.Diff(want, got); diff != "" || pages < 2 {
		t.Errorf("%d pages (-want +got):\n%s", pages, diff)
	}
	if _, err := d.connections(t).SetEnabled(t.Context(), "server 01", false); err != nil {
		t.Fatal(err)
	}
	if r, raw := call(t, p, "list_servers", args); r.Error.Code != connections.CodeSnapshotChanged {
		t.Error(raw)
	}
}

func TestSwitchAndExport(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a", "b")
	d.add(t, "files", `{"command": "npx", "args": ["-y", "@acme/files"], "env": {"FILES_TOKEN": "`+canary+`", "REGION": "${REGION}"}}`)
	d.add(t, "off", `{"mcpServers": {"off": {"url": "https://x.example.com/mcp", "disabled": true}}}`)
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	list, raw := call(t, p, "list_servers", m{})
	if len(list.Items) != 2 || !list.Items[0].Enabled || list.Items[1].Enabled || list.Items[1].Target != "https://x.example.com/mcp" {
		t.Fatal(raw)
	}
	if _, raw := call(t, p, "set_enabled", m{"name": "files", "enabled": false}); !strings.Contains(raw, `"enabled":false`) || !strings.Contains(raw, `"target":"npx -y @acme/files"`) {
		t.Error(raw)
	}
	for _, tool := range []string{"set_enabled", "probe_server"} {
		args := m{"name": "filez"}
		if tool == "set_enabled" {
			args["enabled"] = true
		}
		if r, raw := call(t, p, tool, args); r.Error.Code != connections.CodeServerUnknown || !strings.Contains(r.Error.Message, `"files" is one`) {
			t.Error(raw)
		}
	}
	// Clients without a switch get no server that is off.
	for dialect, want := range map[string]string{"codex": "x.example.com", "goose": "x.example.com", "vscode": "not_expressible:off:enabled"} {
		out := p.Call(t, "export_config", encode(t, m{"dialect": dialect})).JSON()
		without(t, out, canary)
		if !strings.Contains(out, want) {
			t.Errorf("%s: %s", dialect, out)
		}
	}
	if _, raw := call(t, p, "set_enabled", m{"name": "files", "enabled": true}); !strings.Contains(raw, `"enabled":true`) {
		t.Error(raw)
	}
	out := p.Call(t, "export_config", `{"dialect":"claude-desktop","names":["files"]}`).JSON()
	without(t, out, canary)
	if strings.Contains(out, "x.example.com") || !strings.Contains(out, `\"FILES_TOKEN\": \"${FILES_TOKEN}\"`) {
		t.Error(out)
	}
	for args, code := range map[string]string{
		`{"dialect":"nope"}`:                     "unknown_dialect",
		`{"dialect":"cursor","names":["gone"]}`:  connections.CodeServerUnknown,
		`{"dialect":"cursor","names":["a\nb"]}`:  connections.CodeNameInvalid,
		`{"dialect":"cursor","names":"files"}`:   "invalid_arguments",
		`{"dialect":"cursor","secrets":["all"]}`: "invalid_arguments",
	} {
		if out := p.Call(t, "export_config", args).JSON(); !strings.Contains(out, `"code":"`+code+`"`) {
			t.Errorf("%s: %s", args, out)
		}
	}
}

// What came with a connection goes with it, unless another one needs it or a
// person set it.
func TestSecretsComeAndGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.env["REGION"] = "eu"
	err := d.vault.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "MINE", "set by hand") })
	if err != nil {
		t.Fatal(err)
	}
	d.add(t, "one", `{"command": "x", "args": ["${MINE}", "${REGION}"], "env": {"TOKEN": "canary-1"}}`)
	d.add(t, "two", `{"command": "x", "args": ["${REGION}"], "env": {"TOKEN": "canary-2"}}`)
	// Who would get a secret that is there already is told.
	greedy, raw := call(t, wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex"), "register_server",
		prepare(m{"text": `{"command": "x", "args": ["${TWO_TOKEN}", "${REGION}"]}`}))
	told := func(note string) bool {
		return slices.ContainsFunc(greedy.Proposal.Notes, func(n string) bool { return strings.HasPrefix(n, note) })
	}
	if !told("from_vault:TWO_TOKEN: ") || told("from_vault:REGION") {
		t.Error(raw)
	}
	if diff := cmp.Diff([]string{"MINE", "REGION", "TOKEN", "TWO_TOKEN"}, d.secrets(t)); diff != "" {
		t.Fatalf("secrets (-want +got):\n%s", diff)
	}
	d.add(t, "two", `{"command": "y", "env": {"TOKEN": "canary-3", "OTHER_KEY": "canary-4"}}`)
	if diff := cmp.Diff([]string{"MINE", "OTHER_KEY", "REGION", "TOKEN", "TWO_TOKEN"}, d.secrets(t)); diff != "" {
		t.Errorf("secrets after two was replaced (-want +got):\n%s", diff)
	}
	if got, _, err := d.profile(t).Get("TWO_TOKEN"); err != nil || got.Reveal() != "canary-3" {
		t.Errorf("TWO_TOKEN is %q, %v", got.Reveal(), err)
	}
	d.remove(t, "one")
	if diff := cmp.Diff([]string{"MINE", "OTHER_KEY", "TWO_TOKEN"}, d.secrets(t)); diff != "" {
		t.Errorf("secrets after one was removed (-want +got):\n%s", diff)
	}
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	r, text := call(t, p, "remove_server", prepare(m{"name": "two"}))
	if diff := cmp.Diff([]string{"OTHER_KEY", "TWO_TOKEN"}, r.Proposal.Secrets); diff != "" {
		t.Errorf("proposal %s (-want +got):\n%s", text, diff)
	}
	if _, err := d.connections(t).SetEnabled(t.Context(), "two", false); err != nil {
		t.Fatal(err)
	}
	if r, raw := call(t, p, "remove_server", apply(r.ProposalToken)); r.Error.Code != "proposal_stale" || !strings.Contains(raw, "server/two") {
		t.Error(raw)
	}
	d.remove(t, "two")
	if diff := cmp.Diff([]string{"MINE"}, d.secrets(t)); diff != "" {
		t.Errorf("secrets at the end (-want +got):\n%s", diff)
	}
}

// The environment comes before the vault, except for what was pasted.
func TestLaunch(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.opts.Home = "/home/ann"
	d.env["REGION"] = "eu"
	d.add(t, "x", `{"command": "x", "args": ["${REGION}", "${userHome}", "${NOWHERE}"], "env": {"TOKEN": "canary-1"}}`)
	d.env["TOKEN"] = "of the environment"
	store := d.connections(t)
	launch := func() string {
		l, err := store.Launch(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(l.Args, " ") + " " + l.Env[0].Value
	}
	if got, want := launch(), "eu /home/ann ${NOWHERE} canary-1"; got != want {
		t.Errorf("launch is %q, want %q", got, want)
	}
	d.env["REGION"] = "us"
	if got := launch(); !strings.HasPrefix(got, "us ") {
		t.Errorf("launch is %q", got)
	}
	delete(d.env, "REGION")
	if got := launch(); !strings.HasPrefix(got, "eu ") {
		t.Errorf("launch is %q", got)
	}
	d.env["PASSED"] = "on"
	d.add(t, "passing", "[mcp_servers.passing]\ncommand = \"x\"\nenv_vars = [\"PASSED\", \"NOWHERE\"]\n")
	delete(d.env, "PASSED")
	l, err := store.Launch(t.Context(), "passing")
	if err != nil || !slices.Equal(l.EnvFrom, []string{"NOWHERE"}) || !slices.Equal(l.Env, []normalize.Pair{{Name: "PASSED", Value: "on"}}) {
		t.Errorf("variables %q, passed on %q, %v", l.Env, l.EnvFrom, err)
	}
	if _, err := store.Launch(t.Context(), "y"); codeOf(err) != connections.CodeServerUnknown {
		t.Error(err)
	}
	if _, err := connections.New(d.vault, "nobody", nil); codeOf(err) != "vault_profile_missing" {
		t.Error(err)
	}
}

// A catalog that changes is told, until the server is registered again.
func TestCatalogChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	d.opts.Now = func() time.Time { return now }
	d.fake("read")
	d.add(t, "x", `{"command": "x"}`)
	verified := func() time.Time {
		list, err := d.connections(t).List()
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0].VerifiedAt
	}
	now = now.Add(time.Hour)
	p := wiretest.Dial(t, d.server(t), wiretest.Handshake, "codex")
	if r, raw := call(t, p, "probe_server", m{"name": "x"}); r.CatalogChanged || r.Error.Code != "" || !verified().Equal(now) {
		t.Error(raw, verified())
	}
	d.fake("read", "send_mail")
	now = now.Add(time.Hour)
	p = wiretest.Dial(t, d.server(t), wiretest.Handshake, "codex")
	for range 2 {
		if r, raw := call(t, p, "probe_server", m{"name": "x"}); !r.CatalogChanged || string(r.Tools) != `["read","send_mail"]` || verified().Equal(now) {
			t.Error(raw, verified())
		}
	}
	d.add(t, "x", `{"command": "x"}`)
	if r, raw := call(t, p, "probe_server", m{"name": "x"}); r.CatalogChanged || !verified().Equal(now) {
		t.Error(raw, verified())
	}
}

// What a server says of itself shows nothing that it was given, and only as much
// as fits.
func TestReports(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.opts.Probe = func(_ context.Context, l normalize.Launch, _ *probe.Options) (probe.Report, error) {
		r := probe.Report{Name: "I was given " + l.Env[0].Value, Version: l.Env[0].Value, Digest: strings.Repeat("a", 64)}
		for i := range 1000 {
			r.Tools = append(r.Tools, fmt.Sprintf("%s-%03d", l.Env[0].Value, i))
		}
		r.Duplicates = slices.Clone(r.Tools)
		return r, nil
	}
	text := `{"mcpServers": {"x": {"command": "x", "env": {"WHERE": "${WHERE}"}}}}`
	d.env["WHERE"] = "canary-of-the-environment"
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	r, raw := call(t, p, "register_server", prepare(m{"text": text}))
	if r.ProposalToken == "" {
		t.Fatal(raw)
	}
	done, raw := call(t, p, "register_server", apply(r.ProposalToken))
	without(t, raw, "canary-of-the-environment")
	if done.CommandStatus != "applied" || !strings.Contains(raw, `"omittedTools":`) || len(raw) > 20_000 || done.Probe.Name != "I was given ***" {
		t.Errorf("%d bytes: %.600s", len(raw), raw)
	}
	if list, raw := call(t, p, "list_servers", m{}); len(list.Items) != 1 || list.Items[0].Tools != 1000 {
		t.Error(raw)
	}
}

// A profile sees what those above it have, and cannot take it away from them.
func TestInherited(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.add(t, "x", `{"command": "x", "env": {"TOKEN": "canary-1"}}`)
	err := d.vault.Update(t.Context(), func(tx *vault.Tx) error { return tx.CreateProfile("work", "") })
	if err != nil {
		t.Fatal(err)
	}
	below := *d
	below.profileName = "work"
	p := wiretest.Dial(t, below.server(t), wiretest.Stateless, "codex")
	list, raw := call(t, p, "list_servers", m{})
	if len(list.Items) != 1 || list.Items[0].Profile != vault.Default {
		t.Fatal(raw)
	}
	if r, raw := call(t, p, "remove_server", prepare(m{"name": "x"})); r.Error.Code != connections.CodeServerInherited {
		t.Error(raw)
	}
	if _, raw := call(t, p, "set_enabled", m{"name": "x", "enabled": false}); !strings.Contains(raw, `"enabled":false`) {
		t.Error(raw)
	}
	if list, err := d.connections(t).List(); err != nil || !list[0].Enabled {
		t.Error("switched off above, too", list, err)
	}
	if r, raw := call(t, p, "probe_server", m{"name": "x"}); r.Error.Code != "" || r.CatalogChanged {
		t.Error(raw)
	}
	if r, raw := call(t, p, "register_server", prepare(m{"text": `{"command": "y"}`, "name": "x"})); r.Error.Code != connections.CodeServerExists {
		t.Error(raw)
	}
	below.add(t, "x", `{"command": "y", "env": {"TOKEN": "canary-2"}}`)
	if l, err := below.connections(t).Launch(t.Context(), "x"); err != nil || l.Command != "y" || l.Env[0].Value != "canary-2" {
		t.Error(l.Command, err)
	}
	if l, err := d.connections(t).Launch(t.Context(), "x"); err != nil || l.Command != "x" || l.Env[0].Value != "canary-1" {
		t.Error(l.Command, err)
	}
	below.remove(t, "x")
	if list, raw := call(t, p, "list_servers", m{}); len(list.Items) != 1 || list.Items[0].Target != "x" {
		t.Error(raw)
	}
}

// Texts that nobody asks for again, and receipts, do not pile up.
func TestNothingPilesUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	d.opts.Now = func() time.Time { return now }
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	count := func(prefix string) (n int) {
		names, err := d.profile(t).Names()
		if err != nil {
			t.Fatal(err)
		}
		records, err := d.profile(t).Records()
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			names = append(names, records[i].Name)
		}
		for _, name := range names {
			if strings.HasPrefix(name, prefix) && name != "paste/key" {
				n++
			}
		}
		return n
	}
	var first reply
	for i := range 34 {
		now = now.Add(time.Second)
		r, raw := call(t, p, "register_server", prepare(m{"text": fmt.Sprintf(`{"command": "acme", "args": ["%d"]}`, i)}))
		if r.ProposalToken == "" {
			t.Fatal(raw)
		}
		if i == 0 {
			first = r
		}
	}
	if n := count("paste/"); n != 32 {
		t.Errorf("%d texts are kept", n)
	}
	if r, raw := call(t, p, "register_server", apply(first.ProposalToken)); r.Error.Code != connections.CodePasteExpired {
		t.Error(raw)
	}
	now = now.Add(25 * time.Hour)
	d.add(t, "x", `{"command": "x"}`)
	if n := count("paste/"); n != 1 { // the mark of what was just carried out
		t.Errorf("%d texts are kept after a day", n)
	}
	for range 33 {
		now = now.Add(time.Second)
		d.add(t, "x", `{"command": "x"}`)
	}
	if n := count("receipt/"); n != 32 {
		t.Errorf("%d receipts are kept", n)
	}
	now = now.Add(25 * time.Hour)
	d.remove(t, "x")
	if n := count("receipt/"); n != 1 {
		t.Errorf("%d receipts are kept after a day", n)
	}
}

func TestFeatureMisuse(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a nil store is accepted")
		}
	}()
	connections.Feature(nil, nil)
}

func TestForeignRecords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	err := d.vault.Update(t.Context(), func(tx *vault.Tx) error {
		return errors.Join(
			tx.SetRecord(vault.Default, vault.Record{Name: "else", Data: []byte(`[]`)}),
			tx.Set(vault.Default, "paste/x/y", "of a later version"))
	})
	if err != nil {
		t.Fatal(err)
	}
	d.add(t, "x", `{"command": "x"}`)
	err = d.vault.Update(t.Context(), func(tx *vault.Tx) error {
		return tx.SetRecord(vault.Default, vault.Record{Name: "server/y", Data: []byte(`[]`)})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.connections(t).List(); codeOf(err) != connections.CodeRecordInvalid {
		t.Error(err)
	}
	if _, err := d.connections(t).Launch(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}

// A vault that cannot be read or written is told by its own code, and nothing is
// half done.
func TestVaultFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.add(t, "x", `{"command": "x"}`)
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	register, raw := call(t, p, "register_server", prepare(m{"text": `{"command": "y"}`, "name": "y"}))
	if register.ProposalToken == "" {
		t.Fatal(raw)
	}
	remove, raw := call(t, p, "remove_server", prepare(m{"name": "x"}))
	if remove.ProposalToken == "" {
		t.Fatal(raw)
	}
	file := filepath.Join(d.dir, "vault", "vault.json")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := []struct {
		tool string
		args m
	}{
		{"register_server", prepare(m{"text": `{"command": "z"}`})},
		{"register_server", prepare(m{"reference": "z"})},
		{"register_server", apply(register.ProposalToken)},
		{"remove_server", prepare(m{"name": "x"})},
		{"remove_server", apply(remove.ProposalToken)},
		{"list_servers", m{}},
		{"set_enabled", m{"name": "x", "enabled": false}},
		{"probe_server", m{"name": "x"}},
		{"export_config", m{"dialect": "codex"}},
	}
	for _, c := range calls {
		if r, raw := call(t, p, c.tool, c.args); r.Error.Code != "vault_damaged" {
			t.Errorf("%s %v: %s", c.tool, c.args, raw)
		}
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	for tool, tok := range map[string]string{"register_server": register.ProposalToken, "remove_server": remove.ProposalToken} {
		if r, raw := call(t, p, tool, apply(tok)); r.CommandStatus != "applied" {
			t.Error(raw)
		}
	}
	if list, raw := call(t, p, "list_servers", m{}); len(list.Items) != 1 || list.Items[0].Name != "y" {
		t.Error(raw)
	}
}
