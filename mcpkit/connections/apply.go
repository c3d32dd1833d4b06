package connections

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/vault"
)

// registered is what register_server did.
type registered struct {
	Server Record `json:"server"`
	Probe  report `json:"probe"`
}

// report is what a probe found, with a list of tools that fits into a reply.
type report struct {
	probe.Report

	OmittedTools int `json:"omittedTools,omitempty" jsonschema:"how many names were left out of tools"`
}

// maxTools is how many bytes of names a reply lists.
const maxTools = 5 << 10

// reportOf cuts a report to what a reply can carry whatever the server has. The
// vault keeps all of it.
func reportOf(r probe.Report) report {
	out := report{Report: r}
	size := 0
	for i, name := range r.Tools {
		if size += len(name) + len(`"",`); size > maxTools {
			out.Tools, out.OmittedTools = r.Tools[:i:i], len(r.Tools)-i
			break
		}
	}
	out.Duplicates = r.Duplicates[:min(len(r.Duplicates), maxListed)]
	return out
}

// receipt is what carrying a registration out will answer, as large as it can
// get.
func receipt(p registration) registered {
	return registered{
		Server: wireRecord(&p.work.server, ""),
		Probe: report{Report: probe.Report{
			Name: strings.Repeat("n", 256), Version: strings.Repeat("v", 256), Protocol: "2026-07-28",
			Tools: []string{strings.Repeat("t", maxTools)}, Duplicates: slices.Repeat([]string{strings.Repeat("t", 256)}, maxListed),
			Digest: strings.Repeat("0", 64),
		}},
	}
}

// register runs the server once and stores it. Nothing is stored unless the
// server answers; then everything is, or nothing.
func (s *Store) register(ctx context.Context, p registration, approval string) (registered, error) {
	w := p.work
	vars := s.vars(names(w.sealed), w.fresh)
	found, err := s.check(ctx, &w.server, vars)
	if err != nil {
		return registered{}, err
	}
	e := &entry{Server: w.server, Sealed: names(w.sealed), Report: found, VerifiedAt: s.now()}
	out := registered{Server: wireRecord(&e.Server, ""), Probe: reportOf(found)}
	return commit(ctx, s, approval, out, func(tx *vault.Tx) error { return s.store(tx, w, e) })
}

// names lists what a registration seals, for the record and for looking values up.
func names(list []sealed) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.name)
	}
	return out
}

// store puts a connection and what it needs into the profile, if the connection
// of its name is still what it was when the proposal was computed.
func (s *Store) store(tx *vault.Tx, w *work, e *entry) error {
	if err := s.unchanged(tx, e.Server.Name, w.state); err != nil {
		return err
	}
	for name, value := range w.fresh {
		owned, err := s.storeValue(tx, w, name, value)
		if err != nil {
			return err
		}
		if owned {
			e.Owned = append(e.Owned, name)
		}
	}
	if w.replaced != nil {
		refs := refNames(&e.Server)
		for _, name := range w.replaced.Owned {
			if slices.Contains(refs, name) && !slices.Contains(e.Owned, name) {
				e.Owned = append(e.Owned, name)
			}
		}
		if err := s.drop(tx, s.orphans(w.replaced, refs)); err != nil {
			return err
		}
	}
	slices.Sort(e.Owned)
	if err := s.put(tx, !e.Server.Disabled, e); err != nil {
		return err
	}
	return s.forget(tx, w.pasteID, e.Server.Name)
}

// storeValue stores one value, and reports whether it belongs to the connection
// from now on. What a person has set is left alone.
func (s *Store) storeValue(tx *vault.Tx, w *work, name, value string) (owned bool, err error) {
	before := w.replaced != nil && slices.Contains(w.replaced.Owned, name)
	have, _, err := tx.Get(s.profile.Name(), name)
	switch {
	case vault.CodeOf(err) == vault.CodeSecretMissing:
	case err != nil:
		return false, err
	case have.Reveal() == value:
		return before, nil
	case slices.Contains(w.captured, name):
		return false, nil // the environment comes first while it has it, then this does
	case !before:
		return false, stale(basePath("refs", name)) // the name was free when the proposal was computed
	}
	return true, tx.Set(s.profile.Name(), name, value)
}

// stale says what is no longer what was approved.
func stale(path string) error {
	return &token.Error{Code: token.CodeStale, Op: "apply", Changed: []string{path}}
}

// unchanged fails with proposal_stale if a connection is not what it was.
func (s *Store) unchanged(tx *vault.Tx, name, state string) error {
	r, err := tx.Record(s.profile.Name(), recordName(name))
	now := ""
	switch {
	case err == nil:
		now = stateOf(&r)
	case vault.CodeOf(err) != vault.CodeRecordMissing:
		return err
	}
	if now != state {
		return stale(basePath("server", name))
	}
	return nil
}

// orphans lists the secrets that came with a connection and that nothing refers
// to once it is gone.
func (s *Store) orphans(old *entry, refs []string) []string {
	list := slices.DeleteFunc(s.unshared(old.Owned, old.Server.Name), func(name string) bool { return slices.Contains(refs, name) })
	slices.Sort(list)
	return list
}

// drop removes secrets, some of which a person may have removed before.
func (s *Store) drop(tx *vault.Tx, secrets []string) error {
	for _, name := range secrets {
		if err := tx.Delete(s.profile.Name(), name); err != nil && vault.CodeOf(err) != vault.CodeSecretMissing {
			return err
		}
	}
	return nil
}

// forget drops the text of a proposal that was carried out. What is left says so
// to other proposals of the same text.
func (s *Store) forget(tx *vault.Tx, id, server string) error {
	kept, err := s.pastes()
	if err != nil {
		return err
	}
	mark, err := json.Marshal(keptText{Applied: server})
	if err != nil {
		return err
	}
	for _, p := range kept {
		if p.id == id {
			if err := tx.Set(s.profile.Name(), p.name, string(mark)); err != nil {
				return err
			}
		}
	}
	return nil
}
