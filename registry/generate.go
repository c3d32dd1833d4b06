package registry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/schemagen/shape"
	"github.com/mcpcontract/mcpcontract/registry/internal/survey"
)

// Codes of [Generate]. All are of severity [Warn].
const (
	ScanIncomplete Code = "scan_incomplete" // a part of the workspace was not looked at
	IDClash        Code = "id_clash"        // the name of a folder was taken, the repo has a longer id
	LookTwice      Code = "look_twice"      // something in a repo that a person should decide
	ManifestFaulty Code = "manifest_faulty" // the manifest of a repo cannot be read, or not wholly
)

// Generate looks for the repos of a workspace and writes a registry of them: YAML, or JSON if there are more
// than 5,000. JSON starts with a brace, YAML never does. The text depends on nothing but the workspace and
// the options, and [Parse] reads it without a fault.
//
// A repo is a folder with a marker. Its id is made of its folder's name: bytes that an id cannot have become
// hyphens, and equal names are told apart by the folders above. What an entry says comes from listing
// folders of the repo, at most 2,000 entries four levels deep, and from small files: its manifest, its
// CODEOWNERS, its MkDocs configuration. The evidence for it is written beside it. Links are not followed.
//
// With [ScanOptions.File] the text is that of the file brought up to date, in its format, YAML or JSON. Entries
// are recognised by their path. A field is rewritten only if it still has the value that was generated, and
// is not listed under locked; one changed value is one changed line, but for that of the fingerprint. An entry
// with changes by hand gets the origin overridden, one without a fingerprint the origin manual, each only
// where it would else count as generated; those of origin manual are left alone. No entry is removed: where
// no repo was found there is a warning. The top of the file is not touched, so options for it have no effect.
// The result was read again: all entries state what they did, but for these changes. A file in a form that
// cannot be changed so is an error of code [NotSpliced].
//
// The problems say what was left out and what a person should look at; they have no position. The error is
// that of ctx, or an [*Error] if root or File cannot be read or the options hold an impossible value.
func Generate(ctx context.Context, root string, opts *ScanOptions) ([]byte, []Problem, error) {
	o := opts.withDefaults()
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	dir, err := rootfs.Open(root, nil)
	if err != nil {
		return nil, nil, fail("", Unreadable, err, err.Error())
	}
	defer dir.Close() //nolint:errcheck // nothing is written
	old, err := readExisting(o.File)
	if err != nil {
		return nil, nil, err
	}
	g := generator{opts: o}
	search := &survey.Search{Root: dir, Markers: o.Markers, Depth: o.Depth, Entries: o.Entries, Progress: o.Progress}
	if err := search.Run(ctx, g.repo); err != nil {
		return nil, nil, err
	}
	for _, s := range search.Skipped {
		g.warn("", ScanIncomplete, "not searched: %s", s)
	}
	if search.More > 0 {
		g.warn("", ScanIncomplete, "%d more folders were not searched", search.More)
	}
	g.name(filepath.Base(dir.Dir()), old)
	var data []byte
	if old == nil {
		data, err = write(g.file())
	} else {
		data, err = old.refresh(&g)
	}
	if err != nil {
		return nil, nil, err
	}
	g.close()
	return data, g.problems, nil
}

type generator struct {
	opts     ScanOptions
	repos    []shape.Repo
	problems []Problem
	dropped  int
}

func (g *generator) warn(repo string, code Code, format string, args ...any) {
	if len(g.problems) == maxProblems {
		g.dropped++
		return
	}
	g.problems = append(g.problems, Problem{Code: code, Severity: Warn, Message: fmt.Sprintf(format, args...), RepoID: repo})
}

// repo describes the repo at a path. Until all are known its path is its id.
func (g *generator) repo(p string, f *survey.Folder) {
	report := survey.Look(f)
	e := shape.Repo{RepoID: p, Path: p, Evidence: make(map[string]string), EntrypointStatus: make(map[string]string)}
	e.Signals = &shape.Signals{
		HasDocs: report.Docs != "", HasMkdocs: report.Mkdocs != "", HasADR: report.ADR != "", HasIntents: report.Intents != "",
	}
	for name, found := range map[string]string{
		"has_docs": report.Docs, "has_mkdocs": report.Mkdocs, "has_adr": report.ADR, "has_intents": report.Intents,
	} {
		if found != "" {
			e.Evidence[name] = tidy(found)
		}
	}
	e.ResourceRoots = make(map[string][]string)
	for kind, dir := range report.Roots {
		e.ResourceRoots[kind] = []string{dir}
	}
	if owner, file := survey.Owner(f); owner != "" {
		e.Owner, e.Evidence["owner"] = tidy(owner), file
	}
	g.manifest(&e, f)
	e.Entrypoints = appendNew(e.Entrypoints, report.Entrypoints...)
	e.Entrypoints = slices.DeleteFunc(e.Entrypoints, func(p string) bool { return rootfs.Check(p) != nil })
	for _, note := range report.Notes {
		g.warn(p, LookTwice, "%s", note)
	}
	for _, dir := range f.Incomplete {
		g.warn(p, ScanIncomplete, "folder %s could not be listed, or has too many entries", quote(dir))
	}
	g.repos = append(g.repos, e)
}

// manifest adds what the repo's own manifest says: paths that are not there are declared as missing, so that
// nobody looks for them.
func (g *generator) manifest(e *shape.Repo, f *survey.Folder) {
	data, ok := f.Read(survey.ManifestPath)
	if !ok {
		return
	}
	m, problems, err := ParseManifest(data, &ParseOptions{File: survey.ManifestPath})
	if err != nil {
		g.warn(e.Path, ManifestFaulty, "%v", err)
		return
	}
	for _, p := range problems {
		if p.Severity == Reject {
			g.warn(e.Path, ManifestFaulty, "%v", p)
		}
	}
	e.ManifestSource, e.ManifestPath = string(SourceRepo), survey.ManifestPath
	e.RepoClass = m.Class
	if m.Owner != "" {
		e.Owner, e.Evidence["owner"] = m.Owner, survey.ManifestPath
	}
	for _, p := range m.Entrypoints {
		e.Entrypoints = append(e.Entrypoints, p)
		g.status(e, p, f.IsFile(p), f)
	}
	for _, c := range m.Components {
		for _, root := range c.Roots {
			for _, p := range root.Paths {
				g.status(e, p, f.IsDir(p), f)
			}
		}
		e.Components = append(e.Components, shapeComponent(c))
	}
	for _, root := range m.ResourceRoots {
		e.ResourceRoots[root.Type] = root.Paths
		for _, p := range root.Paths {
			g.status(e, p, f.IsDir(p), f)
		}
	}
	e.Views = m.Views
	for _, p := range slices.Sorted(maps.Values(m.Views)) {
		g.status(e, p, f.IsFile(p), f)
	}
}

// status records that a path a manifest declares cannot be used.
func (g *generator) status(e *shape.Repo, p string, usable bool, f *survey.Folder) {
	if usable {
		return
	}
	if !f.Sees(path.Dir(p)) {
		return // too deep to tell
	}
	status := StatusMissing
	if _, there := f.Find(p); there {
		status = StatusNotAFile
	}
	e.EntrypointStatus[p] = string(status)
}

// name gives the repos their ids, and puts the ids into the problems.
func (g *generator) name(workspace string, old *existing) {
	paths := make([]string, len(g.repos))
	for i, r := range g.repos {
		paths[i] = r.Path
	}
	ids := makeIDs(paths, workspace, old)
	for i := range g.problems {
		g.problems[i].RepoID = ids[g.problems[i].RepoID]
	}
	for i := range g.repos {
		r := &g.repos[i]
		r.RepoID = ids[r.Path]
		if old != nil && old.byPath[r.Path].Repo != nil {
			continue
		}
		if plain := idOf(path.Base(r.Path)); r.Path != "." && plain != r.RepoID {
			g.warn(r.RepoID, IDClash, "the name %s of folder %s is taken, the repo is called %s", quote(plain), quote(r.Path), r.RepoID)
		}
	}
	for i := range g.repos {
		r := &g.repos[i]
		if r.Path == r.RepoID {
			r.Path = "" // the default
		}
		if *r.Signals == (shape.Signals{}) {
			r.Signals = nil
		}
	}
	slices.SortFunc(g.repos, func(a, b shape.Repo) int { return cmp.Compare(a.RepoID, b.RepoID) })
}

// close tells how many problems are not listed.
func (g *generator) close() {
	if g.dropped > 0 {
		g.problems = append(g.problems, Problem{
			Code: TooManyProblems, Severity: Warn, Message: fmt.Sprintf("%d more problems are not listed", g.dropped),
		})
	}
}

// check refuses options with which no registry could be loaded.
func (o *ScanOptions) check() error {
	for _, m := range o.Markers {
		if err := rootfs.Check(m); err != nil && m != ".git" {
			return fail("", InvalidValue, err, "marker "+quote(m)+" "+reason(err))
		}
	}
	g := generator{opts: *o}
	text, err := write(g.file())
	if err != nil {
		return err
	}
	_, err = Parse(text, &ParseOptions{File: "options.yaml"})
	return err
}

// file gives the whole registry. What most entries share stands in the defaults.
func (g *generator) file() shape.File {
	yes := true
	f := shape.File{
		SchemaVersion: version,
		Kind:          registryKind,
		Generator:     "mcpcontract",
		WorkspaceRoot: g.opts.WorkspaceRoot,
		Defaults: &shape.Defaults{Shared: shape.Shared{
			ManifestSource: string(SourceGenerated),
			AuthorityOrder: g.opts.AuthorityOrder,
			RepoClass:      g.opts.Class,
			Lifecycle:      string(Active),
			Owner:          g.opts.Owner,
			SafeToProbe:    &yes,
			Origin:         originGenerated,
		}},
		Repos: append([]shape.Repo{}, g.repos...),
	}
	for i := range f.Repos {
		r := &f.Repos[i]
		r.Fingerprint = fields(members(encode(*r))).prints()
	}
	return f
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// tidy makes a word of a text that a repo provides.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), maxWord)], ""))
}
