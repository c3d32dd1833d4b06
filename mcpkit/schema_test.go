package mcpkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

// tool returns a tool of two types that does nothing.
func tool[In, Out any]() mcpkit.Tool[In, Out] {
	return mcpkit.Tool[In, Out]{
		Name:        "probe",
		Description: "Probe.",
		Effect:      mcpkit.ReadOnly,
		Run:         func(context.Context, In) (out Out, err error) { return out, nil },
	}
}

// args is tool for the types of arguments.
func args[In any]() mcpkit.Feature { return tool[In, nothing]().Install }

// out is tool for the types of results.
func out[Out any]() mcpkit.Feature { return tool[nothing, Out]().Install }

type Base struct {
	ID string `json:"id" jsonschema:"the id" schema:"kind=id"`
}

type Deep struct {
	Lists [][]string              `json:"lists" jsonschema:"lists" schema:"minItems=1 minLength=2"`
	Maps  map[string][]searchItem `json:"maps,omitzero" jsonschema:"maps"`
	Fixed [2]int                  `json:"fixed" jsonschema:"two" schema:"maximum=9"`
}

func TestSchemas(t *testing.T) {
	tests := []struct {
		name          string
		feature       mcpkit.Feature
		input, output string // empty: not looked at
	}{
		{
			name:    "no arguments",
			feature: args[struct{}](),
			input:   `{"type":"object","properties":{},"additionalProperties":false}`,
		},
		{
			name:    "pointer to a struct",
			feature: tool[*Base, *Base]().Install,
			input:   `{"type":"object","properties":{"id":{"type":"string","description":"the id","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}},"required":["id"],"additionalProperties":false}`,
			output:  `{"type":"object","properties":{"id":{"type":"string","description":"the id","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}},"required":["id"],"additionalProperties":false}`,
		},
		{
			name: "embedded structs, hidden and unnamed fields",
			feature: args[struct {
				Base
				Plain  bool `jsonschema:"no json tag"`
				Hidden int  `json:"-"`
				secret int
			}](),
			input: `{"type":"object","properties":{"id":{"type":"string","description":"the id","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"},"Plain":{"type":"boolean","description":"no json tag"}},"required":["id","Plain"],"additionalProperties":false}`,
		},
		{
			name: "required pointer",
			feature: args[struct {
				N *int `json:"n" jsonschema:"n" schema:"minimum=1 maximum=2"`
			}](),
			input: `{"type":"object","properties":{"n":{"type":"integer","description":"n","minimum":1,"maximum":2}},"required":["n"],"additionalProperties":false}`,
		},
		{
			name:    "nested lists and maps",
			feature: args[Deep](),
			input: `{"type":"object","properties":{"lists":{"type":"array","items":{"type":"array","items":{"type":"string","minLength":2}},"description":"lists","minItems":1},` +
				`"maps":{"type":"object","description":"maps","additionalProperties":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string","description":"n"},"lines":{"type":"array","items":{"type":"integer"},"description":"l"},"peers":{"type":"array","items":{"type":"string"},"description":"p"}},"required":["name","lines","peers"],"additionalProperties":false}}},` +
				`"fixed":{"type":"array","items":{"type":"integer","maximum":9},"description":"two","minItems":2,"maxItems":2}},"required":["lists","fixed"],"additionalProperties":false}`,
		},
		{
			name: "types that are not what they look like",
			feature: out[struct {
				Raw    json.RawMessage `json:"raw"`
				Any    any             `json:"any" jsonschema:"anything"`
				Anys   []any           `json:"anys"`
				Bytes  []byte          `json:"bytes"`
				Number json.Number     `json:"number"`
				Addr   netip.Addr      `json:"addr"`
				At     *time.Time      `json:"at,omitempty" schema:"minLength=20"`
				Stamp  string          `json:"stamp" schema:"kind=time"`
			}](),
			output: `{"type":"object","properties":{"raw":{"description":"any JSON value"},"any":{"description":"anything"},"anys":{"type":"array","items":{"description":"any JSON value"}},"bytes":{"type":"string","contentEncoding":"base64"},"number":{"type":"number"},"addr":{"type":"string"},` +
				`"at":{"type":"string","minLength":20,"pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"},` +
				`"stamp":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"}},"required":["raw","any","anys","bytes","number","addr","stamp"],"additionalProperties":false}`,
		},
		{
			name: "types of package result",
			feature: out[struct {
				Items  result.List[Base]   `json:"items" jsonschema:"bases" schema:"maxItems=3"`
				Source *result.Provenance  `json:"source,omitempty" jsonschema:"where from"`
				Pages  result.Page[string] `json:"pages"`
			}](),
			output: `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string","description":"the id","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}},"required":["id"],"additionalProperties":false},"description":"bases","maxItems":3},` +
				`"source":{"type":"object","properties":{"project":{"type":"string","description":"id of the project"},"revision":{"type":"string","description":"digest of what the project declares"},"sourceHash":{"type":"string","description":"digest of the source","pattern":"^[0-9a-f]{64}$"},"adapter":{"type":"string","description":"what read the source"},"staleness":{"type":"string","enum":["current","changed","unknown"]},"notice":{"type":"string"}},"description":"where from","required":["project","revision","sourceHash","adapter","staleness","notice"],"additionalProperties":false},` +
				`"pages":{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}},"nextCursor":{"type":"string"}},"required":["items"],"additionalProperties":false}},"required":["items","pages"],"additionalProperties":false}`,
		},
		{
			name: "hook",
			feature: func(in *mcpkit.Installer) error {
				probe := tool[Base, nothing]()
				probe.Schema = func(input, output *jsonschema.Schema) {
					input.Properties["id"].Enum = []any{"a", "b"}
					input.Properties["more"] = &jsonschema.Schema{}
					output.Description = "nothing"
				}
				return probe.Install(in)
			},
			input:  `{"type":"object","properties":{"id":{"type":"string","description":"the id","enum":["a","b"],"pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"},"more":{"description":"any JSON value"}},"required":["id"],"additionalProperties":false}`,
			output: `{"type":"object","properties":{},"description":"nothing","additionalProperties":false}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			published := listTools(t, newServer(t, nil, test.feature))["probe"]
			if diff := cmp.Diff(test.input, string(published.InputSchema)); test.input != "" && diff != "" {
				t.Errorf("input schema (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.output, string(published.OutputSchema)); test.output != "" && diff != "" {
				t.Errorf("output schema (-want +got):\n%s", diff)
			}
		})
	}
}

type publishedTool struct {
	Name         string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  map[string]bool
}

func listTools(t *testing.T, server *mcp.Server) map[string]publishedTool {
	t.Helper()
	var list struct{ Tools []publishedTool }
	r := dial(t, server, handshake).send(t, "tools/list", `{}`)
	if err := json.Unmarshal(r.Result, &list); err != nil {
		t.Fatalf("tools/list: %v %s", err, r.Error)
	}
	byName := make(map[string]publishedTool)
	for _, tool := range list.Tools {
		byName[tool.Name] = tool
	}
	return byName
}

func TestAnnotations(t *testing.T) {
	tests := []struct {
		effect                mcpkit.Effect
		idempotent, openWorld bool
		want                  map[string]bool
	}{
		{mcpkit.ReadOnly, false, false, map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}},
		{mcpkit.Additive, false, true, map[string]bool{"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true}},
		{mcpkit.Additive, true, false, map[string]bool{"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}},
		{mcpkit.Destructive, false, false, map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false}},
	}
	for _, test := range tests {
		probe := tool[nothing, nothing]()
		probe.Effect, probe.Idempotent, probe.OpenWorld = test.effect, test.idempotent, test.openWorld
		got := listTools(t, newServer(t, nil, probe.Install))["probe"].Annotations
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("effect %d, idempotent %t (-want +got):\n%s", test.effect, test.idempotent, diff)
		}
	}
}

type recursive struct {
	Next *recursive `json:"next,omitempty" jsonschema:"again"`
}

type selfEncoding struct{}

func (*selfEncoding) MarshalJSON() ([]byte, error) { return []byte("5"), nil }

// EmbeddedText is exported, so encoding/json writes it under its type's name, which inference does not see.
type EmbeddedText string

func TestSchemaErrors(t *testing.T) {
	hooked := func(hook func(input, output *jsonschema.Schema)) mcpkit.Feature {
		probe := tool[Base, Base]()
		probe.Schema = hook
		return probe.Install
	}
	tests := []struct {
		name    string
		feature mcpkit.Feature
		want    string // part of the error
	}{
		{"arguments no struct", args[map[string]string](), "arguments: map[string]string is not a struct"},
		{"arguments any", args[any](), "is not a struct"},
		{"result a list", out[[]string](), "result: []string is not a struct"},
		{"recursive", args[recursive](), "cycle"},
		{"encodes itself", args[struct {
			A selfEncoding `json:"a" jsonschema:"a"`
		}](), "a: mcpkit_test.selfEncoding encodes itself"},
		{"big number", out[struct{ N []*big.Int }](), "N: big.Int encodes itself"},
		{"no description", args[struct {
			A struct {
				B int `json:"b"`
			} `json:"a" jsonschema:"a"`
		}](), "a: b: an argument needs a description"},
		{"pointer without omitempty", out[struct {
			A *int `json:"a"`
		}](), "a: a pointer would encode as null"},
		{"string option", out[struct {
			A int `json:"a,string"`
		}](), `a: the json option "string"`},
		{"embedded with a name", out[struct {
			Base `json:"base"`
		}](), "base: the field has no schema"},
		{"embedded text", out[struct{ EmbeddedText }](), "EmbeddedText: the field has no schema"},
		{"channel", out[struct{ C chan int }](), "unsupported"},
		{"map of numbers", args[struct {
			M map[int]string `json:"m" jsonschema:"m"`
		}](), "map key"},
		{"unknown keyword", args[tagged1](), "schema tag: minLenght: unknown keyword"},
		{"no value", args[tagged2](), `schema tag: "minLength" is not keyword=value`},
		{"not a number", args[tagged3](), "schema tag: minLength:"},
		{"wrong type", args[tagged4](), `schema tag: minLength: does not fit the type "integer"`},
		{"items of a string", args[tagged5](), `schema tag: maxItems: does not fit the type "string"`},
		{"unknown kind", args[tagged6](), `schema tag: kind: unknown kind "uuid"`},
		{"bad pattern", args[tagged7](), "error parsing regexp"},
		{"hook removes the type", hooked(func(in, _ *jsonschema.Schema) { in.Type = "" }), `arguments: the root has to be of type "object"`},
		{"hook adds a reference", hooked(func(_, out *jsonschema.Schema) { out.Properties["id"].Ref = "#/$defs/x" }), "result: id: $ref and $defs"},
		{"hook opens an object", hooked(func(in, _ *jsonschema.Schema) { in.AdditionalProperties = nil }), "has to be closed"},
		{"hook adds an open arm", hooked(func(in, _ *jsonschema.Schema) { in.OneOf = []*jsonschema.Schema{{Type: "object"}} }), "has to be closed"},
		{"hook adds a default", hooked(func(in, _ *jsonschema.Schema) { in.Properties["id"].Default = json.RawMessage(`"a"`) }), "id: default is not allowed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := mcpkit.NewServer(&mcp.Implementation{Name: "test"}, nil, test.feature)
			if got := fmt.Sprint(err); !strings.Contains(got, test.want) || !strings.HasPrefix(got, `install: tool "probe": `) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

type (
	tagged1 struct {
		A string `json:"a" jsonschema:"a" schema:"minLenght=3"`
	}
	tagged2 struct {
		A string `json:"a" jsonschema:"a" schema:"minLength"`
	}
	tagged3 struct {
		A string `json:"a" jsonschema:"a" schema:"minLength=many"`
	}
	tagged4 struct {
		A int `json:"a" jsonschema:"a" schema:"minLength=3"`
	}
	tagged5 struct {
		A string `json:"a" jsonschema:"a" schema:"maxItems=3"`
	}
	tagged6 struct {
		A string `json:"a" jsonschema:"a" schema:"kind=uuid"`
	}
	tagged7 struct {
		A string `json:"a" jsonschema:"a" schema:"pattern=("`
	}
)
