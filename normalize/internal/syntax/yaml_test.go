package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

func TestYAML(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"types of the core schema", "a: [1, 0755, 1.10, .5, 1e3, 0x1F, 0o17, +1, .inf, -.inf, .NaN]\n", `{"a":[1,"0755",1.10,".5",1e3,"0x1F","0o17","+1",".inf","-.inf",".NaN"]}`},
		{"booleans and null", "a: [true, False, TRUE, null, ~, Null, ]\nb:\n", `{"a":[true,false,true,null,null,null],"b":null}`},
		{"strings that older YAML read otherwise", "a: [yes, off, on, 2026-01-02, 1_000, 0x, 1e, 12:30]\n", `{"a":["yes","off","on","2026-01-02","1_000","0x","1e","12:30"]}`},
		{"quoted", "a: ['1', \"true\", !!str 2]\n", `{"a":["1","true","2"]}`},
		{"blocks", "a: |\n  x\n  y\nb: >\n  x\n  y\n", `{"a":"x\ny\n","b":"x y\n"}`},
		{"aliases and merge keys", "x: &x {a: 1}\ny: {<<: *x, b: 2}\nz: *x\n", `{"x":{"a":1},"y":{"a":1,"b":2},"z":{"a":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, _, err := syntax.YAML(tt.in)
			if err != nil || len(docs) != 1 {
				t.Fatalf("got %d documents, %v", len(docs), err)
			}
			if got := string(docs[0].AppendJSON(nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestYAMLPlaces(t *testing.T) {
	src := "ä: x\nb:\n  - c\n"
	docs, _, err := syntax.YAML(src)
	if err != nil {
		t.Fatal(err)
	}
	b := docs[0].Members[1]
	if src[b.Offset:b.Offset+1] != "b" || src[b.Value.Items[0].Offset:] != "c\n" {
		t.Errorf("b is at %d, its item at %d", b.Offset, b.Value.Items[0].Offset)
	}
}

func TestYAMLFaults(t *testing.T) {
	_, _, err := syntax.YAML("a: b\nc: [x\nd: e\n")
	var e *syntax.Error
	if !errors.As(err, &e) || e.Offset < 5 || e.Limit {
		t.Errorf("got %+v", err)
	}
	_, _, err = syntax.YAML(strings.Repeat("- a\n", 60_000))
	if !errors.As(err, &e) || !e.Limit {
		t.Errorf("got %+v", err)
	}
	if docs, _, err := syntax.YAML("a: 1\n---\nb: 2\n"); err != nil || len(docs) != 2 {
		t.Errorf("got %d documents, %v", len(docs), err)
	}
}
