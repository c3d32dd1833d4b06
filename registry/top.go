package registry

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

const (
	streamed     = "repos" // the field whose items are read one at a time
	registryKind = "workspace_registry"
	manifestKind = "repo_manifest"
	overlayKind  = "workspace_overlay"
	version      = "1.0"
)

func topFields() []string {
	return []string{"schema_version", "kind", "workspace_root", "include", "defaults", "repos", "generator", "$schema"}
}

// top is what the top of a document says.
type top struct {
	hasVersion, hasKind, hasRepos bool
	hasID                         bool     // of a manifest, even a faulty one
	hasManifestField              bool     // of a manifest: any that it can have
	overlay                       bool     // the file is an overlay
	newer                         bool     // a minor version that this package does not know
	foreign                       *finding // the document has a version that cannot be read
	workspaceRoot                 string
	rootMark                      tree.Mark
	extensions                    map[string]json.RawMessage
}

// read reads a file of a registry. What it says is judged later, with the other files.
func (r *reader) read(data []byte, format tree.Format) {
	r.loc, r.complete = tree.Read(data, format, tree.Handler{
		Stream: streamed, Member: r.member, Item: r.repo, Fault: r.fault,
	})
	r.sum = canon.Sum(data)
}

// repo reads one entry.
func (r *reader) repo(i int, n *tree.Node) bool {
	r.path.Push(streamed)
	r.path.PushItem(i)
	defer r.path.Pop()
	defer r.path.Pop()
	if i == maxRepos {
		r.reject(n.Mark, TooManyItems, "more than %d repos", maxRepos)
		return false
	}
	r.entries = append(r.entries, r.newEntry())
	e := &r.entries[i]
	r.entry(e, n, false)
	if !r.states(e, "repo_id") && !e.broken {
		r.path.Push("repo_id")
		r.reject(n.Mark, MissingField, "an entry needs a repo_id")
		r.path.Pop()
	}
	return !r.hopeless()
}

func (r *reader) member(n *tree.Node) bool {
	r.topMember(n)
	return !r.hopeless()
}

func (r *reader) topMember(n *tree.Node) {
	r.path.Push(n.Key)
	defer r.path.Pop()
	if n.Kind == tree.Null && n.Key != streamed && slices.Contains(topFields(), n.Key) {
		return // written down as absent
	}
	switch n.Key {
	case "schema_version":
		r.schemaVersion(n)
	case "kind":
		r.registryKind(n)
	case "workspace_root":
		r.readRoot(n)
	case "include":
		r.readIncludes(n)
	case "add", "extend", "remove":
		r.verb(n)
	case "defaults":
		r.entry(&r.defaults, n, true)
	case streamed:
		r.top.hasRepos = true
		if n.Kind != tree.List {
			r.reject(n.Mark, WrongType, "expected a list, found %s; write each repo as an item with a repo_id", describe(n))
		}
	case "generator", "$schema":
		r.text(n)
	default:
		if strings.HasPrefix(n.Key, "x-") {
			if r.top.extensions == nil {
				r.top.extensions = make(map[string]json.RawMessage)
			}
			r.top.extensions[strings.Clone(n.Key)] = r.extension(n)
			return
		}
		r.unknown(n, topFields(), r.names, "belongs to an entry of repos, or under defaults")
	}
}

// schemaVersion accepts 1.0 and later versions 1.x. A higher major version ends everything, as what its
// fields mean is not known.
func (r *reader) schemaVersion(n *tree.Node) {
	r.top.hasVersion = true
	if n.Kind == tree.Number {
		r.reject(n.Mark, SchemaVersion, "a version is text, since 1.10 is not 1.1; write %q", version)
		return
	}
	s, ok := r.text(n)
	if !ok {
		return
	}
	major, minor, dotted := strings.Cut(s, ".")
	n1, err1 := strconv.ParseUint(major, 10, 16)
	n2, err2 := strconv.ParseUint(minor, 10, 16)
	switch {
	case !dotted || err1 != nil || err2 != nil || s != fmt.Sprintf("%d.%d", n1, n2):
		r.reject(n.Mark, SchemaVersion, "%s is no version; write %q", quote(s), version)
	case n1 != 1:
		message := fmt.Sprintf("version %s cannot be read by this release, which reads 1.x", s)
		p := Problem{Code: SchemaVersion, Severity: Reject, Message: message, File: r.opts.File, Field: n.Key}
		r.top.foreign = &finding{Problem: p, mark: n.Mark, item: -1}
	case n2 > 0:
		r.top.newer = true
	}
}

// registryKind accepts an overlay where one can be.
func (r *reader) registryKind(n *tree.Node) {
	if n.Kind == tree.String && n.Text == overlayKind && r.included {
		r.top.hasKind, r.top.overlay = true, true
		return
	}
	r.kind(n, registryKind)
}

func (r *reader) kind(n *tree.Node, want string) {
	r.top.hasKind = true
	s, ok := r.text(n)
	if !ok || s == want {
		return
	}
	hint := "; write " + want
	switch s {
	case manifestKind:
		hint = ": this file describes one repo, a registry is needed here"
	case overlayKind:
		hint = ": this file changes a registry that includes it, a registry is needed here"
	case registryKind:
		hint = ": this file describes a workspace, the manifest of a repo is needed here"
	}
	r.reject(n.Mark, WrongKind, "kind is %s%s", quote(s), hint)
}

// readRoot reads workspace_root, which unlike all other paths may lead upwards.
func (r *reader) readRoot(n *tree.Node) {
	r.top.rootMark = n.Mark
	s, ok := r.text(n)
	if !ok {
		return
	}
	below := s
	for below == ".." || strings.HasPrefix(below, "../") {
		below = strings.TrimPrefix(strings.TrimPrefix(below, ".."), "/")
	}
	switch {
	case isWindows(s):
		r.reject(n.Mark, PathWindows, "%s is a Windows path; write it relative to this file, with forward slashes", quote(s))
		return
	case isAbsolute(s) && r.local:
	case isAbsolute(s):
		r.report(n.Mark, Nonportable, Warn, "%s is right on one machine only; write it relative to this file", quote(s))
	case s != path.Clean(s):
		r.reject(n.Mark, PathInvalid, "%s is not clean; write %s", quote(s), quote(path.Clean(s)))
		return
	case below != "" && below != ".":
		if err := rootfs.Check(below); err != nil {
			r.reject(n.Mark, PathInvalid, "%s %s", quote(s), reason(err))
			return
		}
	}
	r.top.workspaceRoot = strings.Clone(s)
}

// root gives the absolute path of the workspace.
func (r *reader) root() (string, error) {
	if isAbsolute(r.top.workspaceRoot) {
		return filepath.Clean(filepath.FromSlash(r.top.workspaceRoot)), nil
	}
	base, err := r.opts.base()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, filepath.FromSlash(r.top.workspaceRoot)), nil
}
