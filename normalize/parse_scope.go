package normalize

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// applyState applies what a document says about its servers outside of their
// entries: lists of allowed and excluded servers, tools and approvals.
func (r *reader) applyState(root *syntax.Node, d *dialect, w wrapper, servers []Server) {
	switch d.id {
	case GeminiCLI, GeminiExtension, Qwen:
		r.serverFilter(root.Get("mcp"), servers)
	case ClaudeCode, ClaudeSettings:
		r.disabledLists(root, w, servers)
	case AmazonQ, Kiro:
		r.agentTools(root, servers)
	case OpenCode, Kilo:
		r.toolSwitches(root.Get("tools"), servers)
	}
}

func texts(n *syntax.Node) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, item := range n.Items {
		if item.Kind == syntax.String {
			out = append(out, item.Text)
		}
	}
	return out
}

// serverFilter applies {allowed, excluded}: excluded wins, and a server that a
// list of allowed ones leaves out is off.
func (r *reader) serverFilter(filter *syntax.Node, servers []Server) {
	allowed, excluded := texts(filter.Get("allowed")), texts(filter.Get("excluded"))
	for i := range servers {
		s := &servers[i]
		if matchesAny(excluded, s.Name) {
			s.Disabled = true
		}
		if len(allowed) > 0 && !matchesAny(allowed, s.Name) && s.Err == nil {
			s.Disabled = true
			addNote(s, NotInAllowList)
		}
	}
}

// matchesAny tells whether a name is in a list, whose items may be globs.
func matchesAny(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return pattern == name || ok && err == nil
	})
}

// disabledLists applies the lists of Claude Code's files.
func (r *reader) disabledLists(root *syntax.Node, w wrapper, servers []Server) {
	holder := root
	if project, ok := strings.CutPrefix(w.scope, "local:"); ok {
		holder = root.Get("projects").Get(project)
	}
	off := texts(holder.Get("disabledMcpServers"))
	if w.scope == "" || w.scope == "user" {
		r.mark("disabledMcpServers", "disabledMcpjsonServers", "enabledMcpjsonServers")
		off = append(off, texts(root.Get("disabledMcpjsonServers"))...)
	}
	for i := range servers {
		if slices.Contains(off, servers[i].Name) {
			servers[i].Disabled = true
		}
	}
}

// mark remembers keys of the document as read for the servers.
func (r *reader) mark(keys ...string) {
	for _, key := range keys {
		r.readKeys[key] = true
	}
}

// agentTools applies an agent file's tools, written @server/tool, or @server
// for all of a server's.
func (r *reader) agentTools(root *syntax.Node, servers []Server) {
	r.mark("tools", "allowedTools")
	seen := texts(root.Get("tools"))
	approved := texts(root.Get("allowedTools"))
	for i := range servers {
		s := &servers[i]
		prefix := "@" + s.Name
		if !slices.Contains(seen, "*") && !slices.Contains(seen, prefix) {
			if only := toolsOf(seen, prefix); len(only) > 0 {
				s.AllowTools = only
			}
		}
		if slices.Contains(approved, prefix) {
			s.AutoApprove = []string{"*"}
		} else {
			s.AutoApprove = append(s.AutoApprove, toolsOf(approved, prefix)...)
		}
		if len(s.AutoApprove) > 0 && s.Err == nil {
			addNote(s, AutoApproveImported)
		}
	}
}

func toolsOf(list []string, prefix string) []string {
	var out []string
	for _, item := range list {
		if tool, ok := strings.CutPrefix(item, prefix+"/"); ok && tool != "" {
			out = append(out, tool)
		}
	}
	return out
}

// toolSwitches applies {"server_tool": false}, in which the tool may be a glob.
func (r *reader) toolSwitches(switches *syntax.Node, servers []Server) {
	if !switches.IsObject() {
		return
	}
	r.mark("tools")
	for _, m := range switches.Members {
		if !m.Value.False() {
			continue
		}
		for i := range servers {
			s := &servers[i]
			tool, ok := strings.CutPrefix(m.Name, s.Name+"_")
			if m.Name == s.Name+"*" {
				tool, ok = "*", true
			}
			if !ok || tool == "" {
				continue
			}
			s.DenyTools = append(s.DenyTools, tool)
			if tool == "*" {
				addNote(s, NoToolsEnabled)
			}
		}
	}
}
