package connections

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/vault"
)

// registerArgs are what a registration is prepared with. By the time a command sees
// them, Text is the id of the text.
type registerArgs struct {
	Text      string `json:"text,omitempty" jsonschema:"the configuration as it was pasted, in any client's form: JSON, TOML, YAML, a command line, an install link, Markdown" schema:"maxLength=61440"`
	Reference string `json:"reference,omitempty" jsonschema:"in place of a text what names the server: a repository address, a name in the registry, a package" schema:"maxLength=2048"`
	Name      string `json:"name,omitempty" jsonschema:"which server of a text with several, or under which name to keep a single one" schema:"maxLength=200"`
	Replace   bool   `json:"replace,omitempty" jsonschema:"take the place of a connection of that name"`
}

// registration is what register_server proposes.
type registration struct {
	Name       string   `json:"name"`
	Transport  string   `json:"transport" schema:"enum=stdio|http|sse|ws"`
	Argv       []string `json:"argv,omitempty" jsonschema:"the command line that would run, with references"`
	URL        string   `json:"url,omitempty" jsonschema:"the address that would be reached, with references"`
	EnvNames   []string `json:"envNames" jsonschema:"variables that the server would get beside the usual ones"`
	Refs       []string `json:"refs" jsonschema:"names whose values would be read, from the environment or the vault"`
	Unresolved []string `json:"unresolved" jsonschema:"names of refs that have no value yet"`
	Notes      []string `json:"notes" jsonschema:"what was repaired, guessed or looks dangerous, and where values come from"`

	work *work
}

// work is what carrying out a registration needs, beside what is shown.
type work struct {
	server   normalize.Server  // with references
	notes    []normalize.Note  // about the text as a whole
	sealed   []sealed          // taken out of the text
	captured []string          // names to take over from the environment
	fresh    map[string]string // values that are not in the vault yet
	pasteID  string
	open     []string // names without a value when the proposal was first computed
	state    string   // digest of the connection of that name, "" for none
	replaced *entry
}

// plan computes what a registration would do. The first time, it keeps what it takes
// to compute it again.
func (s *Store) plan(ctx context.Context, in registerArgs) (mcpkit.Proposal[registration], error) {
	var none mcpkit.Proposal[registration]
	arrived, live := incomingOf(ctx)
	w := new(work)
	found, text, err := s.source(ctx, in, w)
	if err != nil {
		return none, err
	}
	if in.Name != "" {
		found.Name = in.Name
	}
	if err := checkName(found.Name); err != nil {
		return none, err
	}
	if err := s.present(w, found.Name, in.Replace || !live); err != nil {
		return none, err
	}
	if w.server, w.sealed, err = s.lift(ctx, found, w.replaced); err != nil {
		return none, err
	}
	w.server.Notes = openNotes(found, &w.server)
	if err := checkName(w.server.Name); err != nil { // it held a secret
		return none, err
	}
	p, err := s.propose(ctx, w)
	if err == nil && live && !arrived.kept {
		arrived.kept = true
		err = s.keep(ctx, w.pasteID, keptText{Open: w.open, Text: text})
	}
	return p, err
}

// source returns the one record that a request is about, and the text that it can
// be made of again.
func (s *Store) source(ctx context.Context, in registerArgs, w *work) (*normalize.Server, string, error) {
	if (in.Text == "") == (in.Reference == "") {
		return nil, "", &result.Error{Code: result.CodeInvalidArguments, Message: `request with op "prepare": give either text or reference`}
	}
	if lift1(in.Reference) != in.Reference { // it would be kept in clear
		return nil, "", &result.Error{Code: result.CodeInvalidArguments, Message: "the reference holds what looks like a secret: leave that out"}
	}
	arrived, live := incomingOf(ctx)
	var err error
	if w.pasteID = in.Text; in.Text == "" {
		if w.pasteID, err = s.pasteID(ctx, kindReference, in.Reference, in.Name); err != nil {
			return nil, "", err
		}
	}
	var text string
	if live {
		text = arrived.text
	} else {
		k, err := s.kept(w.pasteID)
		if err != nil {
			return nil, "", err
		}
		text, w.open = k.Text, k.Open
	}
	if in.Reference != "" {
		return s.referenced(ctx, in.Reference, live, text)
	}
	paste, err := parse([]byte(text), nil)
	if err != nil {
		return nil, "", err
	}
	if w.notes, err = notesOfText(ctx, paste); err != nil {
		return nil, "", err
	}
	found, err := choose(paste, in.Name)
	return found, text, err
}

// notesOfText are the notes about a text as a whole, without the secrets of any of
// its servers.
func notesOfText(ctx context.Context, paste *normalize.Paste) ([]normalize.Note, error) {
	var found []sealed
	for i := range paste.Servers {
		_, secrets, err := lift(ctx, &paste.Servers[i], anyName)
		if err != nil {
			return nil, err
		}
		found = append(found, secrets...)
	}
	return cleanNotes(paste.Notes, found), nil
}

// referenced looks a reference up, once: what is approved, and later computed
// again, is what was found then.
func (s *Store) referenced(ctx context.Context, reference string, live bool, text string) (*normalize.Server, string, error) {
	var found normalize.Server
	if !live {
		return &found, text, json.Unmarshal([]byte(text), &found)
	}
	found, _, err := s.resolve(ctx, reference)
	if err != nil {
		return nil, "", err
	}
	raw, err := json.Marshal(&found)
	return &found, string(raw), err
}

// resolve asks what a reference names.
func (s *Store) resolve(ctx context.Context, reference string) (normalize.Server, lookup.Evidence, error) {
	if s.opts.Lookup == nil {
		return normalize.Server{}, nil, &result.Error{
			Code:    CodeLookupDisabled,
			Message: "this server looks nothing up: paste the configuration of the server instead",
		}
	}
	return s.opts.Lookup.Resolve(ctx, reference)
}

// present finds out what has the name now, which must be nothing or is to be
// replaced. A request that comes again is not refused for it: what is there now
// is then not what it was, which the caller is told by the state.
func (s *Store) present(w *work, name string, replace bool) error {
	e, r, err := s.find(name)
	if coded, ok := err.(*result.Error); ok && coded.Code == CodeServerUnknown { //nolint:errorlint // find returns it bare
		return nil
	}
	if err != nil {
		return err
	}
	if !replace {
		return &result.Error{
			Code:    CodeServerExists,
			Message: fmt.Sprintf("there is a connection %.100q already: give another name, or set replace to take its place", name),
		}
	}
	w.state = stateOf(r)
	if r.Profile == s.profile.Name() {
		w.replaced = e
	}
	return nil
}

// lift lifts a record by the names that the profile has now.
func (s *Store) lift(ctx context.Context, server *normalize.Server, replaced *entry) (normalize.Server, []sealed, error) {
	known, err := s.vaultNames()
	if err != nil {
		return normalize.Server{}, nil, err
	}
	var own []string
	if replaced != nil {
		own = s.unshared(replaced.Owned, replaced.Server.Name)
	}
	return lift(ctx, server, known.free(server, own))
}

// refNames lists what a record would read, each name once: its references, and
// the variables that it passes on.
func refNames(s *normalize.Server) []string {
	var names []string
	for _, r := range s.Refs() {
		if !r.Windows || runtime.GOOS == "windows" {
			names = append(names, r.Name)
		}
	}
	names = append(names, s.EnvFrom...)
	slices.Sort(names)
	return slices.Compact(names)
}

// propose says what would be run and read.
func (s *Store) propose(ctx context.Context, w *work) (mcpkit.Proposal[registration], error) {
	var none mcpkit.Proposal[registration]
	w.fresh = make(map[string]string)
	var own []string
	for _, secret := range w.sealed {
		w.fresh[secret.name] = secret.value
		own = append(own, secret.name)
	}
	vars := s.vars(own, w.fresh)
	vars[2] = without(vars[2], w.open)
	_, notes, err := s.expand(ctx, &w.server, vars)
	if err != nil {
		return none, err
	}
	sources := s.sources(w, vars, notes)
	p := registration{
		Name: w.server.Name, Transport: string(w.server.Transport), URL: w.server.URL,
		EnvNames: envNames(&w.server), Refs: slices.Sorted(maps.Keys(sources)), work: w,
	}
	if w.server.Command != "" {
		p.Argv = append([]string{w.server.Command}, w.server.Args...)
	}
	w.open = nil
	for _, name := range p.Refs {
		switch sources[name] {
		case sourceNone:
			p.Unresolved = append(p.Unresolved, name)
			w.open = append(w.open, name)
		case sourceDefault:
			w.open = append(w.open, name)
		}
	}
	all := slices.Concat(w.notes[:min(len(w.notes), maxListed)], w.server.Notes, changeNotes(notes, lifted(w.sealed).clean))
	if more := len(w.notes) - maxListed; more > 0 {
		all = append(all, normalize.Note{
			Code: noteOmitted, Subject: strconv.Itoa(more), Message: "there are so many more notes about the text as a whole; normalize_config lists them",
		})
	}
	p.Notes = s.noteLines(w, all, sources)
	record, err := json.Marshal(&w.server)
	if err != nil {
		return none, err
	}
	return mcpkit.Proposal[registration]{Plan: p, Base: base(w, record, sources), Summary: s.summary(&p, sources)}, nil
}

// without hides names that had no value when the proposal was first computed. A
// person who was told so may give them one until it is carried out, which is then
// used and is no change to what was approved.
func without(vars normalize.Vars, names []string) normalize.Vars {
	return func(name string) (value, origin string, ok bool) {
		if slices.Contains(names, name) {
			return "", "", false
		}
		return vars(name)
	}
}

// lifted makes a cleaner of what was found.
func lifted(found []sealed) *lifter { return &lifter{found: found} }

// Where the value of a reference would come from.
const (
	sourceNone    = "unset"
	sourceDefault = "default"
	sourcePasted  = originPasted
	sourceEnv     = "environment"
	sourceVault   = "vault"

	// sourceCaptured is sourceEnv in the state that a decision rests on, where the
	// vault would keep the value.
	sourceCaptured = "captured"
)

// sources says for each name that the record would read where its value comes
// from. Those that the environment gives, and the vault lacks, are to be captured.
func (s *Store) sources(w *work, vars []normalize.Vars, notes []normalize.Note) map[string]string {
	missing := make(map[string]bool)
	for _, n := range notes {
		switch n.Code {
		case normalize.Unresolved, normalize.EnvFromUnset:
			missing[n.Subject] = true
		case normalize.NeedsInput:
			missing["input:"+n.Subject] = true
		}
	}
	sources := make(map[string]string)
	for _, name := range refNames(&w.server) {
		sources[name] = sourceDefault
		if missing[name] {
			sources[name] = sourceNone
			continue
		}
		for i, source := range []string{sourcePasted, sourceEnv, sourceVault} {
			if value, _, ok := vars[i](name); ok && (value != "" || i == 0) {
				sources[name] = source
				break
			}
		}
		if sources[name] != sourceEnv {
			continue
		}
		if _, _, err := s.profile.Get(name); vault.CodeOf(err) == vault.CodeSecretMissing {
			w.captured = append(w.captured, name)
			w.fresh[name], _, _ = vars[1](name)
		}
	}
	return sources
}

// base is the state that the decision rests on, by names that a person can read:
// the record itself, the connection of its name, where each value comes from.
func base(w *work, record []byte, sources map[string]string) map[string]string {
	state := map[string]string{
		"text/record":                     canon.Digest("connections/record/1", record),
		basePath("server", w.server.Name): w.state,
	}
	for name, source := range sources {
		if slices.Contains(w.captured, name) {
			source = sourceCaptured
		}
		state[basePath("refs", name)] = source
	}
	return state
}

// basePath names something in the form of a path. What no file system would take
// becomes a digest.
func basePath(kind, name string) string {
	if path := kind + "/" + name; !strings.Contains(name, "/") && rootfs.Check(path) == nil {
		return path
	}
	return kind + "/" + canon.Digest("connections/name/1", []byte(name))[:16]
}
