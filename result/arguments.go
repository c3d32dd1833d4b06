package result

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of the search for wrong arguments.
const (
	maxFaults   = 10_000 // counted
	shownFaults = 4      // described
	maxPages    = 100    // of tools/list, to find the schema
)

// explain says which arguments do not match the tool's schema. The SDK's own
// text, why, stops at the first and echoes whole values; it stands in, cut,
// where the schema cannot be had.
func (x *exchange) explain(ctx context.Context, why string) *Error {
	call, ok := x.req.(*mcp.CallToolRequest)
	if !ok {
		return invalid(why)
	}
	var args any
	if err := json.Unmarshal(call.Params.Arguments, &args); err != nil {
		args = map[string]any{} // none were sent
	}
	if _, ok := args.(map[string]any); !ok {
		return invalid("got " + kind(args) + ", want an object")
	}
	schema := inputSchema(ctx, x.next, call)
	if schema == nil {
		return invalid(why)
	}
	f := faults{resolved: map[*jsonschema.Schema]*jsonschema.Resolved{}}
	if f.check(schema, args, ""); f.count == 0 {
		return invalid(why)
	}
	text := strings.Join(f.texts, "; ")
	if more := f.count - len(f.texts); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return invalidAt(text, f.count, f.paths)
}

// notDecoded is for arguments that match the schema and still do not decode.
// The error's own text quotes all that follows the value.
func notDecoded(e *json.UnmarshalTypeError) *Error {
	path := ""
	if e.Field != "" {
		path = fit("/"+strings.ReplaceAll(e.Field, ".", "/"), shownPath)
	}
	return invalidAt(fmt.Sprintf("%scannot be read as %v", at(path), e.Type), 1, []string{path})
}

// invalidAt wraps what is wrong with arguments whose place is known.
func invalidAt(text string, count int, paths []string) *Error {
	e := invalid(text)
	e.Details = struct {
		Count int      `json:"count"`
		Paths []string `json:"paths"`
	}{count, paths}
	return e
}

// invalid wraps what is wrong with the arguments.
func invalid(why string) *Error {
	return &Error{
		Code:    CodeInvalidArguments,
		Message: "the arguments do not match the tool's input schema: " + fit(why, shownMessage),
	}
}

// inputSchema asks the server itself for the schema of the called tool, nil
// if it cannot be had.
func inputSchema(ctx context.Context, next mcp.MethodHandler, call *mcp.CallToolRequest) *jsonschema.Schema {
	params := &mcp.ListToolsParams{Meta: call.Params.Meta}
	for range maxPages {
		res, err := next(ctx, methodList, &mcp.ListToolsRequest{Session: call.Session, Params: params, Extra: call.Extra})
		list, ok := res.(*mcp.ListToolsResult)
		if err != nil || !ok || list == nil {
			return nil
		}
		for _, t := range list.Tools {
			if t.Name == call.Params.Name {
				s, err := schemaOf(t.InputSchema)
				if err != nil {
					return nil
				}
				return s
			}
		}
		if list.NextCursor == "" {
			return nil
		}
		params = &mcp.ListToolsParams{Meta: call.Params.Meta, Cursor: list.NextCursor}
	}
	return nil
}

// schemaOf returns a copy of a schema of any type that encodes as one.
func schemaOf(v any) (*jsonschema.Schema, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	return s, nil
}

// faults collects the values that do not match their schema, at the deepest
// place that can be named.
type faults struct {
	resolved map[*jsonschema.Schema]*jsonschema.Resolved
	count    int
	paths    []string
	texts    []string
}

// add counts a fault; text, what is wrong, is only made if it will be shown.
func (f *faults) add(path string, text func() string) {
	f.count++
	if len(f.paths) < shownFaults {
		path = fit(path, shownPath)
		f.paths = append(f.paths, path)
		f.texts = append(f.texts, at(path)+text())
	}
}

// at names a place in front of what is wrong there; the root needs no name.
func at(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

// check looks for faults in v. No text that it makes holds a value.
func (f *faults) check(s *jsonschema.Schema, v any, path string) {
	if f.count >= maxFaults || f.matches(s, v) {
		return
	}
	before := f.count
	switch v := v.(type) {
	case map[string]any:
		f.checkObject(s, v, path)
	case []any:
		if s.Items != nil {
			for i, item := range v {
				f.check(s.Items, item, path+"/"+strconv.Itoa(i))
			}
		}
	}
	if f.count == before {
		f.add(path, func() string { return "got " + kind(v) + ", want " + describe(s) })
	}
}

func (f *faults) checkObject(s *jsonschema.Schema, v map[string]any, path string) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			f.add(path+pointer(name), func() string { return "missing" })
		}
	}
	closed := s.AdditionalProperties != nil && describe(s.AdditionalProperties) == "false"
	for _, name := range sortedKeys(v) {
		if sub, ok := s.Properties[name]; ok {
			f.check(sub, v[name], path+pointer(name))
			continue
		}
		switch {
		case s.AdditionalProperties == nil || len(s.PatternProperties) > 0:
		case closed:
			f.add(path+pointer(name), func() string {
				return "unknown, want one of " + fit(strings.Join(sortedKeys(s.Properties), ", "), shownPath)
			})
		default:
			f.check(s.AdditionalProperties, v[name], path+pointer(name))
		}
	}
}

// matches reports whether v matches s. A schema that cannot be resolved alone
// matches: then the fault is named at the value around it.
func (f *faults) matches(s *jsonschema.Schema, v any) bool {
	rs := f.resolve(s)
	return rs == nil || rs.Validate(v) == nil
}

func (f *faults) resolve(s *jsonschema.Schema) *jsonschema.Resolved {
	rs, ok := f.resolved[s]
	if !ok {
		rs, _ = s.CloneSchemas().Resolve(nil)
		f.resolved[s] = rs
	}
	return rs
}

// describe returns a schema in short: its JSON without the words for people.
func describe(s *jsonschema.Schema) string {
	short := *s
	short.Title, short.Description, short.Comment, short.Examples, short.Default = "", "", "", nil, nil
	data, err := encode(&short)
	if err != nil {
		return "its schema"
	}
	return fit(tidy(string(data)), 2*shownPath)
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

// pointer returns name as one step of a JSON Pointer.
func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
