// Package survey looks at a workspace the way a newcomer would: which folders are repos, and what a repo
// holds. It reads, follows no links, and stays within fixed limits.
//
// Nothing here is safe for concurrent use.
package survey

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// ManifestPath is where the manifest of a repo is by convention.
const ManifestPath = "docs/agent/manifest.yaml"

// Report says what a repo holds. Paths are relative to the repo; the evidence is "" where a thing was not
// found, else the path or the sentence that shows it.
type Report struct {
	Docs, Mkdocs, ADR, Intents string            // evidence
	Roots                      map[string]string // folder by type: docs, adr, intents, context
	Entrypoints                []string          // files to read first, best first
	Notes                      []string          // what a person should look at
}

// Look finds out what a repo holds.
func Look(f *Folder) Report {
	r := Report{Roots: make(map[string]string)}
	docs := r.mkdocs(f)
	r.docs(f, docs)
	r.adr(f)
	r.intents(f)
	if _, ok := f.Markdown("docs/context"); ok {
		r.Roots["context"] = "docs/context"
	}
	r.entrypoints(f)
	return r
}

// mkdocs looks for the configuration of a MkDocs site, and gives the folder of its documents.
func (r *Report) mkdocs(f *Folder) (docsDir string) {
	docsDir = "docs"
	var found []string
	for _, name := range []string{"mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "properdocs.yaml"} {
		if f.IsFile(name) {
			found = append(found, name)
		}
	}
	if len(found) > 1 {
		r.Notes = append(r.Notes, "there are several MkDocs configurations, tools differ in which they take: "+strings.Join(found, ", "))
	}
	for _, name := range found {
		data, _ := f.Read(name)
		root, err := yamldoc.Parse(data, &yamldoc.Options{Lenient: true, MaxBytes: maxFile})
		if err != nil || root.Kind != yamldoc.MappingNode || value(root, "site_name") == nil && value(root, "INHERIT") == nil {
			r.Notes = append(r.Notes, name+" is no MkDocs configuration: it has neither site_name nor INHERIT, or cannot be read")
			continue
		}
		r.Mkdocs = name
		if dir := text(value(root, "docs_dir")); dir != "" {
			if dir = path.Clean(dir); rootfs.Check(dir) == nil {
				return dir
			}
			r.Notes = append(r.Notes, name+": docs_dir is no folder of the repo")
		}
		return docsDir
	}
	return docsDir
}

// value gives the value of a key, nil if there is none.
func value(n *yamldoc.Node, key string) *yamldoc.Node {
	if n == nil || n.Kind != yamldoc.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yamldoc.Node) string {
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return ""
	}
	return n.Value
}

func (r *Report) docs(f *Folder, dir string) {
	if index, ok := docsIndex(f, dir); ok {
		r.Docs = index
	} else if page, ok := f.Markdown(dir); ok {
		r.Docs = page
	}
	if r.Docs != "" {
		r.Roots["docs"] = dir
	}
}

func docsIndex(f *Folder, dir string) (string, bool) {
	for _, name := range []string{"index.md", "README.md"} {
		if p, ok := f.FindFold(dir + "/" + name); ok {
			return p, true
		}
	}
	return "", false
}

var numbered = regexp.MustCompile(`^[0-9]+[-_]`)

// adr looks for a folder with at least one decision record: where the tools' own files point, else in the
// usual places.
func (r *Report) adr(f *Folder) {
	for _, dir := range adrFolders(f) {
		records, withNumber := 0, 0
		for _, info := range f.List(dir) {
			name := strings.ToLower(path.Base(info.Path))
			stem := strings.TrimSuffix(name, ".md")
			if info.Err != nil || !info.Mode.IsRegular() || stem == name || stem == "index" || stem == "readme" || strings.Contains(stem, "template") {
				continue
			}
			records++
			if numbered.MatchString(name) {
				withNumber++
			}
		}
		if records > 0 {
			r.ADR = fmt.Sprintf("%s, %d found, %d numbered", dir, records, withNumber)
			r.Roots["adr"] = dir
			return
		}
	}
}

func adrFolders(f *Folder) []string {
	var dirs []string
	if data, ok := f.Read(".adr-dir"); ok {
		dirs = append(dirs, folder(string(data)))
	}
	if data, ok := f.Read(".log4brains.yml"); ok {
		if root, err := yamldoc.Parse(data, &yamldoc.Options{Lenient: true, MaxBytes: maxFile}); err == nil {
			dirs = append(dirs, folder(text(value(value(root, "project"), "adrFolder"))))
		}
	}
	dirs = append(dirs, "docs/adr", "docs/adrs", "docs/decisions", "docs/architecture/decisions",
		"docs/architecture-decisions", "doc/adr", "doc/adrs", "adr", "adrs")
	usable := dirs[:0]
	for _, dir := range dirs {
		if rootfs.Check(dir) == nil {
			usable = append(usable, dir)
		}
	}
	return usable
}

// folder cleans a path that a tool's own file gives.
func folder(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return path.Clean(strings.TrimSpace(s))
}

func (r *Report) intents(f *Folder) {
	for _, dir := range []string{"docs/intents", "intents", "openspec"} {
		if page, ok := f.Markdown(dir); ok {
			r.Intents = page
			r.Roots["intents"] = dir
			return
		}
	}
}

// entrypoints collects the files that a reader should start with, as far as they are there.
func (r *Report) entrypoints(f *Folder) {
	add := func(p string, ok bool) bool {
		if ok {
			r.Entrypoints = append(r.Entrypoints, p)
		}
		return ok
	}
	add(f.FindFold("docs/agent/start-here.md"))
	add(f.FindFold("AGENTS.md"))
	for _, name := range []string{"README.md", "README.rst", "README.txt", "README"} {
		if add(f.FindFold(name)) {
			break
		}
	}
	docs := r.Roots["docs"]
	if docs == "" {
		docs = "docs"
	}
	add(docsIndex(f, docs))
	for _, name := range []string{"capabilities", "workflows", "contracts"} {
		add(f.FindFold("docs/context/" + name + ".md"))
	}
	if adr := r.Roots["adr"]; adr != "" {
		add(f.FindFold(adr + "/index.md"))
	}
	add(f.FindFold("llms.txt"))
	add(r.Mkdocs, r.Mkdocs != "")
}
