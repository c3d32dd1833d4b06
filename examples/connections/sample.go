package main

import (
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

//go:embed sample
var sample embed.FS

// sampleCommand makes this program the server that the demo registers: that of a
// small workspace. It is for the demo and not for people.
const sampleCommand = "sample-server"

// What the sample server reads from its environment.
const (
	sampleRoot  = "SAMPLE_WORKSPACE"
	sampleToken = "SAMPLE_TOKEN"
)

// serveSample serves the workspace that the environment names, to who has a token.
func serveSample(ctx context.Context) error {
	root, secret := os.Getenv(sampleRoot), os.Getenv(sampleToken)
	if root == "" || secret == "" {
		return errors.New("the sample server needs " + sampleRoot + " and " + sampleToken)
	}
	server, err := newSampleServer(root)
	if err != nil {
		return err
	}
	return cli.Serve(ctx, server)
}

// newSampleServer is a server like that of the workspace example, with fewer words.
func newSampleServer(root string) (*mcp.Server, error) {
	reg, err := registry.Load(filepath.Join(root, "workspace-registry.yaml"), nil)
	if err != nil {
		return nil, err
	}
	return mcpkit.NewServer(&mcp.Implementation{Name: "sample-workspace", Version: cli.Version()}, nil,
		discovery.Feature(resolve.New(resolve.Static(reg), nil), nil))
}

// copySample writes the files of the sample workspace into dir.
func copySample(dir string) error {
	files, err := fs.Sub(sample, "sample")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, files)
}

// serveSampleHTTP serves the workspace in root over HTTP, to who sends the secret,
// until stop is called.
func serveSampleHTTP(ctx context.Context, root, secret string) (url string, stop func() error, err error) {
	server, err := newSampleServer(root)
	if err != nil {
		return "", nil, err
	}
	handler, err := mcpkit.NewHTTPHandler(server, nil)
	if err != nil {
		return "", nil, err
	}
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+secret)) != 1 {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	web := &http.Server{Handler: guarded} //nolint:gosec // it talks to this process alone
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	return "http://" + listener.Addr().String() + "/mcp", func() error {
		err := web.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return errors.Join(err, handler.Shutdown(context.WithoutCancel(ctx)))
	}, nil
}
