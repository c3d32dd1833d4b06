package normalize_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
	"golang.org/x/tools/txtar"
)

var updatePastes = flag.Bool("update-pastes", false, "write the expected results of the paste archives anew")

// TestPastes reads the pastes of two archives. A file named "NAME" or
// "NAME [dialect]" is a paste, the file "want" after it what Parse gives,
// unresolved: notes of the paste, then each record with its notes.
func TestPastes(t *testing.T) {
	for _, file := range []string{"pastes.txtar", "reports.txtar"} {
		path := filepath.Join("testdata", file)
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out := txtar.Archive{Comment: archive.Comment}
		for i, f := range archive.Files {
			if f.Name == "want" {
				continue
			}
			got := parsed(f)
			out.Files = append(out.Files, f, txtar.File{Name: "want", Data: []byte(got)})
			if *updatePastes {
				continue
			}
			t.Run(file+"/"+f.Name, func(t *testing.T) {
				if i+1 == len(archive.Files) || archive.Files[i+1].Name != "want" {
					t.Fatal("no expected result")
				}
				if diff := cmp.Diff(string(archive.Files[i+1].Data), got); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
			})
		}
		if *updatePastes {
			if err := os.WriteFile(path, txtar.Format(&out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func parsed(f txtar.File) string {
	opts := &normalize.ParseOptions{GOOS: "linux", Name: "pasted.json"}
	if _, id, ok := strings.Cut(strings.TrimSuffix(f.Name, "]"), " ["); ok {
		opts.Dialect = normalize.Dialect(id)
	}
	paste, err := normalize.Parse(f.Data, opts)
	if err != nil {
		return fmt.Sprintf("error %s: %v\n", normalize.CodeOf(err), err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s%s\n", paste.Format, paste.Dialect, noteText(paste.Notes))
	for _, s := range paste.Servers {
		b.WriteString(serverText(s))
	}
	return b.String()
}

func noteText(notes []normalize.Note) string {
	if len(notes) == 0 {
		return ""
	}
	var all []string
	for _, n := range notes {
		all = append(all, n.String())
	}
	return " {" + strings.Join(all, " ") + "}"
}

// serverText writes a record on one line, leaving out what is empty.
func serverText(s normalize.Server) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", s.Name)
	add := func(label string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "[]" && text != "0" && text != "0s" && text != "false" {
			fmt.Fprintf(&b, " %s%s", label, text)
		}
	}
	if s.Err != nil {
		add("error ", normalize.Note{Code: s.Err.Code, Subject: s.Err.Subject})
	}
	add("scope=", s.Scope)
	add("choice=", s.Choice)
	add("block=", s.Block)
	add("", s.Transport)
	if s.Command != "" {
		add("", fmt.Sprintf("%q", append([]string{s.Command}, s.Args...)))
	}
	add("", s.URL)
	for _, p := range s.Env {
		add("env.", fmt.Sprintf("%s=%q", p.Name, p.Value))
	}
	for _, p := range s.Headers {
		add("headers.", fmt.Sprintf("%s=%q", p.Name, p.Value))
	}
	add("unset=", s.EnvUnset)
	add("from=", s.EnvFrom)
	add("envFile=", s.EnvFile)
	add("cwd=", s.Cwd)
	if s.OAuth != nil {
		add("oauth=", fmt.Sprintf("%+v", *s.OAuth))
	}
	add("off=", s.Disabled)
	if s.AllowTools != nil {
		add("allow=", fmt.Sprintf("%q", s.AllowTools))
	}
	add("deny=", s.DenyTools)
	add("approve=", s.AutoApprove)
	add("start=", s.StartTimeout)
	add("call=", s.CallTimeout)
	for _, in := range s.Inputs {
		add("input=", fmt.Sprintf("%+v", in))
	}
	add("image=", s.Image)
	if s.Equivalent != nil {
		add("is ", strings.TrimSpace(serverText(*s.Equivalent)))
	}
	add("extra=", string(s.Extra))
	b.WriteString(noteText(s.Notes) + "\n")
	return b.String()
}

// TestPastesAreExplained checks that each note and error that the archives of
// pastes give has a sentence for people, which says more than its code.
func TestPastesAreExplained(t *testing.T) {
	for _, file := range []string{"pastes.txtar", "reports.txtar"} {
		archive, err := txtar.ParseFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			paste, err := normalize.Parse(f.Data, &normalize.ParseOptions{GOOS: "linux"})
			if err != nil {
				continue
			}
			notes := paste.Notes
			for _, s := range paste.Servers {
				notes = append(notes, s.Notes...)
				if s.Err != nil {
					notes = append(notes, normalize.Note{Code: s.Err.Code, Subject: s.Err.Subject, Message: s.Err.Message})
				}
			}
			for _, n := range notes {
				checkSentence(t, file+"/"+f.Name, n)
			}
		}
	}
}

func checkSentence(t *testing.T, where string, n normalize.Note) {
	t.Helper()
	coded := n.Code == normalize.ClientMisparses && strings.Contains(n.Message, n.Subject) || strings.Contains(n.Message, string(n.Code)+" ")
	if len(strings.Fields(n.Message)) < 3 || n.Message != strings.TrimSpace(n.Message) || strings.HasSuffix(n.Message, ".") || coded {
		t.Errorf("%s: %s has the message %q", where, n, n.Message)
	}
}

func TestAddressMessages(t *testing.T) {
	paste, err := normalize.Parse([]byte(`{"mcpServers": {"a": {"type": "http", "url": "https://u:p@x.test/mcp?sig=x"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range paste.Servers[0].Notes {
		got = append(got, n.Message)
	}
	want := []string{"the address holds a password; addresses end up in logs", `the parameter "sig" is the place of a secret; addresses end up in logs`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestClientMisparses(t *testing.T) {
	for line, want := range map[string]string{
		"claude mcp add -e A=1 name -- npx x":                      "the client takes what follows -e for further variables",
		"claude mcp add -t http -H 'X: y' name https://x.test/mcp": "the client takes what follows -H for further headers",
		"claude mcp add name npx -y @acme/files-mcp --port 80":     "the client takes the options of the server's command",
	} {
		paste, err := normalize.Parse([]byte(line), nil)
		if err != nil || len(paste.Servers) != 1 {
			t.Fatalf("%s: %+v, %v", line, paste, err)
		}
		found := slices.ContainsFunc(paste.Servers[0].Notes, func(n normalize.Note) bool {
			return n.Code == normalize.ClientMisparses && strings.HasPrefix(n.Message, want)
		})
		if !found {
			t.Errorf("%s: notes %+v", line, paste.Servers[0].Notes)
		}
	}
}
