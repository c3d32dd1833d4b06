package normalize

import (
	"runtime"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// mcpbManifest reads the manifest of a bundle.
func (r *reader) mcpbManifest(root *syntax.Node) {
	if config := root.Get("user_config"); config != nil {
		for _, m := range config.Members {
			r.declare(userConfig(m.Name, m.Value))
		}
	}
	name := root.Get("name")
	at := place{offset: root.Offset, named: name.Scalar()}
	if at.named {
		at.name = name.Text
	}
	e := &entry{draft: r.draft(at, dialectOf(MCPB))}
	e.s.Transport = Stdio
	server := root.Get("server")
	e.written = server
	if config := server.Get("mcp_config"); config.IsObject() {
		e.mcpConfig(config)
		e.mcpConfig(config.Get("platform_overrides").Get(r.platform()))
	} else if text(server, "type") == "uv" && text(server, "entry_point") != "" {
		e.bundleLine("uv", "run", "--directory", "${__dirname}", text(server, "entry_point"))
	}
	if e.command.text == "" {
		e.fail(NotRunnable, "bundle_without_command")
	}
	e.finish()
}

// platform is the name that bundles give to the target.
func (r *reader) platform() string {
	switch goos := r.opts.GOOS; goos {
	case "":
		return r.platformOf(runtime.GOOS)
	default:
		return r.platformOf(goos)
	}
}

func (r *reader) platformOf(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

// mcpConfig reads a command, its arguments and its environment. Called again
// with the overrides of a platform, it replaces command and arguments and adds
// variables.
func (e *entry) mcpConfig(n *syntax.Node) {
	if command := n.Get("command"); command.Scalar() {
		e.command = scalar(command)
	}
	if args := n.Get("args"); args != nil {
		e.args = nil
		e.takeArgs(args)
	}
	if env := n.Get("env"); env != nil {
		e.takeEnvNode(&hit{role: roleEnv, name: "env", node: env, off: env.Offset})
	}
}

func (e *draft) bundleLine(command string, args ...string) {
	e.command = val{text: command, off: e.off}
	for _, arg := range args {
		e.args = append(e.args, val{text: arg, off: e.off})
	}
}

// userConfig reads a prompt of a bundle.
func userConfig(id string, n *syntax.Node) Input {
	in := Input{
		ID: id, Kind: text(n, "type"), Description: text(n, "description"),
		Secret: isTrue(n, "sensitive"), Multiple: isTrue(n, "multiple"),
	}
	if in.Description == "" {
		in.Description = text(n, "title")
	}
	switch value := n.Get("default"); {
	case value.Scalar():
		in.Default = []string{value.Text}
	case value != nil && value.Kind == syntax.Array:
		in.Default = []string{}
		for _, item := range value.Items {
			if item.Scalar() {
				in.Default = append(in.Default, item.Text)
			}
		}
	}
	return in
}
