package yamldoc_test

import (
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// FuzzParse checks that whatever is read strictly is read the same leniently, that every node has a position
// and no alias is left, and that every refusal has a position, a code and a message.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a: 1\n", "a: [1, {b: \"c\\n\"}]\n", "- |\n  x\n- >-\n  y\n  z\n", "a: &x 1\nb: *x\n", "{<<: {a: 1}, a: 2}",
		"? [a]\n: b\n", "--- a\n--- b\n", "'it''s': 文\n", "a: b: c\n", "!x y: !!int 1\n", "a: 2001-01-01\n\tb",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		opts := &yamldoc.Options{MaxBytes: 1 << 16, MaxNodes: 2000, MaxKeys: 100}
		lenient := *opts
		lenient.Lenient = true
		docs, lenientErr := yamldoc.ParseAll(src, &lenient)
		checkFaults(t, lenientErr)
		for _, d := range docs {
			checkNodes(t, d)
		}
		root, err := yamldoc.Parse(src, opts)
		checkFaults(t, err)
		if err != nil {
			return
		}
		if lenientErr != nil || len(docs) != 1 || flat(docs[0]) != flat(root) {
			t.Fatalf("strict mode reads %s, lenient mode %d documents, %v", flat(root), len(docs), lenientErr)
		}
		checkNodes(t, root)
	})
}

func checkFaults(t *testing.T, err error) {
	t.Helper()
	if err != nil && len(yamldoc.Faults(err)) == 0 {
		t.Fatalf("error without a fault: %v", err)
	}
	for _, f := range yamldoc.Faults(err) {
		if f.Line < 1 || f.Column < 1 || f.Code == "" || f.Msg == "" {
			t.Fatalf("fault without position, code or message: %+v", f)
		}
	}
}

// checkNodes checks what the package promises of each node.
func checkNodes(t *testing.T, n *yamldoc.Node) {
	t.Helper()
	if n.Kind == yamldoc.AliasNode || n.Kind == yamldoc.DocumentNode || n.Anchor != "" {
		t.Fatalf("node of kind %d with anchor %q", n.Kind, n.Anchor)
	}
	if n.Line < 1 || n.Column < 1 {
		t.Fatalf("node %q without a position", n.Value)
	}
	for _, c := range n.Content {
		checkNodes(t, c)
	}
}
