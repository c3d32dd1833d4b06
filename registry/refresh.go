package registry

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/schemagen/shape"
	"github.com/mcpcontract/mcpcontract/registry/internal/splice"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// Where an entry comes from.
const (
	originGenerated  = "generated"
	originManual     = "manual"
	originOverridden = "overridden"
)

// managed gives the fields of an entry that the generator brings up to date. Its id and path are not among
// them: a repo is recognised by its path, and may be given another id.
func managed() []string {
	return []string{
		"manifest_source", "manifest_path", "entrypoints", "resource_roots", "repo_class", "views", "owner",
		"signals", "entrypoint_status", "components", "evidence",
	}
}

// fields are the fields that an entry states.
type fields map[string]json.RawMessage

// sum identifies the value of a field; "" if it has none.
func (f fields) sum(name string) string {
	value, ok := f[name]
	if !ok {
		return ""
	}
	text, err := canon.Marshal(value)
	if err != nil {
		text = value
	}
	return canon.Sum(text)[:8]
}

func (f fields) equal(g fields) bool {
	for name := range f {
		if f.sum(name) != g.sum(name) {
			return false
		}
	}
	return len(f) == len(g)
}

// prints identifies the values that the generator wrote, so that it knows later what somebody has changed.
func (f fields) prints() string {
	known := make(map[string]string)
	for _, name := range managed() {
		known[name] = f.sum(name)
	}
	return joinPrints(known)
}

func joinPrints(known map[string]string) string {
	var words []string
	for _, name := range managed() {
		if known[name] != "" {
			words = append(words, name+"="+known[name])
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}

func splitPrints(s string) map[string]string {
	known := make(map[string]string)
	for word := range strings.FieldsSeq(s) {
		name, sum, _ := strings.Cut(word, "=")
		known[name] = sum
	}
	return known
}

// text gives a field that is a text, "" if it is not.
func (f fields) text(name string) string {
	var s string
	if json.Unmarshal(f[name], &s) != nil {
		return ""
	}
	return s
}

// existing is the file that Generate brings up to date.
type existing struct {
	file   string
	data   []byte
	format tree.Format
	reg    *Registry
	stated []fields // of each entry in the file
	byPath map[string]located
}

// readExisting reads the file to bring up to date, nil if there is none.
func readExisting(file string) (*existing, error) {
	if file == "" {
		return nil, nil
	}
	reg, sources, err := load(file, new(ParseOptions))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, s, err := readSource(file, new(ParseOptions))
	if err != nil {
		return nil, err
	}
	if s.sum != sources[0].sum {
		return nil, fail(file, Unreadable, nil, "the file changed while it was read")
	}
	format, _ := formatByName(file)
	if format == tree.TOML {
		return nil, fail(file, NotSpliced, nil, "a TOML file cannot be brought up to date in place; keep the registry as YAML or JSON")
	}
	e := &existing{file: file, data: data, format: format, reg: reg, stated: statedFields(data, format), byPath: make(map[string]located)}
	for _, at := range reg.entries {
		e.byPath[at.Path] = at
	}
	for _, p := range reg.removed {
		e.byPath[p] = located{Repo: &Repo{ID: p}}
	}
	return e, nil
}

// statedFields gives the fields of the entries of a good registry file.
func statedFields(data []byte, format tree.Format) []fields {
	var all []fields
	tree.Read(data, format, tree.Handler{
		Stream: streamed,
		Member: func(*tree.Node) bool { return true },
		Item: func(_ int, n *tree.Node) bool {
			f := make(fields, len(n.Items))
			for i := range n.Items {
				var r *reader
				f[strings.Clone(n.Items[i].Key)] = r.extension(&n.Items[i])
			}
			all = append(all, f)
			return true
		},
		Fault: func(tree.Fault) {},
	})
	return all
}

// refresh gives the text of the file brought up to date with the repos that were found.
func (e *existing) refresh(g *generator) ([]byte, error) {
	doc, err := splice.Open(e.data, streamed, e.format == tree.JSON)
	if err != nil {
		return nil, e.unfit(err)
	}
	var added []shape.Repo
	seen := make(map[string]bool, len(g.repos))
	for i := range g.repos {
		repo := e.adapt(g.repos[i])
		at, known := e.byPath[pathOf(&repo)]
		seen[pathOf(&repo)] = true
		switch {
		case !known:
			added = append(added, repo)
		case at.file == e.reg.file:
			if err := e.entry(doc, int(at.item), at, members(encode(repo))); err != nil {
				return nil, e.unfit(err)
			}
		}
	}
	for _, at := range e.reg.entries {
		if !seen[at.Path] && at.Lifecycle != Archived {
			g.warn(at.ID, RepoMissing, "no repo was found at %s; the entry is kept", quote(at.Path))
		}
	}
	want, err := e.insert(doc, added)
	if err != nil {
		return nil, e.unfit(err)
	}
	data := doc.Bytes()
	return data, e.verify(data, want)
}

func (e *existing) unfit(err error) error {
	return fail(e.file, NotSpliced, err, "the file cannot be brought up to date in place: "+err.Error())
}

func pathOf(r *shape.Repo) string {
	if r.Path == "" {
		return r.RepoID
	}
	return r.Path
}

// adapt makes an entry state what the defaults of the file do not give it.
func (e *existing) adapt(r shape.Repo) shape.Repo {
	if r.ManifestSource == "" && e.reg.defaults.ManifestSource != SourceGenerated {
		r.ManifestSource = string(SourceGenerated)
	}
	if e.reg.defaults.Origin != originGenerated {
		r.Origin = originGenerated
	}
	return r
}

// entry brings one entry up to date: the values that are as the generator wrote them, and not locked.
func (e *existing) entry(doc *splice.Doc, item int, at located, fresh fields) error {
	stated := e.stated[item]
	var members []splice.Member
	set := func(name string, value json.RawMessage) {
		members = append(members, splice.Member{Name: name, Value: value})
		if value == nil {
			delete(stated, name)
			return
		}
		stated[name] = value
	}
	if stated["fingerprint"] == nil {
		if at.Origin == originGenerated {
			set("origin", encode(originManual))
			return doc.Set(item, members...)
		}
		return nil
	}
	if at.Origin == originManual {
		return nil
	}
	written := stated.text("fingerprint")
	known, edited := splitPrints(written), false
	for _, name := range managed() {
		switch now := stated.sum(name); {
		case slices.Contains(at.Locked, name):
		case now != known[name]:
			edited = true
		case now != fresh.sum(name):
			known[name] = fresh.sum(name)
			set(name, fresh[name])
		}
	}
	if edited && at.Origin == originGenerated {
		set("origin", encode(originOverridden))
	}
	if now := joinPrints(known); now != written && len(members) > 0 {
		set("fingerprint", encode(now))
	}
	if len(members) == 0 {
		return nil
	}
	return doc.Set(item, members...)
}

// insert adds entries in the order of ids if the file has it, else at the end. It gives what all entries then state.
func (e *existing) insert(doc *splice.Doc, added []shape.Repo) ([]fields, error) {
	ids := make([]string, len(e.stated))
	for i, f := range e.stated {
		ids[i] = f.text("repo_id")
	}
	sorted := slices.IsSorted(ids)
	behind := make(map[int][][]byte)
	more := make(map[int][]fields)
	for _, repo := range added {
		at := len(ids) - 1
		if sorted {
			at, _ = slices.BinarySearch(ids, repo.RepoID)
			at--
		}
		repo.Fingerprint = fields(members(encode(repo))).prints()
		text := encode(repo)
		behind[at] = append(behind[at], text)
		more[at] = append(more[at], members(text))
	}
	want := slices.Clone(more[-1])
	for i, f := range e.stated {
		want = append(append(want, f), more[i]...)
	}
	for _, at := range slices.Sorted(maps.Keys(behind)) {
		if err := doc.Insert(at, behind[at]...); err != nil {
			return nil, err
		}
	}
	return want, nil
}

// verify reads what was made: it must be a good registry of exactly these entries.
func (e *existing) verify(data []byte, want []fields) error {
	stated := statedFields(data, e.format)
	if !slices.EqualFunc(stated, want, fields.equal) {
		return fail(e.file, NotSpliced, nil, "the file has a form that cannot be changed in place without a loss; write its entries one field on a line")
	}
	r := newReader(ParseOptions{File: e.file})
	r.read(data, e.format)
	_, err := assemble([]*reader{r})
	return err
}
