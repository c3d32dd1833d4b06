package contracttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// tool is a tool as one client sees it.
type tool struct {
	Name         string                     `json:"name"`
	InputSchema  json.RawMessage            `json:"inputSchema"`
	OutputSchema json.RawMessage            `json:"outputSchema"`
	Annotations  map[string]json.RawMessage `json:"annotations"`

	output *jsonschema.Resolved // nil: none shown
}

// maxPages bounds how long a list is followed.
const maxPages = 100

// checkTools reads the whole catalog and checks it.
func (c *checker) checkTools() (map[string]*tool, bool) {
	tools := map[string]*tool{}
	var whole []string
	size, cursor := 0, ""
	for range maxPages {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		r, ok := c.ask("", "tools/list", params)
		if !ok {
			return nil, false
		}
		if r.Error != nil {
			return tools, true // a server without tools
		}
		c.checkCache("tools/list", r)
		size += len(r.Result)
		page, err := decode[struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}](r.Result)
		if err != nil || page.Tools == nil {
			c.broken("alive", "", "tools/list has no list of tools", r.raw)
			return nil, false
		}
		for _, raw := range page.Tools {
			whole = append(whole, string(raw))
			if t := c.checkTool(raw); t != nil {
				tools[t.Name] = t
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	c.checkCatalog(strings.Join(whole, "\n"), size)
	return tools, true
}

func (c *checker) checkCatalog(list string, size int) {
	switch {
	case size > maxCatalog:
		c.broken("budget", "", fmt.Sprintf("the catalog has %d bytes, more than %d", size, maxCatalog), nil)
	case size > softCatalog:
		c.doubtful("budget", "", fmt.Sprintf("the catalog has %d bytes; clients with many servers want at most %d", size, softCatalog))
	}
	if c.protocol != modern {
		return
	}
	if c.uniform == "" {
		c.uniform = list
	}
	if list != c.uniform {
		c.broken("uniform-list", "", "tools/list differs from what another client got", []byte(list))
	}
}

func (c *checker) checkTool(raw json.RawMessage) *tool {
	t, err := decode[tool](raw)
	if err != nil {
		c.broken("schema", "", "a tool that cannot be read: "+err.Error(), raw)
		return nil
	}
	if fault := inputFault(t.InputSchema); fault != "" {
		c.broken("schema", t.Name, "input schema: "+fault, t.InputSchema)
	}
	if t.OutputSchema != nil {
		var fault string
		if t.output, fault = outputSchema(t.OutputSchema); fault != "" {
			c.broken("schema", t.Name, "output schema: "+fault, t.OutputSchema)
		}
	}
	if fault := annotationFault(t.Annotations); fault != "" {
		c.broken("annotations", t.Name, fault, raw)
	}
	return &t
}

// annotationFault says what a host cannot tell about a tool. The SDK leaves
// out a readOnlyHint that is false.
func annotationFault(a map[string]json.RawMessage) string {
	switch {
	case a == nil:
		return "no annotations: hosts assume the worst"
	case string(a["readOnlyHint"]) != "true" && a["destructiveHint"] == nil:
		return "neither readOnlyHint true nor a destructiveHint"
	case a["openWorldHint"] == nil:
		return "no openWorldHint"
	}
	return ""
}

// inputFault says why some client would refuse a schema, or drop its tool.
func inputFault(raw json.RawMessage) string {
	root, err := decode[map[string]any](raw)
	if err != nil || root == nil {
		return "not an object"
	}
	if root["type"] != "object" {
		return `the root has no type "object"`
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf"} {
		if root[k] != nil {
			return k + " at the root"
		}
	}
	return objectFault(root, "the root")
}

// objectFault looks at a schema and all below it.
func objectFault(schema map[string]any, where string) string {
	for _, k := range []string{"$ref", "$defs", "definitions"} {
		if schema[k] != nil {
			return fmt.Sprintf("%s has %s: clients drop it", where, k)
		}
	}
	if isObject(schema) {
		if schema["properties"] == nil && where == "the root" {
			return where + " has no properties, not even empty ones"
		}
		if extra, found := schema["additionalProperties"]; !found || extra == true {
			return where + " is open: additionalProperties is not false"
		}
	}
	return belowFault(schema, where)
}

// belowFault applies objectFault to the schemas inside one.
func belowFault(schema map[string]any, where string) string {
	if props, ok := schema["properties"].(map[string]any); ok {
		for _, name := range sortedKeys(props) {
			sub, ok := props[name].(map[string]any)
			if !ok {
				return fmt.Sprintf("%q is a schema that is only true or false", name)
			}
			if fault := objectFault(sub, fmt.Sprintf("%q", name)); fault != "" {
				return fault
			}
		}
	}
	for _, below := range []string{"items", "additionalProperties", "not", "oneOf", "anyOf", "allOf", "prefixItems"} {
		for _, sub := range subschemas(schema[below]) {
			if fault := objectFault(sub, where+", "+below); fault != "" {
				return fault
			}
		}
	}
	return ""
}

// subschemas returns the schemas in v, which is one or a list of them.
func subschemas(v any) []map[string]any {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	var out []map[string]any
	for _, e := range list {
		if sub, ok := e.(map[string]any); ok {
			out = append(out, sub)
		}
	}
	return out
}

func isObject(schema map[string]any) bool {
	if schema["type"] == "object" {
		return true
	}
	types, _ := schema["type"].([]any)
	return slices.Contains(types, any("object"))
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// outputSchema makes raw ready to check results against.
func outputSchema(raw json.RawMessage) (*jsonschema.Resolved, string) {
	s, err := decode[jsonschema.Schema](raw)
	if err != nil {
		return nil, err.Error()
	}
	if s.Type != "object" {
		return nil, `the root has no type "object": some clients then drop every tool of the server`
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, err.Error()
	}
	return resolved, ""
}

// checkCache checks the cache fields of a list or of a resource.
func (c *checker) checkCache(method string, r reply) {
	if c.protocol != modern || r.Result == nil {
		return
	}
	fields, err := decode[struct {
		TTL   *float64 `json:"ttlMs"`
		Scope string   `json:"cacheScope"`
	}](r.Result)
	switch {
	case err != nil || fields.TTL == nil || *fields.TTL < 0:
		c.broken("cache", "", method+" has no ttlMs of zero or more", r.raw)
	case fields.Scope == "public" && !c.publicCache:
		c.broken("cache", "", method+` has the cacheScope "public", which is also what the SDK fills in when nobody chose`, r.raw)
	case fields.Scope != "public" && fields.Scope != "private":
		c.broken("cache", "", method+" has no cacheScope", r.raw)
	}
}
