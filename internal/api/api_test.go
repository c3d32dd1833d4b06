package api_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write api.txt anew")

const module = "github.com/mcpcontract/mcpcontract"

// TestExportedAPI compares api.txt with what the packages export. After an
// intended change, run go test ./internal/api -update and name the change in
// CHANGELOG.md.
func TestExportedAPI(t *testing.T) {
	var lines []string
	for _, dir := range publicDirs(t, "../..") {
		lines = append(lines, exported(t, dir)...)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("api.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("api.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the exported API changed; if that is meant, run go test ./internal/api -update (-want +got):\n%s", diff)
	}
}

// publicDirs lists, relative to root, the folders whose packages users can
// import.
func publicDirs(t *testing.T, root string) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (name == "internal" || name == "testdata" || name == "examples" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			found[filepath.Dir(p)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
}

// exported gives one line for each name that the package in dir exports, in
// the order of the names, each starting with the package path.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	rel, err := filepath.Rel("../..", dir)
	if err != nil {
		t.Fatal(err)
	}
	prefix := "pkg " + strings.TrimSuffix(path.Join(module, filepath.ToSlash(rel)), "/.") + ", "
	fset := token.NewFileSet()
	var lines []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	linux := build.Default
	linux.GOOS, linux.GOARCH = "linux", "amd64"
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if ok, err := linux.MatchFile(dir, e.Name()); err != nil || !ok {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name == "main" {
			return nil
		}
		for _, d := range file.Decls {
			lines = append(lines, describe(fset, d)...)
		}
	}
	for i, l := range lines {
		lines[i] = prefix + l
	}
	slices.Sort(lines)
	return lines
}

func describe(fset *token.FileSet, d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return describeFunc(fset, d)
	case *ast.GenDecl:
		var lines []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				lines = append(lines, describeValue(fset, d.Tok, s)...)
			case *ast.TypeSpec:
				lines = append(lines, describeType(fset, s)...)
			}
		}
		return lines
	}
	return nil
}

func describeFunc(fset *token.FileSet, d *ast.FuncDecl) []string {
	if !d.Name.IsExported() {
		return nil
	}
	sig := strings.TrimPrefix(text(fset, d.Type), "func")
	if d.Recv == nil {
		return []string{"func " + d.Name.Name + sig}
	}
	recv := text(fset, d.Recv.List[0].Type)
	if base, _, _ := strings.Cut(strings.TrimPrefix(recv, "*"), "["); !ast.IsExported(base) {
		return nil
	}
	return []string{"method (" + recv + ") " + d.Name.Name + sig}
}

func describeValue(fset *token.FileSet, tok token.Token, s *ast.ValueSpec) []string {
	var lines []string
	for i, n := range s.Names {
		if !n.IsExported() {
			continue
		}
		line := tok.String() + " " + n.Name
		if s.Type != nil {
			line += " " + text(fset, s.Type)
		}
		if tok == token.CONST && i < len(s.Values) {
			line += " = " + text(fset, s.Values[i])
		}
		lines = append(lines, line)
	}
	return lines
}

func describeType(fset *token.FileSet, s *ast.TypeSpec) []string {
	if !s.Name.IsExported() {
		return nil
	}
	head := "type " + s.Name.Name
	if s.TypeParams != nil {
		var params []string
		for _, f := range s.TypeParams.List {
			params = append(params, fieldText(fset, f))
		}
		head += "[" + strings.Join(params, ", ") + "]"
	}
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		eq := " "
		if s.Assign.IsValid() {
			eq = " = "
		}
		return []string{head + eq + text(fset, s.Type)}
	}
	lines := []string{head + " struct"}
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 {
			lines = append(lines, head+" struct, embedded "+text(fset, f.Type))
		}
		for _, n := range f.Names {
			if n.IsExported() {
				line := fmt.Sprintf("%s struct, %s %s", head, n.Name, text(fset, f.Type))
				if f.Tag != nil {
					line += " " + f.Tag.Value
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func fieldText(fset *token.FileSet, f *ast.Field) string {
	names := make([]string, len(f.Names))
	for i, n := range f.Names {
		names[i] = n.Name
	}
	return strings.Join(names, ", ") + " " + text(fset, f.Type)
}

// text prints a node on one line, without its comments.
func text(fset *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, fset, n); err != nil {
		panic(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
