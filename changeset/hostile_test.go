package changeset_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// exported returns the exported functions of the package, and the exported
// methods by type, as the source has them.
func exported(t *testing.T) (funcs []string, methods map[string][]string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	methods = map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			if fn.Recv == nil {
				funcs = append(funcs, fn.Name.Name)
				continue
			}
			of := fn.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok && id.IsExported() {
				methods[id.Name] = append(methods[id.Name], fn.Name.Name)
			}
		}
	}
	slices.Sort(funcs)
	for _, list := range methods {
		slices.Sort(list)
	}
	return funcs, methods
}

// TestNoApply pins what can be called at all. A new name has to be looked at:
// nothing may carry a changeset out.
func TestNoApply(t *testing.T) {
	t.Parallel()
	funcs, methods := exported(t)
	if diff := cmp.Diff([]string{"CodeOf", "Open"}, funcs); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	want := map[string][]string{
		"Error":  {"Error", "ErrorCode", "ErrorDetails", "Unwrap"},
		"Store":  {"Bind", "Close", "Diff", "Get", "List", "Preview", "Render", "RenderStatus", "Validate"},
		"Writer": {"Create", "ProposeCreate", "ProposeDelete", "ProposeMove", "ProposeUpdate"},
	}
	if diff := cmp.Diff(want, methods); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
}

// hostile are texts to be taken for a path, an id, a view or a document.
func hostile(p *project, id string) []string {
	return []string{
		"", id, "setup", "new", "outline", "review", "setup.md", "docs/setup.md", "../docs/setup.md", "../../site/outline.html",
		p.path("docs/setup.md"), "site/outline.html", "..", "a/../../setup.md", `..\setup.md`, "setup.md\x00", "\xff", "CON.md",
		"new.md", "a/moved.md", ".git/config.md", strings.Repeat("a/", 600) + "x.md",
	}
}

// arguments returns values of a type to call with.
func arguments(t *testing.T, of reflect.Type, texts []string) []reflect.Value {
	t.Helper()
	var all []reflect.Value
	switch {
	case of == reflect.TypeFor[context.Context]():
		all = append(all, reflect.ValueOf(t.Context()))
	case of == reflect.TypeFor[string]():
		for _, s := range texts {
			all = append(all, reflect.ValueOf(s))
		}
	case of == reflect.TypeFor[changeset.Policy]():
		all = append(all, reflect.ValueOf(everything()))
	case of == reflect.TypeFor[changeset.NewNode]():
		for i, s := range texts {
			all = append(all,
				reflect.ValueOf(changeset.NewNode{ID: s, Kind: s, Title: s, Path: s, Text: s}),
				reflect.ValueOf(changeset.NewNode{ID: "n" + string(rune('a'+i)), Kind: "guide", Title: "New", Path: s, Text: s}))
		}
	case of == reflect.TypeFor[changeset.NodeEdit]():
		for _, s := range texts {
			all = append(all, reflect.ValueOf(changeset.NodeEdit{Text: &s}), reflect.ValueOf(changeset.NodeEdit{Title: &s, Kind: &s}))
		}
	default:
		t.Fatalf("no arguments of type %v: add some", of)
	}
	return all
}

// callAll calls a method with every combination of hostile arguments and says
// how many calls there were and how many were accepted.
func callAll(t *testing.T, method reflect.Value, texts []string) (calls, accepted int) {
	t.Helper()
	rows := [][]reflect.Value{{}}
	for of := range method.Type().Ins() {
		var longer [][]reflect.Value
		for _, row := range rows {
			for _, v := range arguments(t, of, texts) {
				longer = append(longer, append(slices.Clone(row), v))
			}
		}
		rows = longer
	}
	for _, row := range rows {
		out := method.Call(row)
		calls++
		if out[len(out)-1].IsNil() {
			accepted++
		}
	}
	return calls, accepted
}

// TestNothingElseIsWritten calls every method there is with every combination
// of hostile arguments, and compares the hashes of all files before and after.
func TestNothingElseIsWritten(t *testing.T) {
	t.Parallel()
	outer := &project{dir: t.TempDir()}
	outer.write(t, "secret.md", "outside\n")
	p := &project{dir: outer.path("project")}
	for name, text := range handbook() {
		p.write(t, name, text)
	}
	opts := options()
	opts.MaxChangesets = 40
	p.store = p.open(t, opts)
	w := p.writer(t, "ada")
	id := begin(t, w)
	roots := []string{"project/.mcpdocs/changesets", "project/.mcpdocs/previews"}
	before := hashes(t, outer.dir, roots...)
	calls, accepted := 0, 0
	_, methods := exported(t)
	// In this order, because what is created takes the paths to move to, and
	// nothing can be done to a node that is deleted.
	writing := []string{"Create", "ProposeMove", "ProposeCreate", "ProposeUpdate", "ProposeDelete"}
	if diff := cmp.Diff(methods["Writer"], slices.Sorted(slices.Values(writing))); diff != "" {
		t.Fatalf("methods (-there +called):\n%s", diff)
	}
	reading := slices.DeleteFunc(methods["Store"], func(m string) bool { return m == "Close" })
	for _, name := range append(writing, reading...) {
		method := reflect.ValueOf(w).MethodByName(name)
		if !method.IsValid() {
			method = reflect.ValueOf(p.store).MethodByName(name)
		}
		n, ok := callAll(t, method, hostile(p, id))
		t.Logf("%s: %d calls, %d accepted", name, n, ok)
		calls, accepted = calls+n, accepted+ok
		if ok == 0 {
			t.Errorf("%s was never accepted, so this shows nothing", name)
		}
	}
	if diff := cmp.Diff(before, hashes(t, outer.dir, roots...)); diff != "" {
		t.Errorf("%d calls changed files (-before +after):\n%s", calls, diff)
	}
	t.Logf("calls %d, accepted %d, files outside the two folders changed 0 of %d", calls, accepted, len(before))
	known := regexp.MustCompile(`^(changesets/(lock|cs-[a-z2-7]{26}\.changeset)|previews/cs-[a-z2-7]{26}-(review|outline)\.html|changesets/|previews/)$`)
	for name := range treetest.Read(t, p.path(".mcpdocs")) {
		if !known.MatchString(name) {
			t.Errorf("%q was written", name)
		}
	}
}

// hashes returns the hash of every file below dir, with its mode and time, but
// for what is below skip.
func hashes(t *testing.T, dir string, skip ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, text := range treetest.Read(t, dir, skip...) {
		all[name] = canon.Sum([]byte(text))
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if info, err := d.Info(); err == nil && d.Type().IsRegular() {
			if _, ok := all[filepath.ToSlash(rel)]; ok {
				all[filepath.ToSlash(rel)] += info.Mode().String() + info.ModTime().String()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A liar is a source that an integration wrote to get around validation.
type liar struct {
	folder
	change func(*changeset.Snapshot)
}

func (l liar) Snapshot(ctx context.Context) (*changeset.Snapshot, error) {
	snap, err := l.folder.Snapshot(ctx)
	if err == nil {
		l.change(snap)
	}
	return snap, err
}

// TestSourceLies lets a source say things that would lead a store elsewhere.
func TestSourceLies(t *testing.T) {
	t.Parallel()
	setup := func(s *changeset.Snapshot) *changeset.Node {
		i := slices.IndexFunc(s.Nodes, func(n changeset.Node) bool { return n.ID == "setup" })
		return &s.Nodes[i]
	}
	for name, change := range map[string]func(*changeset.Snapshot){
		"another hash":       func(s *changeset.Snapshot) { setup(s).Hash = strings.Repeat("0", 64) },
		"no hash":            func(s *changeset.Snapshot) { setup(s).Hash = "" },
		"another size":       func(s *changeset.Snapshot) { setup(s).Size = 1 },
		"path outside":       func(s *changeset.Snapshot) { setup(s).Path = "../docs/setup.md" },
		"another file":       func(s *changeset.Snapshot) { setup(s).Path = "spec/terms.md" },
		"no path":            func(s *changeset.Snapshot) { setup(s).Path = "" },
		"id that is no text": func(s *changeset.Snapshot) { setup(s).ID = "\xff" },
		"no id":              func(s *changeset.Snapshot) { setup(s).ID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			id := begin(t, p.writer(t, "ada"))
			w := p.writerOn(t, liar{p.source(), change})
			before := treetest.Read(t, p.dir)
			for _, node := range []string{"setup", "\xff", ""} {
				if _, err := w.ProposeUpdate(t.Context(), id, node, changeset.NodeEdit{Text: new("Text")}); err == nil {
					t.Errorf("accepted an update of %q", node)
				}
				if _, err := w.ProposeDelete(t.Context(), id, node); err == nil {
					t.Errorf("accepted a deletion of %q", node)
				}
			}
			if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
				t.Errorf("something was written (-before +after):\n%s", diff)
			}
		})
	}
}

// TestWeaken lets an integration try all it has against one changeset that is
// not valid: options and policies that it changes afterwards, a wider policy, a
// validator that says that all is well.
func TestWeaken(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	id := begin(t, p.writer(t, "ada"))
	for _, step := range []string{"delete limits", "update terms See [[nowhere]]."} {
		if _, err := propose(t, p.writer(t, "ada"), id, step); err != nil {
			t.Fatal(err)
		}
	}
	opts := options()
	opts.Policy = &changeset.Policy{Allow: []changeset.Op{changeset.Update}, Kinds: []string{"guide"}}
	opts.Validators = []changeset.Validator{judge(func(pr changeset.Proposal) []changeset.Problem {
		pr.Changeset.Operations = nil
		clear(pr.Files)
		return []changeset.Problem{{Code: "dangling_reference", Severity: "warning", ID: "setup", Message: "it is only a warning"}}
	})}
	p.store = p.open(t, opts)
	opts.Policy.Allow[0], opts.Policy.Kinds[0] = changeset.Delete, "spec"
	opts.Validators[0] = nil
	p.writer(t, "ada")
	want := []string{
		"dangling_reference setup", "dangling_reference terms", "kind_not_allowed terms", "operation_not_allowed limits",
	}
	got := map[string]bool{}
	for _, problem := range p.problems(t, id) {
		got[problem] = true
	}
	for _, problem := range want {
		if !got[problem] {
			t.Errorf("%s is missing in %v", problem, slices.Sorted(maps.Keys(got)))
		}
	}
}
