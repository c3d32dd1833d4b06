package result_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type addIn struct {
	A int `json:"a"`
	B int `json:"b"`
}

type addOut struct {
	Sum int `json:"sum"`
}

func add(_ context.Context, _ *mcp.CallToolRequest, in addIn) (*mcp.CallToolResult, addOut, error) {
	if in.A > 100 {
		return nil, addOut{}, &result.Error{Code: "number_too_large", Message: "a is larger than 100: use a smaller number"}
	}
	return nil, addOut{Sum: in.A + in.B}, nil
}

// One line makes every tool of a server answer in the shape that its caller
// reads.
func ExampleInstall() {
	s := mcp.NewServer(&mcp.Implementation{Name: "adder", Version: "v1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add"}, add)
	result.Install(s, nil)

	fmt.Println(call(s, "codex", "add", `{"a":1,"b":2}`))
	fmt.Println(call(s, "Zed", "add", `{"a":1,"b":2}`))
	fmt.Println(call(s, "codex", "add", `{"a":101,"b":2}`))
	// Output:
	// {"content":[],"structuredContent":{"sum":3},"resultType":"complete"}
	// {"content":[{"type":"text","text":"{\"sum\":3}"}],"resultType":"complete"}
	// {"content":[{"type":"text","text":"{\"error\":{\"code\":\"number_too_large\",\"message\":\"a is larger than 100: use a smaller number\"}}"}],"isError":true,"resultType":"complete"}
}

// Middleware is for servers that want no further tool.
func ExampleMiddleware() {
	s := mcp.NewServer(&mcp.Implementation{Name: "adder", Version: "v1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add"}, add)
	s.AddReceivingMiddleware(result.Middleware(&result.Options{Override: result.Structured}))

	fmt.Println(call(s, "Zed", "add", `{"a":1,"b":2}`))
	// Output:
	// {"content":[],"structuredContent":{"sum":3},"resultType":"complete"}
}

// Any error type with a method ErrorCode will do, and wrapping does not hide it.
func ExampleError() {
	var err error = &result.Error{
		Code:    "file_missing",
		Message: `no file "tides.md": list the folder first`,
		Details: map[string]string{"path": "tides.md"},
		Err:     fs.ErrNotExist,
	}
	err = fmt.Errorf("reading chapter 3: %w", err)

	var e *result.Error
	fmt.Println(errors.As(err, &e), e.ErrorCode(), errors.Is(err, fs.ErrNotExist))
	// Output:
	// true file_missing true
}

// call plays a client of the given name that calls a tool.
func call(s *mcp.Server, client, tool, args string) string {
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: client}, nil)
	session, err := c.Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		log.Fatal(err)
	}
	res.Meta = nil // the server's identity
	data, err := json.Marshal(res)
	if err != nil {
		log.Fatal(err)
	}
	return string(data)
}
