package normalize_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
