package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
	"github.com/mcpcontract/mcpcontract/examples/internal/transcript"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/vault"
)

// args are the arguments of a tool.
type args = map[string]any

// pasted is what the person of the demo has found somewhere: a server behind a
// Windows wrapper, with a secret in clear, a variable and one that nobody has set,
// and a second one without a type.
const pasted = `{
  "mcpServers": {
    "handbook": {
      "command": "cmd",
      "args": ["/c", %q, "sample-server"],
      "env": { "SAMPLE_TOKEN": %q, "SAMPLE_WORKSPACE": "${SAMPLE_WORKSPACE}", "SAMPLE_THEME": "${SAMPLE_THEME}" },
    },
    "handbook-web": {
      "url": %q,
      "headers": { "Authorization": "Bearer %s" }
    }
  }
}`

// sampleDemo is what the demo works on.
type sampleDemo struct {
	config
	w        io.Writer
	paste    string
	captured map[string]string // the environment of the first run
	token    *transcript.Held
}

// demo registers a sample server with two built-in clients, starts again, and
// looks for the secret in the vault.
func demo(ctx context.Context, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "connections-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root := filepath.Join(dir, "workspace")
	if err := copySample(root); err != nil {
		return err
	}
	secret := strings.ToLower("demo-" + rand.Text())
	url, stop, err := serveSampleHTTP(ctx, root, secret)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	d := &sampleDemo{
		config:   config{vault: filepath.Join(dir, "vault"), profile: vault.Default, keyFile: filepath.Join(dir, "key")},
		w:        w,
		paste:    fmt.Sprintf(pasted, exe, secret, url, secret),
		captured: map[string]string{sampleRoot: root},
		token:    &transcript.Held{Member: "proposalToken"},
	}
	return d.play(ctx, secret)
}

// play shows all of it in the order in which it would happen.
func (d *sampleDemo) play(ctx context.Context, secret string) error {
	fmt.Fprintf(d.w, "What is pasted, with a secret in clear:\n\n%s\n\n", indent(d.paste))
	fmt.Fprint(d.w, "It is served to two clients. Digests are cut, everything else is what went over the wire, but for the text\n"+
		"itself, which is not shown again.\n\n")
	d.w = &shortened{d.w, d.paste}
	if err := initialize(ctx, &d.config, streams{out: d.w}, nil); err != nil {
		return err
	}
	structured := peer.Identity{Name: "claude-code", Version: "2.1.332", PerRequest: true}
	text := peer.Identity{Name: "Zed", Version: "0.210.0"}
	fmt.Fprint(d.w, "\n")
	if err := d.serve(ctx, structured, d.captured, d.register()); err != nil {
		return err
	}
	fmt.Fprint(d.w, "\n")
	if err := d.serve(ctx, text, d.captured, d.registerWeb()); err != nil {
		return err
	}
	fmt.Fprint(d.w, "\n==== The server starts again, and the variable is not set any more.\n\n")
	if err := d.serve(ctx, structured, nil, d.afterwards()); err != nil {
		return err
	}
	files, hits, err := search(d.vault, secret)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.w, "\n==== The folder of the vault is searched for the secret: %d files, %d hits.\n", files, hits)
	if hits > 0 {
		return errors.New("the secret is in the folder of the vault")
	}
	return nil
}

// register goes from the paste to the first connection.
func (d *sampleDemo) register() []transcript.Step {
	return []transcript.Step{
		{Title: "What the text says: repaired, and without the secret", Tool: "normalize_config", Args: args{"text": d.paste}},
		{Title: "Two servers: which one?", Tool: "register_server", Args: args{"request": args{"op": "prepare", "text": d.paste}}},
		{Title: "What would be run and read; nothing is, yet", Tool: "register_server", Args: args{"request": args{"op": "prepare", "text": d.paste, "name": "handbook"}}, Hold: d.token},
		{Title: "A person agreed: it is run once, and stored because it works", Tool: "register_server", Args: d.apply()},
		{Title: "The same token again: the same receipt, and nothing is run", Tool: "register_server", Args: d.apply()},
	}
}

// registerWeb registers the second server of the same text, and looks at both.
func (d *sampleDemo) registerWeb() []transcript.Step {
	return []transcript.Step{
		{Title: "The other server, whose type was missing", Tool: "register_server", Args: args{"request": args{"op": "prepare", "text": d.paste, "name": "handbook-web"}}, Hold: d.token},
		{Title: "A person agreed", Tool: "register_server", Args: d.apply()},
		{Title: "What there is", Tool: "list_servers"},
		{Title: "For another client, with references", Tool: "export_config", Args: args{"dialect": "vscode"}},
		{Title: "Off", Tool: "set_enabled", Args: args{"name": "handbook-web", "enabled": false}},
	}
}

// afterwards is what is left after a restart.
func (d *sampleDemo) afterwards() []transcript.Step {
	return []transcript.Step{
		{Title: "All is there", Tool: "list_servers"},
		{Title: "It still works, and has the same tools", Tool: "probe_server", Args: args{"name": "handbook"}},
		{Title: "Remove the other one", Tool: "remove_server", Args: args{"request": args{"op": "prepare", "name": "handbook-web"}}, Hold: d.token},
		{Title: "A person agreed", Tool: "remove_server", Args: d.apply()},
		{Title: "An error: it is gone", Tool: "probe_server", Args: args{"name": "handbook-web"}},
	}
}

// serve opens the vault, plays the steps of one client, and closes it.
func (d *sampleDemo) serve(ctx context.Context, id peer.Identity, env map[string]string, steps []transcript.Step) (err error) {
	desk, err := d.open(ctx, &connections.Options{Environment: func(name string) (value, origin string, ok bool) {
		value, ok = env[name]
		return value, "env", ok
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, desk.Close()) }()
	server, err := desk.server(&d.config)
	if err != nil {
		return err
	}
	return transcript.Play(ctx, d.w, server, id, steps)
}

// apply is the request with the token that was answered last, which is not known
// when the steps are written down.
func (d *sampleDemo) apply() args {
	return args{"request": args{"op": "apply", "proposalToken": d.token}}
}

// shortened writes something short in place of a text in JSON.
type shortened struct {
	w    io.Writer
	text string
}

// Write gets whole lines, so that a text is never cut in two.
func (s *shortened) Write(p []byte) (int, error) {
	long, err := json.Marshal(s.text)
	if err != nil {
		return 0, err
	}
	if _, err := s.w.Write(bytes.ReplaceAll(p, long, []byte(`"(the text above)"`))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// indent sets a text apart from what is said about it.
func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

// search counts the files below dir, and those that hold text.
func search(dir, text string) (files, hits int, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		if bytes.Contains(data, []byte(text)) {
			hits++
		}
		return err
	})
	return files, hits, err
}
