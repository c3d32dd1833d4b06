package connections_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/vault"
)

// Whoever removes a secret is to know what used it: by a reference of the text, or
// one in place of a secret.
func TestUsers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.add(t, "wiki", `{"command": "x", "args": ["--region", "${REGION}"], "env": {"API_KEY": "canary-1"}}`)
	d.add(t, "chat", `[mcp_servers.chat]`+"\n"+`command = "x"`+"\n"+`env_vars = ["API_KEY"]`)
	d.add(t, "plain", `{"command": "x", "args": ["REGION", "$$API_KEY"]}`)
	err := d.vault.Update(t.Context(), func(tx *vault.Tx) error { return tx.CreateProfile("work", "") })
	if err != nil {
		t.Fatal(err)
	}
	below, err := connections.New(d.vault, "work", &d.opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []*connections.Store{d.connections(t), below} {
		for secret, want := range map[string][]string{"API_KEY": {"chat", "wiki"}, "REGION": {"wiki"}, "API": nil, "": nil} {
			got, err := store.Users(secret)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("profile %s, %q: %v (-want +got):\n%s", store.Profile(), secret, err, diff)
			}
		}
	}

	err = d.vault.Update(t.Context(), func(tx *vault.Tx) error {
		return tx.SetRecord(vault.Default, vault.Record{Name: "server/odd", Data: []byte(`[]`)})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := below.Users("API_KEY"); codeOf(err) != connections.CodeRecordInvalid {
		t.Error(err)
	}
}
