package project

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// at notes a fault at the place where a field was read.
func (r *reader) at(p positioned, format string, args ...any) {
	r.faults = append(r.faults, fault{p.node.Line, p.node.Column, p.field, fmt.Sprintf(format, args...)})
}

// place returns where a folder is named, or one without a node for a default.
func (r *reader) place(field, text string) positioned {
	for _, p := range r.folders {
		if p.field == field {
			return p
		}
	}
	return positioned{field: field, text: text}
}

// checkFolders keeps what the server writes out of what it only reads, and apart
// from each other.
func (r *reader) checkFolders() {
	f := &r.file
	this := positioned{text: Name}
	docs, templates := r.place("docs", f.Docs), r.place("templates", f.Templates)
	changesets, previews := r.place("roots.changesets", f.Changesets), r.place("roots.previews", f.Previews)
	stage := r.place("roots.stage", f.Stage)
	state := positioned{stage.field, f.State(), stage.node}
	reads := []positioned{docs, templates}
	for _, o := range r.outputs {
		reads = append(reads, o.place())
		r.apart(o.place(), templates)
	}
	for _, read := range reads {
		r.apart(read, this)
		for _, write := range []positioned{changesets, previews, stage} {
			r.apart(write, read)
		}
		if !overlap(stage.text, read.text) {
			r.apart(state, read)
		}
	}
	r.apart(previews, changesets)
	for _, write := range []positioned{changesets, previews} {
		r.apart(write, this)
		r.apart(write, stage)
		for _, name := range stateNames() {
			r.apart(write, positioned{stage.field, path.Join(f.State(), name), stage.node})
		}
	}
	r.apart(state, this)
	if f.Docs == "." {
		for _, write := range []positioned{changesets, previews, stage} {
			if write.node != nil && !strings.HasPrefix(write.text, ".") {
				r.at(write, "%q lies among the documents; begin the name with a dot", write.text)
			}
		}
	}
}

// stateNames are what the server keeps beside the folder of staged files.
func stateNames() []string {
	return []string{".gitignore", "journal", "lock", "receipts", "tokens", "undo"}
}

// apart reports two places that overlap, at the first that the file names. Two
// defaults never do.
func (r *reader) apart(a, b positioned) {
	if a.text == "" || b.text == "" || a.text == "." || b.text == "." || !overlap(a.text, b.text) {
		return
	}
	if a.node == nil {
		a, b = b, a
	}
	if a.node != nil {
		r.at(a, "%q overlaps %q; give it a place of its own", a.text, b.text)
	}
}

// checkOutputs needs the views, which may come later in the file.
func (r *reader) checkOutputs() {
	for i, o := range r.outputs {
		inDocs := overlap(o.out.Path, r.file.Docs)
		if r.file.Docs == "." {
			inDocs = strings.EqualFold(path.Ext(o.out.Path), ".md")
		}
		switch {
		case o.out.View != "" && !slices.ContainsFunc(r.file.Views, func(v changeset.View) bool { return v.ID == o.out.View }):
			r.at(o.place(), "no view %q is declared", o.out.View)
		case o.out.Path != "" && inDocs:
			r.at(o.place(), "%q overlaps what it is made from; write outputs elsewhere", o.out.Path)
		case slices.ContainsFunc(r.outputs[:i], func(other positionedOutput) bool {
			return o.out.Path != "" && other.out.Path != "" && overlap(other.out.Path, o.out.Path)
		}):
			r.at(o.place(), "%q is the place of another output", o.out.Path)
		}
	}
}

// checkPatterns refuses candidates that could change what has no writer.
func (r *reader) checkPatterns() {
	for _, p := range r.patterns {
		if r.file.Docs == "." {
			r.at(p, "%s lies among the documents, which no candidate may change; give docs a folder of their own", wording.Quote(p.text, 80))
			continue
		}
		for _, protected := range r.file.Protected() {
			if protected != "" && pattern.Reaches(p.text, protected) {
				r.at(p, "%s could match %q or something below it, which no candidate may change", wording.Quote(p.text, 80), protected)
				break
			}
		}
	}
}

// overlap reports whether one path is the other or lies in it, on any file
// system.
func overlap(a, b string) bool {
	a, b = rootfs.FoldKey(a)+"/", rootfs.FoldKey(b)+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
