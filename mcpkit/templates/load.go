package templates

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// Manifest is the name of the file that describes a set.
const Manifest = "templates.yaml"

const (
	maxManifest  = 1 << 20
	maxTemplates = 256
	maxBytes     = 256 << 10
	maxID        = 64
)

// Options change how a set is loaded. Nil and the zero value are the default.
type Options struct {
	// MaxBytes is how many bytes one template may have; 0 means 256 KiB.
	MaxBytes int64
}

// A Set is one set of templates, complete in memory. Load makes one.
type Set struct {
	name  string
	items []template // sorted by id
	byID  map[string]int
}

// template is one template with its text.
type template struct {
	id, uri, artifact, media, sum, text string
}

// Load reads the set that [Manifest] in files describes, with all its templates. Give it an embed.FS, or the FS of an
// os.Root, which follows no link out of its directory.
//
// The error's code is templates_invalid, templates_unreadable or templates_changed.
func Load(files fs.FS, opts *Options) (*Set, error) {
	limit := int64(maxBytes)
	if opts != nil && opts.MaxBytes > 0 {
		limit = opts.MaxBytes
	}
	src, err := read(files, Manifest, maxManifest)
	if err != nil {
		return nil, &Error{Code: CodeUnreadable, Detail: "reading " + Manifest, Err: err}
	}
	name, entries, err := parseManifest(src)
	if err != nil {
		return nil, &Error{Code: CodeInvalid, Detail: Manifest, Err: err}
	}
	s := &Set{name: name, byID: make(map[string]int)}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	for i, e := range entries {
		t, err := e.load(files, limit)
		if err != nil {
			return nil, err
		}
		t.uri = "template://" + name + "/" + e.id
		s.items = append(s.items, t)
		s.byID[e.id] = i
	}
	return s, nil
}

// entry is what the manifest says of one template.
type entry struct {
	id, file, artifact, media, sum string
}

// load reads the file of an entry.
func (e *entry) load(files fs.FS, limit int64) (template, error) {
	data, err := read(files, e.file, limit)
	if err != nil {
		return template{}, &Error{Code: CodeUnreadable, ID: e.id, Detail: "reading its file", Err: err}
	}
	if !utf8.Valid(data) {
		return template{}, &Error{Code: CodeUnreadable, ID: e.id, Detail: "its file is not UTF-8 text"}
	}
	sum := canon.Sum(data)
	if e.sum != "" && e.sum != sum {
		return template{}, &Error{Code: CodeChanged, ID: e.id, Detail: "its file has the sha256 " + sum + ", which is not the one in " + Manifest}
	}
	return template{id: e.id, artifact: e.artifact, media: e.media, sum: sum, text: string(data)}, nil
}

// read returns a regular file of at most limit bytes.
func read(files fs.FS, name string, limit int64) ([]byte, error) {
	// Before it is opened, which would wait for the other end of a pipe.
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%.200q is not a regular file", name)
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%.200q has more than %d bytes", name, limit)
	}
	return data, err
}

var (
	idPattern  = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)
	sumPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// parseManifest reads templates.yaml. Its errors name line and column.
func parseManifest(src []byte) (set string, entries []entry, err error) {
	root, err := yamldoc.Parse(src, &yamldoc.Options{MaxBytes: maxManifest})
	if err != nil {
		return "", nil, err
	}
	fields, err := mapping(root, "schema_version", "set", "templates")
	if err != nil {
		return "", nil, err
	}
	if err := check(root, fields["schema_version"], "schema_version", func(v string) bool { return v == "1" }, `"1"`); err != nil {
		return "", nil, err
	}
	if err := check(root, fields["set"], "set", validID, "lower-case letters, digits and single . _ - between them, at most 64"); err != nil {
		return "", nil, err
	}
	list := fields["templates"]
	if list == nil || list.Kind != yamldoc.MappingNode || len(list.Content) == 0 || len(list.Content) > 2*maxTemplates {
		return "", nil, at(cmp.Or(list, root), "templates has to map 1 to %d ids to templates", maxTemplates)
	}
	for i := 0; i < len(list.Content); i += 2 {
		e, err := parseEntry(list.Content[i], list.Content[i+1])
		if err != nil {
			return "", nil, err
		}
		entries = append(entries, e)
	}
	return fields["set"].Value, entries, nil
}

func parseEntry(key, value *yamldoc.Node) (entry, error) {
	if !validID(key.Value) {
		return entry{}, at(key, "the id %.80q has to be lower-case letters, digits and single . _ - between them, at most %d", key.Value, maxID)
	}
	fields, err := mapping(value, "file", "artifact_path", "media_type", "sha256")
	if err != nil {
		return entry{}, err
	}
	rules := []struct {
		name  string
		valid func(string) bool
		want  string
	}{
		{"file", func(v string) bool { return fs.ValidPath(v) && v != "." && v != Manifest }, "the relative path of a file"},
		{"artifact_path", func(v string) bool { return rootfs.Check(v) == nil }, portable(fields["artifact_path"])},
		{"media_type", validMedia, "a media type such as text/markdown"},
	}
	for _, rule := range rules {
		if err := check(value, fields[rule.name], rule.name, rule.valid, rule.want); err != nil {
			return entry{}, err
		}
	}
	e := entry{id: key.Value, file: fields["file"].Value, artifact: fields["artifact_path"].Value, media: fields["media_type"].Value}
	if sum := fields["sha256"]; sum != nil {
		if err := check(value, sum, "sha256", sumPattern.MatchString, "64 lower-case hexadecimal digits"); err != nil {
			return entry{}, err
		}
		e.sum = sum.Value
	}
	return e, nil
}

// portable says what an artifact_path has to be, and which rule n breaks.
func portable(n *yamldoc.Node) string {
	const want = "a relative path that every system can have"
	if n == nil || n.Kind != yamldoc.ScalarNode || n.Tag == "!!null" {
		return want
	}
	if e, ok := errors.AsType[*rootfs.Error](rootfs.Check(n.Value)); ok && e.Err != nil {
		return want + ", and " + wording.Quote(n.Value, 80) + " is none: " + e.Err.Error()
	}
	return want
}

// mapping returns the fields of n, of which only the given ones are allowed.
func mapping(n *yamldoc.Node, allowed ...string) (map[string]*yamldoc.Node, error) {
	if n.Kind != yamldoc.MappingNode {
		return nil, at(n, "want a mapping with %s", allowed)
	}
	fields := make(map[string]*yamldoc.Node)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(allowed, key.Value) {
			return nil, at(key, "the field %.80q is unknown; known are %s", key.Value, allowed)
		}
		fields[key.Value] = n.Content[i+1]
	}
	return fields, nil
}

// check refuses a field that is missing or not a string that is valid.
func check(parent, n *yamldoc.Node, name string, valid func(string) bool, want string) error {
	switch {
	case n == nil:
		return at(parent, "the field %s is missing", name)
	case n.Kind != yamldoc.ScalarNode || n.Tag == "!!null" || !valid(n.Value):
		return at(n, "%s has to be %s", name, want)
	}
	return nil
}

func at(n *yamldoc.Node, format string, args ...any) error {
	return fmt.Errorf("line %d, column %d: %s", n.Line, n.Column, fmt.Sprintf(format, args...))
}

func validID(id string) bool { return len(id) <= maxID && idPattern.MatchString(id) }

func validMedia(v string) bool {
	media, _, err := mime.ParseMediaType(v)
	return err == nil && strings.Contains(media, "/") && len(v) <= 100
}
