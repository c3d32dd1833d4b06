package connections_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/vault"
)

// asServer makes the test program behave as an MCP server of the given kind.
const asServer = "CONNECTIONS_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		os.Exit(serveAs(kind))
	}
	if dir := os.Getenv(asDesk); dir != "" {
		if err := serveDesk(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startsFile names a file to which a server adds a byte when it starts.
const startsFile = "CONNECTIONS_TEST_STARTS"

// serveAs is a server to be registered.
func serveAs(kind string) int {
	if path := os.Getenv(startsFile); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 1
		}
		_, err = f.WriteString(".")
		if errors.Join(err, f.Close()) != nil {
			return 1
		}
	}
	switch kind {
	case "silent":
		time.Sleep(time.Hour)
	case "dies":
		fmt.Fprintln(os.Stderr, "no token for you:", os.Getenv("NOTES_TOKEN"))
		return 3
	case "tells":
		return tell()
	case "garbage":
		fmt.Println("]]] hello")
		return 0
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.2.3"}, nil)
	tools := []string{"read_note", "write_note"}
	if kind == "changed" {
		tools = append(tools, "send_mail")
	}
	for _, name := range tools {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, struct{}, error) {
			return nil, struct{}{}, nil
		})
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// tell writes what NOTES_SECRET has to stderr as a program does that uses it, split
// in ways that cannot be seen, and ends.
func tell() int {
	value := os.Getenv("NOTES_SECRET")
	var headers map[string]string
	if json.Unmarshal([]byte(value), &headers) == nil {
		value = headers["Authorization"]
	}
	value = strings.TrimPrefix(value, "Bearer ")
	fmt.Fprintln(os.Stderr, "API token is invalid:", value, value[:4]+"\u200b"+value[4:], value[:4]+"\x1b"+value[4:])
	fmt.Fprintf(os.Stderr, "%X %q\n", value, value)
	return 3
}

// A desk is a vault with a store of approvals, and what serves them.
type desk struct {
	tb    testing.TB
	dir   string
	vault *vault.Vault
	store *token.Store
	opts  connections.Options
	by    mcpkit.Approver
	env   map[string]string // in place of the environment

	profileName string // "" for the default one
	logs        *logbook
}

func newDesk(tb testing.TB) *desk {
	tb.Helper()
	d := &desk{tb: tb, dir: tb.TempDir(), env: map[string]string{}, logs: new(logbook)}
	key := filepath.Join(tb.TempDir(), "key")
	if err := vault.MakeKeyFile(key); err != nil {
		tb.Fatal(err)
	}
	var err error
	if d.vault, err = vault.Create(tb.Context(), filepath.Join(d.dir, "vault"), vault.KeyFile(key)); err != nil {
		tb.Fatal(err)
	}
	if d.store, err = token.Open(filepath.Join(d.dir, "tokens"), &token.Options{Logger: d.logs.logger()}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		d.vault.Close()
		d.store.Close()
	})
	d.opts.Environment = func(name string) (string, string, bool) {
		value, ok := d.env[name]
		return value, "env", ok
	}
	return d
}

func (d *desk) connections(tb testing.TB) *connections.Store {
	tb.Helper()
	store, err := connections.New(d.vault, cmp.Or(d.profileName, vault.Default), &d.opts)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func (d *desk) server(tb testing.TB) *mcp.Server {
	tb.Helper()
	return d.serverOf(tb, d.connections(tb))
}

// serverOf is server for a store that a test has to itself.
func (d *desk) serverOf(tb testing.TB, store *connections.Store) *mcp.Server {
	tb.Helper()
	approvals := &mcpkit.Approvals{Store: d.store, Project: "connections/" + cmp.Or(d.profileName, vault.Default), By: d.by, Command: "connections approve"}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"},
		&mcpkit.Options{Logger: d.logs.logger()}, connections.Feature(store, approvals))
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

// profile is the profile that the store uses.
func (d *desk) profile(tb testing.TB) *vault.Profile {
	tb.Helper()
	p, err := d.vault.Profile(vault.Default)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// A logbook is what a server logs.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// absent fails if a canary is in any file or log of the desk.
func (d *desk) absent(tb testing.TB, canaries ...string) {
	tb.Helper()
	noFileHas(tb, d.dir, canaries...)
	d.logs.mu.Lock()
	defer d.logs.mu.Unlock()
	if d.logs.text.Len() == 0 {
		tb.Error("nothing was logged")
	}
	without(tb, d.logs.text.String(), canaries...)
}

// noFileHas searches all files below a directory.
func noFileHas(tb testing.TB, dir string, canaries ...string) {
	tb.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, canary := range canaries {
			if bytes.Contains(data, []byte(canary)) {
				tb.Errorf("%s holds %q", path, canary)
			}
		}
		return err
	})
	if err != nil || files < 3 {
		tb.Fatalf("searched %d files: %v", files, err)
	}
}

// A reply has the fields of all replies.
type reply struct {
	CommandStatus, ProposalToken, ApprovalCommand string

	Proposal struct {
		Name, Transport, URL, Target                     string
		Argv, EnvNames, Refs, Unresolved, Notes, Secrets []string
	}
	Servers []struct{ Warnings []string }
	Server  json.RawMessage
	Probe   probed
	probed
	Items      []connections.Connection
	NextCursor string
	Error      struct {
		Code, Message string
		Details       json.RawMessage
	}
}

type probed struct {
	Name, Version, CatalogDigest string
	Tools                        json.RawMessage
	CatalogChanged               bool
}

func call(tb testing.TB, p *wiretest.Peer, tool string, args any) (reply, string) {
	tb.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	text := p.Call(tb, tool, string(raw)).JSON()
	var r reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		tb.Fatalf("%s %.300s: %v\n%s", tool, raw, err, text)
	}
	return r, text
}

type m = map[string]any

func prepare(fields m) m {
	fields["op"] = "prepare"
	return m{"request": fields}
}

func apply(tok string) m { return m{"request": m{"op": "apply", "proposalToken": tok}} }

// self is the test program as a server of that kind, as a JSON configuration.
func self(tb testing.TB, kind string, env m) string {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	all := m{asServer: kind}
	maps.Copy(all, env)
	raw, err := json.Marshal(m{"mcpServers": m{"notes": m{"command": exe, "args": []string{"--serve"}, "env": all}}})
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

func without(tb testing.TB, text string, canaries ...string) {
	tb.Helper()
	for _, canary := range canaries {
		if strings.Contains(text, canary) {
			tb.Errorf("%q is in %s", canary, text)
		}
	}
}
