package normalize_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// writable lists the dialects that Export writes.
func writable() []normalize.Dialect {
	var out []normalize.Dialect
	for _, d := range normalize.Dialects() {
		if _, _, err := normalize.Export(d, nil, nil); err == nil {
			out = append(out, d)
		}
	}
	return out
}

// lost is what the notes of an export say about one server.
type lost struct {
	fields  map[string]bool
	name    string // the name in the document
	bridged bool
	prompts []string // variables that became prompts
}

func lostOf(s *normalize.Server, notes []normalize.Note) lost {
	l := lost{fields: map[string]bool{}, name: s.Name}
	for _, n := range notes {
		field, own := strings.CutPrefix(n.Subject, s.Name+":")
		switch n.Code {
		case normalize.NotExpressible:
			if own {
				l.fields[field] = true
			}
		case normalize.NameChanged:
			l.name = n.Subject // one server at a time, so it is this one
		case normalize.BridgeWritten:
			l.bridged = true
		case normalize.Skipped:
			l.fields["enabled"] = true
		case normalize.ApprovalsUnset:
			l.fields["tools.auto_approve"] = true
		case normalize.InputsDeclared:
			for p := range strings.SplitSeq(n.Subject, ",") {
				if id, ok := strings.CutSuffix(p, "(secret)"); ok && id != "key" {
					l.prompts = append(l.prompts, id)
				}
			}
		}
	}
	return l
}

// mask takes from a record what the notes say is lost, and brings the rest into
// one of its equal forms.
func (l *lost) mask(s normalize.Server, d normalize.Dialect) normalize.Server {
	whole, _ := json.Marshal(s)
	s.Name, s.Dialect, s.Notes, s.Image, s.Block, s.Equivalent, s.Choice, s.Scope = "", "", nil, "", 0, nil, "", ""
	s.Env, s.EnvFrom = l.forwarded(s.Env, s.EnvFrom)
	s.Env = l.pairs("env", s.Env)
	s.Headers = l.pairs("headers", s.Headers)
	for i := range s.Headers { // names of headers are equal in any case
		s.Headers[i].Name = strings.ToLower(s.Headers[i].Name)
	}
	if s.URL != "" && d == normalize.Goose {
		s.EnvFrom = nil // the keys that its headers need
	}
	s.Args = slices.Clone(s.Args)
	for i := range s.Args {
		s.Args[i] = l.text(fmt.Sprintf("args[%d]", i), s.Args[i])
	}
	s.Command, s.URL = l.text("command", s.Command), l.text("url", s.URL)
	s.Cwd, s.EnvFile = l.text("cwd", s.Cwd), l.text("env_file", s.EnvFile)
	if len(s.AllowTools) == 1 && s.AllowTools[0] == "*" {
		s.AllowTools = nil
	}
	for field, forget := range map[string]func(){
		"transport": func() { s.Transport = "" }, "env": func() { s.Env, s.EnvFrom = nil, nil }, "env_from": func() { s.EnvFrom = nil },
		"env_unset": func() { s.EnvUnset = nil }, "args": func() { s.Args = nil }, "tools.allow": func() { s.AllowTools = nil },
		"tools.deny": func() { s.DenyTools, s.AllowTools = nil, nil }, "tools.auto_approve": func() { s.AutoApprove = nil },
		"timeouts.startup": func() { s.StartTimeout = 0 }, "timeouts.call": func() { s.CallTimeout = 0 }, "extra": func() { s.Extra = nil },
	} {
		if l.fields[field] {
			forget()
		}
	}
	s.OAuth = l.oauth(s.OAuth)
	s.Inputs = slices.DeleteFunc(slices.Clone(s.Inputs), func(in normalize.Input) bool {
		return l.fields["inputs."+in.ID] || slices.Contains(l.prompts, in.ID) || !strings.Contains(string(whole), "${input:"+in.ID)
	})
	s.Extra = l.extra(s.Extra)
	return s
}

func (l *lost) text(field, s string) string {
	if l.fields[field] {
		return ""
	}
	s = strings.ReplaceAll(s, "${file:", "{file:") // records keep the client's spelling
	for _, p := range l.prompts {
		s = strings.ReplaceAll(s, "${input:"+p+"}", "${"+p+"}")
	}
	return s
}

func (l *lost) pairs(field string, in []normalize.Pair) []normalize.Pair {
	var out []normalize.Pair
	for _, p := range in {
		if !l.fields[field+"."+p.Name] {
			out = append(out, normalize.Pair{Name: p.Name, Value: l.text(field+"."+p.Name, p.Value)})
		}
	}
	// Clients that keep headers in several tables keep no order between them.
	slices.SortFunc(out, func(a, b normalize.Pair) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// forwarded moves the variables that only forward one of the same name to the
// list of such names.
func (l *lost) forwarded(env []normalize.Pair, from []string) ([]normalize.Pair, []string) {
	var rest []normalize.Pair
	from = slices.Clone(from)
	for _, p := range env {
		if l.text("", p.Value) == "${"+p.Name+"}" {
			from = append(from, p.Name)
		} else {
			rest = append(rest, p)
		}
	}
	slices.Sort(from)
	from = slices.DeleteFunc(slices.Compact(from), func(name string) bool { return l.fields["env."+name] })
	return rest, from
}

func (l *lost) oauth(o *normalize.OAuth) *normalize.OAuth {
	if o == nil || l.fields["oauth"] {
		return nil
	}
	c := *o
	c.ClientID, c.ClientSecret = l.text("oauth.client_id", c.ClientID), l.text("oauth.client_secret", c.ClientSecret)
	c.Scopes = slices.Clone(c.Scopes)
	for i := range c.Scopes {
		c.Scopes[i] = l.text("oauth.scopes", c.Scopes[i])
	}
	if l.fields["oauth.scopes"] {
		c.Scopes = nil
	}
	part := l.fields["oauth.client_id"] || l.fields["oauth.client_secret"] || l.fields["oauth.scopes"]
	if part && !c.Off && c.ClientID+c.ClientSecret == "" && c.Scopes == nil {
		return nil // nothing of it is left
	}
	return &c
}

// extra drops the lost fields, and the name that one client repeats there.
func (l *lost) extra(raw json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return raw
	}
	delete(m, "name")
	for k := range m {
		if l.fields["extra."+k] {
			delete(m, k)
		}
	}
	if len(m) == 0 {
		return nil
	}
	out, _ := json.Marshal(m)
	return out
}

// checkRound writes one record for one client, reads the result, and checks
// that every difference was announced by a note.
func checkRound(t *testing.T, d normalize.Dialect, s normalize.Server) {
	t.Helper()
	opts := &normalize.ExportOptions{AutoApprove: true}
	out, notes, err := normalize.Export(d, []normalize.Server{s}, opts)
	if err != nil {
		t.Fatal(err)
	}
	l := lostOf(&s, notes)
	report := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: "+format+"\nrecord: %+v\nnotes: %s\n%s", append(append([]any{d}, args...), s, short(notes), out)...)
	}
	p, err := normalize.Parse(out, &normalize.ParseOptions{Dialect: d})
	if err != nil {
		report("the result cannot be read: %v", err)
		return
	}
	if len(p.Servers) == 0 {
		if !l.fields["enabled"] && !l.fields["transport"] {
			report("the server is missing")
		}
		return
	}
	got := p.Servers[0]
	if len(p.Servers) != 1 || got.Err != nil {
		report("read as %d servers, error %v", len(p.Servers), got.Err)
		return
	}
	if got.Name != l.name {
		report("the name is %q", got.Name)
	}
	if l.bridged {
		checkBridged(t, d, &l, s, got, report)
		return
	}
	if diff := cmp.Diff(l.mask(s, d), l.mask(got, d), cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(normalize.Server{})); diff != "" {
		report("unannounced difference (-record +read):\n%s", diff)
	}
}

// checkBridged compares what a bridge reaches.
func checkBridged(t *testing.T, d normalize.Dialect, l *lost, s, got normalize.Server, report func(string, ...any)) {
	t.Helper()
	if got.Equivalent == nil {
		report("the bridge is not seen")
		return
	}
	want, have := l.mask(s, d), l.mask(*got.Equivalent, d)
	diff := cmp.Diff(
		[]any{want.Transport, want.URL, want.Headers, want.DenyTools},
		[]any{have.Transport, have.URL, have.Headers, have.DenyTools}, cmpopts.EquateEmpty())
	if diff != "" {
		report("unannounced difference behind the bridge (-record +read):\n%s", diff)
	}
}

// TestExportRoundTrip writes generated records for every client.
func TestExportRoundTrip(t *testing.T) {
	clients := writable()
	if len(clients) < 40 {
		t.Fatalf("only %d clients are written", len(clients))
	}
	for seed := range uint64(200) {
		s := generate(rand.New(rand.NewPCG(seed, 1)), clients)
		for _, d := range clients {
			if seed%2 == 0 {
				s.Dialect = d // so that its own extra fields come back
			}
			checkRound(t, d, s)
		}
		if t.Failed() {
			t.Fatalf("record %d", seed)
		}
	}
}

// FuzzExport reads entries of any content and checks the way to a client and
// back of what was read.
func FuzzExport(f *testing.F) {
	f.Add(uint8(0), "files", "npx", "-y", "TOKEN", "${TOKEN}", "", "", "")
	f.Add(uint8(10), "hub", "", "", "", "", "https://h.example.com/mcp", "Authorization", "Bearer ${T:-x}")
	f.Add(uint8(20), "a.b/c d", "/opt/x y", "$A${B}{env:C}", "A", "$${A}`x`${{ y }}", "", "", "")
	f.Add(uint8(30), "", "cmd /c npx", "~/x %A%", "é", "\x00\u2028\"'#: ", "", "", "")
	f.Add(uint8(40), "s", "", "", "", "", "wss://x/sse?a=${A}", "X_Y", "a: b")
	clients := writable()
	f.Fuzz(func(t *testing.T, pick uint8, name, command, arg, key, value, url, header, hvalue string) {
		entry := map[string]any{}
		if command != "" {
			entry["command"], entry["args"], entry["env"] = command, []string{arg}, map[string]string{key: value}
		}
		if url != "" {
			entry["url"], entry["headers"] = url, map[string]string{header: hvalue}
		}
		doc, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: entry}})
		if err != nil {
			t.Fatal(err)
		}
		d := clients[int(pick)%len(clients)]
		p, err := normalize.Parse(doc, &normalize.ParseOptions{Dialect: []normalize.Dialect{"", normalize.ClaudeCode, d}[pick%3]})
		if err != nil {
			return
		}
		for _, s := range p.Servers {
			// A command with a blank may be a whole line to the parser.
			if s.Err == nil && !strings.ContainsFunc(s.Command, unicode.IsSpace) {
				checkRound(t, d, s)
			}
		}
	})
}

// generate makes a record of the kind that Parse gives.
func generate(r *rand.Rand, clients []normalize.Dialect) normalize.Server {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	maybe := func() bool { return r.IntN(3) == 0 }
	value := func() string {
		return pick("plain", "${A}", "x${B_TOKEN}y", "${A:-d}", "${A:-${C}}", "${workspaceFolder}${/}x", "a$b", "$UPPER", "pa$$w0rd$", `c:\x`,
			"$${A}", `\${A}`, "{env:A}", "{{A}}", "${A%x}", "$(x)", "`x`", "${{ y }}", "true", "1.50", "a b", "é\"'", "", "#x", "- y", "null", "${input:key}", "~/x", "%A%")
	}
	s := normalize.Server{Name: pick("files", "a.b/c", "two words", "x_y", "off", "é"), Dialect: clients[r.IntN(len(clients))]}
	if r.IntN(2) == 0 {
		s.Transport, s.Command = normalize.Stdio, pick("npx", "uvx", "/opt/my tools/x", "${A}", `C:\x\y.exe`, "node")
		for range r.IntN(4) {
			s.Args = append(s.Args, value())
		}
		for range r.IntN(4) {
			setPair(&s.Env, pick("A", "B_TOKEN", "MODE", "C"), value())
		}
		if maybe() {
			s.Cwd = pick("/srv", "~/x", "${workspaceFolder}", "${A}/b")
		}
		if maybe() {
			s.EnvFrom = []string{pick("FWD", "MORE")}
		}
		if maybe() {
			s.EnvUnset = []string{"GONE"}
		}
	} else {
		s.Transport = []normalize.Transport{normalize.HTTP, normalize.HTTP, normalize.SSE, normalize.WS}[r.IntN(4)]
		s.URL = pick("https://a.example.com/mcp", "http://b.example.com/v1/sse", "https://${A}/mcp?x=1", "http://localhost:1/", "https://c/${B_TOKEN}")
		if s.Transport == normalize.WS {
			s.URL = "wss://d.example.com/"
		}
		for range r.IntN(3) {
			setPair(&s.Headers, pick("Authorization", "X-Key", "X_Odd"), pick("Bearer ${B_TOKEN}", "${A}", "plain", "Bearer ${A:-x}", "a$b$UPPER", "${input:key}", "x: y"))
		}
		if maybe() {
			s.OAuth = &normalize.OAuth{Off: maybe()}
			if !s.OAuth.Off && maybe() {
				s.OAuth = &normalize.OAuth{ClientID: "id", ClientSecret: pick("", "${B_TOKEN}"), Scopes: [][]string{nil, {"a", "b:c"}}[r.IntN(2)]}
			}
		}
	}
	s.Disabled = maybe()
	s.AllowTools = [][]string{nil, nil, {}, {"read", "list"}}[r.IntN(4)]
	s.DenyTools = [][]string{nil, nil, {"list"}, {"wipe", "drop*"}}[r.IntN(4)]
	s.AutoApprove = [][]string{nil, nil, {"*"}, {"read"}}[r.IntN(4)]
	s.StartTimeout = []time.Duration{0, 0, 2500 * time.Millisecond, 30 * time.Second}[r.IntN(4)]
	s.CallTimeout = []time.Duration{0, 0, 500 * time.Millisecond, 90 * time.Second, 2 * time.Hour}[r.IntN(5)]
	s.Inputs = []normalize.Input{{ID: "key", Kind: "promptString", Description: "the key", Secret: maybe()}}
	if maybe() {
		s.Extra = json.RawMessage(`{"xOwn":{"deep":[1,2]},"xFlag":true}`)
	}
	return s
}

func setPair(list *[]normalize.Pair, name, value string) {
	for i := range *list {
		if (*list)[i].Name == name {
			return
		}
	}
	*list = append(*list, normalize.Pair{Name: name, Value: value})
}
