package connections

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/vault"
)

// Options change how a [Store] works. Nil and the zero value are the default.
type Options struct {
	// Lookup finds out what a reference such as the address of a repository
	// names; [lookup.New] makes one. Nil looks nothing up: then there is no tool
	// resolve_reference, and a registration by reference fails with
	// [CodeLookupDisabled].
	Lookup Resolver

	// Probe proves that a server runs, nil means [probe.Check].
	Probe func(ctx context.Context, launch normalize.Launch, opts *probe.Options) (probe.Report, error)

	// Environment is asked for the variables that a configuration reads from
	// where it is used. Nil means the environment of this process.
	Environment normalize.Vars

	// Home and Workspace are the folders that references to them stand for. An
	// empty Home means that of the user, an empty Workspace leaves the references
	// as they are.
	Home, Workspace string

	// SecretCommand is what a person types to give a secret a value, without its
	// name. Empty means "connections secret set".
	SecretCommand string

	// Now is the clock, nil means [time.Now].
	Now func() time.Time
}

// Resolver finds what a reference names. [*lookup.Resolver] is one.
type Resolver interface {
	// Resolve returns exactly one record, or an error that says why there is
	// none. The evidence is there in both cases.
	Resolve(ctx context.Context, reference string) (normalize.Server, lookup.Evidence, error)
}

// A Store has the connections of one profile of a vault: for each the record
// with references, what the server said when it was registered, and a switch. It
// is safe for concurrent use, also by several processes on one vault.
type Store struct {
	vault   *vault.Vault
	profile profile
	opts    Options
}

// profile is what a Store reads of its profile: each call opens all of it again.
type profile interface {
	Name() string
	Get(name string) (vault.Secret, vault.Origin, error)
	Names() ([]string, error)
	Record(name string) (vault.Record, error)
	Records() ([]vault.Record, error)
}

// New returns the store of a profile, which has to be there: the code is
// vault_profile_missing otherwise. The store ends with the vault; opts may be
// nil.
func New(v *vault.Vault, profile string, opts *Options) (*Store, error) {
	p, err := v.Profile(profile)
	if err != nil {
		return nil, err
	}
	s := &Store{vault: v, profile: p}
	if opts != nil {
		s.opts = *opts
	}
	o := &s.opts
	if o.Probe == nil {
		o.Probe = probe.Check
	}
	if o.Environment == nil {
		o.Environment = func(name string) (value, origin string, ok bool) {
			value, ok = os.LookupEnv(name)
			return value, "env", ok
		}
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one, references to it stay
	}
	o.SecretCommand = cmp.Or(o.SecretCommand, "connections secret set")
	if o.Now == nil {
		o.Now = time.Now
	}
	return s, nil
}

// Connection is one registered server, as a list shows it.
type Connection struct {
	// Name is the server's name in its profile.
	Name string `json:"name"`
	// Transport is stdio, http, sse or ws.
	Transport string `json:"transport" schema:"enum=stdio|http|sse|ws"`
	// Target is the command line or the address, with references.
	Target string `json:"target"`
	// Enabled is the switch.
	Enabled bool `json:"enabled"`
	// Profile is where it was registered: the store's own, or one above it.
	Profile string `json:"profile"`
	// Tools is how many tools it had.
	Tools int `json:"tools"`
	// VerifiedAt is when it was last seen with the catalog of CatalogDigest.
	VerifiedAt time.Time `json:"verifiedAt"`
	// CatalogDigest is the digest of the tools that were there when it was
	// registered.
	CatalogDigest string `json:"catalogDigest" schema:"kind=sha256"`
}

// entry is what the vault keeps of a connection, beside its name and switch.
type entry struct {
	// Server has references only.
	Server normalize.Server `json:"server"`
	// Sealed are the names of secrets that were taken out of the text. They are
	// looked up in the vault alone.
	Sealed []string `json:"sealed,omitempty"`
	// Owned are the names that came into the profile with this connection.
	Owned      []string     `json:"owned,omitempty"`
	Report     probe.Report `json:"report"`
	VerifiedAt time.Time    `json:"verifiedAt"`
}

// connection is what a list shows of an entry.
func (e *entry) connection(r *vault.Record) Connection {
	return Connection{
		Name: e.Server.Name, Transport: string(e.Server.Transport), Target: target(&e.Server),
		Enabled: r.Enabled, Profile: r.Profile,
		Tools: len(e.Report.Tools), VerifiedAt: e.VerifiedAt, CatalogDigest: e.Report.Digest,
	}
}

// target is what a server runs or reaches, on one line.
func target(s *normalize.Server) string {
	if s.Command == "" {
		return s.URL
	}
	words := make([]string, 0, len(s.Args)+1)
	for _, word := range append([]string{s.Command}, s.Args...) {
		if word == "" || strings.ContainsAny(word, " \t\r\n\"'") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	line := strings.Join(words, " ")
	if s.URL != "" {
		line += " -> " + s.URL
	}
	return line
}

// List returns all connections that the profile sees, sorted by the names under
// which the vault keeps them.
func (s *Store) List() ([]Connection, error) {
	var list []Connection
	err := s.each(func(r *vault.Record, e *entry) {
		list = append(list, e.connection(r))
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// each calls fn for each connection that the profile sees, in the order of List.
func (s *Store) each(fn func(r *vault.Record, e *entry)) error {
	records, err := s.profile.Records()
	if err != nil {
		return err
	}
	for i := range records {
		if !strings.HasPrefix(records[i].Name, serverPrefix) {
			continue
		}
		e, err := decodeEntry(&records[i])
		if err != nil {
			return err
		}
		fn(&records[i], e)
	}
	return nil
}

// decodeEntry reads what put wrote.
func decodeEntry(r *vault.Record) (*entry, error) {
	var e entry
	if err := json.Unmarshal(r.Data, &e); err != nil {
		return nil, recordInvalid(r, err)
	}
	return &e, nil
}

// recordInvalid is about a record that something else wrote under such a name.
func recordInvalid(r *vault.Record, err error) error {
	return &result.Error{
		Code:    CodeRecordInvalid,
		Message: fmt.Sprintf("the record %s of the vault was not written by this program: remove it there", wording.Quote(r.Name, maxName)),
		Err:     err,
	}
}

// find returns a connection by its name. The code is [CodeServerUnknown] if there
// is none.
func (s *Store) find(name string) (*entry, *vault.Record, error) {
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	r, err := s.profile.Record(recordName(name))
	if vault.CodeOf(err) == vault.CodeRecordMissing {
		return nil, nil, s.unknown(name)
	}
	if err != nil {
		return nil, nil, err
	}
	e, err := decodeEntry(&r)
	return e, &r, err
}

// unknown says that there is no such connection, and which name may be meant.
func (s *Store) unknown(name string) error {
	message := fmt.Sprintf("there is no connection %s: list them to see their names", wording.Quote(name, 60))
	if list, err := s.List(); err == nil {
		var names []string
		for i := range list {
			names = append(names, list[i].Name)
		}
		if near := wording.Nearest(name, names); near != "" {
			message += fmt.Sprintf("; %s is one", wording.Quote(near, 60))
		}
	}
	return &result.Error{Code: CodeServerUnknown, Message: message}
}

// SetEnabled sets the switch of a connection. One that the profile inherits is
// switched for this profile and those below.
func (s *Store) SetEnabled(ctx context.Context, name string, on bool) (Connection, error) {
	if _, _, err := s.find(name); err != nil {
		return Connection{}, err
	}
	err := s.vault.Update(ctx, func(tx *vault.Tx) error {
		return tx.SetEnabled(s.profile.Name(), recordName(name), on)
	})
	if vault.CodeOf(err) == vault.CodeRecordMissing {
		return Connection{}, s.unknown(name) // removed meanwhile
	}
	if err != nil {
		return Connection{}, err
	}
	e, r, err := s.find(name)
	if err != nil {
		return Connection{}, err
	}
	return e.connection(r), nil
}

// Launch returns what runs a connection, enabled or not, with the values of all
// references and of the variables that are passed on: those of the environment
// first, then the vault; what was taken out of the text at the registration comes
// from the vault alone. A reference without a value stays as it is. It holds
// secrets: use it and forget it.
func (s *Store) Launch(ctx context.Context, name string) (normalize.Launch, error) {
	e, _, err := s.find(name)
	if err != nil {
		return normalize.Launch{}, err
	}
	vars := s.vars(e.Sealed, nil)
	launch, _, err := s.expand(ctx, &e.Server, vars)
	if err != nil {
		return normalize.Launch{}, err
	}
	launch.EnvFrom = slices.DeleteFunc(launch.EnvFrom, func(name string) bool {
		if slices.ContainsFunc(launch.Env, func(p normalize.Pair) bool { return p.Name == name }) {
			return true
		}
		for _, ask := range vars {
			if value, _, ok := ask(name); ok {
				launch.Env = append(launch.Env, normalize.Pair{Name: name, Value: value})
				return true
			}
		}
		return false
	})
	return launch, nil
}

// Probed is what a probe of a connection found.
type Probed struct {
	probe.Report

	// CatalogChanged says that the tools are not those that were there when the
	// connection was registered.
	CatalogChanged bool `json:"catalogChanged"`
}

// Probe runs a connection once, as the registration did, and compares its tools.
// If they are the same it notes the time. If not, they may have changed for the
// worse: nothing is noted, and the connection has to be registered again, with
// replace, to accept them.
func (s *Store) Probe(ctx context.Context, name string) (Probed, error) {
	e, _, err := s.find(name)
	if err != nil {
		return Probed{}, err
	}
	vars := s.vars(e.Sealed, nil)
	report, err := s.check(ctx, &e.Server, vars)
	if err != nil {
		return Probed{}, err
	}
	if report.Digest != e.Report.Digest {
		return Probed{report, true}, nil
	}
	return Probed{report, false}, s.verified(ctx, name, e)
}

// check runs a server once. Neither what it says about itself nor what is said of
// its failure shows a value that it was given. [Options.Probe] need not see to that.
func (s *Store) check(ctx context.Context, server *normalize.Server, vars []normalize.Vars) (probe.Report, error) {
	known := s.known(server, vars)
	launch, _, err := s.expand(ctx, server, vars)
	if err != nil {
		return probe.Report{}, known.err(err)
	}
	found, err := s.opts.Probe(ctx, launch, &probe.Options{Vars: vars, Hide: known})
	if err != nil {
		return probe.Report{}, known.err(err)
	}
	known.report(&found)
	return found, nil
}

// verified notes that a connection was seen as it was registered, if it is still
// that one and this profile's own.
func (s *Store) verified(ctx context.Context, name string, seen *entry) error {
	return s.vault.Update(ctx, func(tx *vault.Tx) error {
		r, err := tx.Record(s.profile.Name(), recordName(name))
		if vault.CodeOf(err) == vault.CodeRecordMissing || err == nil && r.Profile != s.profile.Name() {
			return nil
		}
		if err != nil {
			return err
		}
		e, err := decodeEntry(&r)
		if err != nil || e.Report.Digest != seen.Report.Digest {
			return err
		}
		e.VerifiedAt = s.now()
		return s.put(tx, r.Enabled, e)
	})
}

// put stores a connection in the profile.
func (s *Store) put(tx *vault.Tx, enabled bool, e *entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return tx.SetRecord(s.profile.Name(), vault.Record{Name: recordName(e.Server.Name), Data: data, Enabled: enabled})
}

// now has the precision that JSON texts of times are compared with.
func (s *Store) now() time.Time { return s.opts.Now().UTC().Truncate(time.Millisecond) }

// Export writes the named connections, or all, in the form of a client. Secrets
// are written as references. A name that is none has the code
// [CodeServerUnknown].
func (s *Store) Export(dialect normalize.Dialect, names []string) ([]byte, []normalize.Note, error) {
	if len(names) == 0 {
		list, err := s.List()
		if err != nil {
			return nil, nil, err
		}
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	var servers []normalize.Server
	for _, name := range names {
		e, r, err := s.find(name)
		if err != nil {
			return nil, nil, err
		}
		e.Server.Disabled = !r.Enabled
		servers = append(servers, e.Server)
	}
	return normalize.Export(dialect, servers, &normalize.ExportOptions{GOOS: runtime.GOOS})
}

// vars are what references are looked up in, in order: values that are not in the
// vault yet, the environment, the vault. The environment does not count for
// sealed names, which stand for what was pasted.
func (s *Store) vars(sealedNames []string, fresh map[string]string) []normalize.Vars {
	own := make(map[string]bool, len(sealedNames))
	for _, name := range sealedNames {
		own[name] = true
	}
	return []normalize.Vars{
		func(name string) (string, string, bool) {
			value, ok := fresh[name]
			return value, originPasted, ok
		},
		func(name string) (string, string, bool) {
			if own[name] {
				return "", "", false
			}
			return s.opts.Environment(name)
		},
		s.vaultVars,
	}
}

// environmentVars is the place of the environment among what vars returns.
const environmentVars = 1

// originPasted is the origin of values that come from the text itself.
const originPasted = "pasted"

// vaultVars answers from the vault. What cannot be read is missing; who needs to
// know opens the vault before and after.
func (s *Store) vaultVars(name string) (value, origin string, ok bool) {
	secret, from, err := s.profile.Get(name)
	if err != nil {
		return "", "", false
	}
	return secret.Reveal(), from.String(), true
}

// expand resolves the references of a record.
func (s *Store) expand(ctx context.Context, server *normalize.Server, vars []normalize.Vars) (normalize.Launch, []normalize.Note, error) {
	return server.Expand(ctx, vars, &normalize.ExpandOptions{Home: s.opts.Home, Workspace: s.opts.Workspace})
}

// stateOf is a digest of a stored connection.
func stateOf(r *vault.Record) string {
	return canon.Digest("connections/state/1", r.Data, []byte(r.Profile), fmt.Append(nil, r.Enabled))
}

// Profile returns the name of the profile.
func (s *Store) Profile() string { return s.profile.Name() }

// Secrets lists the names of the secrets that the profile sees, sorted. What this
// package keeps beside them is left out.
func (s *Store) Secrets() ([]string, error) {
	all, err := s.profile.Names()
	return slices.DeleteFunc(all, isPaste), err
}

// Users lists the connections that the profile sees and that refer to a secret, by
// their names, in the order of [Store.List]. Those of profiles below, which may
// inherit the secret, are not among them.
func (s *Store) Users(secret string) ([]string, error) {
	var users []string
	err := s.each(func(_ *vault.Record, e *entry) {
		if slices.Contains(refNames(&e.Server), secret) {
			users = append(users, e.Server.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	return users, nil
}
