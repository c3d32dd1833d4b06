package changeset_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
)

// TestError checks what an error says to people and to programs.
func TestError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, message, details string
		err                    *changeset.Error
	}{
		{
			"all", `propose "cs-1" "setup" "setup.md": the path is taken; take another path: "Setup.md" is there: file does not exist`,
			`{"changesetId":"cs-1","id":"setup","path":"setup.md"}`,
			&changeset.Error{Code: changeset.CodePathTaken, Op: "propose", Changeset: "cs-1", ID: "setup", Path: "setup.md", Detail: `"Setup.md" is there`, Err: fs.ErrNotExist},
		},
		{"nothing", "no node has that id", "null", &changeset.Error{Code: changeset.CodeNode}},
		{
			"long and strange", `get "` + strings.Repeat("a", 160) + `...": no such changeset; list them or create one`,
			`{"changesetId":"` + strings.Repeat("a", 300) + `"}`,
			&changeset.Error{Code: changeset.CodeUnknown, Op: "get", Changeset: strings.Repeat("a", 300)},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			details, err := json.Marshal(test.err.ErrorDetails())
			if err != nil {
				t.Fatal(err)
			}
			want := []string{test.message, test.details}
			if diff := cmp.Diff(want, []string{test.err.Error(), string(details)}); diff != "" {
				t.Errorf("message and details (-want +got):\n%s", diff)
			}
			if test.err.ErrorCode() != string(test.err.Code) || test.err.Err != nil && !errors.Is(test.err, fs.ErrNotExist) {
				t.Errorf("code %q, cause %v", test.err.ErrorCode(), test.err.Unwrap())
			}
		})
	}
	if got := changeset.CodeOf(fs.ErrNotExist) + changeset.CodeOf(nil); got != "" {
		t.Errorf("the code of another error is %q", got)
	}
}

// TestCodes checks that each code has words of its own.
func TestCodes(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != "Code" {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		text := (&changeset.Error{Code: changeset.Code(code)}).Error()
		if other, ok := seen[text]; ok || text == "" {
			t.Errorf("%s says %q, as does %q", code, text, other)
		}
		seen[text] = code
		return true
	})
	if len(seen) != 25 {
		t.Errorf("%d codes", len(seen))
	}
}
