package discovery_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// swapped is a source whose registry a test replaces.
type swapped struct {
	atomic.Pointer[registry.Registry]
}

func (s *swapped) Registry() *registry.Registry { return s.Load() }

// notified waits for the next notification and returns its method.
func (p *peer) notified() string {
	p.tb.Helper()
	line, err := p.r.ReadBytes('\n')
	if err != nil {
		p.tb.Fatal(err)
	}
	var m struct {
		ID     any
		Method string
	}
	if err := json.Unmarshal(line, &m); err != nil || m.ID != nil {
		p.tb.Fatalf("got %s, want a notification", line)
	}
	return m.Method
}

// When repos come and go, clients of both eras are told, and find what is there now.
func TestChanges(t *testing.T) {
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			const head = "-- registry.yaml --\nschema_version: \"1.0\"\nkind: workspace_registry\ndefaults: {manifest_source: generated}\nrepos:\n"
			var source swapped
			source.Store(workspace(t, head+"  - repo_id: ledger\n"))
			changes := make(chan struct{})
			defer close(changes)
			p := dial(t, resolve.New(&source, nil), &discovery.Options{Changes: changes}, id)
			if id.stateless {
				fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":"listening","method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["repo://index"]},`+
					`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},`+
					`"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1.2.3"}}}}`+"\n", id.name)
				if got := p.notified(); got != "notifications/subscriptions/acknowledged" {
					t.Fatalf("got %s", got)
				}
			} else {
				fmt.Fprintln(p.w, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				if r := p.send("resources/subscribe", `{"uri":"repo://index"}`); r.Error != nil {
					t.Fatalf("got %+v", r.Error)
				}
			}
			before := p.ids()
			source.Store(workspace(t, head+"  - repo_id: shop\n"))
			changes <- struct{}{}
			told := []string{p.notified(), p.notified()}
			slices.Sort(told)
			if diff := cmp.Diff([]string{"notifications/resources/list_changed", "notifications/resources/updated"}, told); diff != "" {
				t.Errorf("notifications (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([][]string{{"ledger"}, {"shop"}}, [][]string{before, p.ids()}); diff != "" {
				t.Errorf("repos before and after (-want +got):\n%s", diff)
			}
		})
	}
}

// ids are the repos in the index resource.
func (p *peer) ids() []string {
	p.tb.Helper()
	var read struct{ Contents []struct{ Text string } }
	var index page[struct {
		ID string `json:"repo_id"`
	}]
	r := p.send("resources/read", `{"uri":"repo://index"}`)
	if err := json.Unmarshal(r.Result, &read); err != nil || len(read.Contents) != 1 {
		p.tb.Fatalf("got %s, %+v", r.Result, r.Error)
	}
	if err := json.Unmarshal([]byte(read.Contents[0].Text), &index); err != nil {
		p.tb.Fatal(err)
	}
	var ids []string
	for _, item := range index.Items {
		ids = append(ids, item.ID)
	}
	return ids
}
