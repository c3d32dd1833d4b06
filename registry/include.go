package registry

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

const (
	maxFiles   = 1000
	maxNesting = 8
	maxListed  = 10_000 // entries of a folder that a pattern is compared with
)

// include is one item of the field include.
type include struct {
	pattern string
	mark    tree.Mark
	field   string
}

func (r *reader) readIncludes(n *tree.Node) {
	items := r.list(n)
	for i := range items {
		r.path.PushItem(i)
		m := &items[i]
		if s, ok := r.text(m); ok {
			r.readInclude(m.Mark, strings.TrimSuffix(s, "/"))
		}
		r.path.Pop()
	}
}

func (r *reader) readInclude(mark tree.Mark, s string) {
	// A pattern is a path when what stands for others is taken out.
	code, why := pathFault(strings.NewReplacer("*", "x", "?", "x", "[", "x", "]", "x").Replace(s))
	if _, err := path.Match(s, ""); err != nil {
		code, why = PathInvalid, "is no pattern"
	}
	if code != "" {
		r.reject(mark, code, "%s %s", quote(s), why)
		return
	}
	field, _ := r.path.Field()
	r.includes = append(r.includes, include{strings.Clone(s), mark, field})
}

// loader reads a registry file and those it includes.
type loader struct {
	opts    ParseOptions
	dir     string // of the first file
	root    *rootfs.Root
	readers []*reader
	sources []source
	left    int64 // bytes that included files may still have
}

// load is [Load], and gives what was read.
func load(file string, opts *ParseOptions) (*Registry, []source, error) {
	data, s, err := readSource(file, opts)
	if err != nil {
		return nil, []source{s}, err
	}
	l := loader{opts: *opts, dir: filepath.Dir(file), sources: []source{s}, left: opts.limit(tree.JSON)}
	first := l.read(filepath.Base(file), file, data, false)
	if len(first.includes) > 0 {
		if l.root, err = rootfs.Open(l.dir, nil); err != nil {
			return nil, l.sources, fail(file, Unreadable, err, err.Error())
		}
		defer l.root.Close() //nolint:errcheck // nothing is written
		l.include(first, ".", []string{filepath.Base(file)})
	}
	if err := l.local(file); err != nil {
		return nil, l.sources, err
	}
	reg, err := assemble(l.readers)
	return reg, l.sources, err
}

// read reads the text of one file.
func (l *loader) read(rel, file string, data []byte, local bool) *reader {
	o := l.opts
	o.File = file
	r := newReader(o)
	r.included, r.local = len(l.readers) > 0, local
	l.readers = append(l.readers, r)
	format, _ := formatByName(rel)
	r.read(data, format)
	return r
}

// local reads the overlay for this machine, if there is one.
func (l *loader) local(file string) error {
	ext := filepath.Ext(file)
	name := strings.TrimSuffix(file, ext) + ".local" + ext
	data, s, err := readSource(name, &l.opts)
	l.sources = append(l.sources, s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l.read(name, name, data, true)
	return nil
}

// include reads the files that a file in a folder includes; chain leads to it.
func (l *loader) include(r *reader, dir string, chain []string) {
	seen := make(map[string]bool)
	for _, in := range r.includes {
		report := func(code Code, format string, args ...any) {
			r.reportAt(in.mark, -1, in.field, code, Reject, format, args...)
		}
		files, err := l.expand(dir, in.pattern)
		if err != nil {
			report(IncludeUnreadable, "%s: %v", quote(in.pattern), err)
			continue
		}
		for _, file := range files {
			switch {
			case seen[file]:
				continue
			case slices.Contains(chain, file):
				report(IncludeCycle, "%s includes itself, by way of %s", quote(file), quote(chain[len(chain)-1]))
				continue
			case len(chain) > maxNesting:
				report(TooDeep, "%s is included through more than %d files", quote(file), maxNesting)
				continue
			case len(l.readers) >= maxFiles:
				report(TooManyItems, "more than %d files", maxFiles)
				return
			}
			seen[file] = true
			l.file(file, chain, report)
		}
	}
}

func (l *loader) file(rel string, chain []string, report func(code Code, format string, args ...any)) {
	full := filepath.Join(l.dir, filepath.FromSlash(rel))
	format, known := formatByName(rel)
	if !known {
		report(FormatUnknown, "the name of %s must end in .yaml, .yml, .json or .toml", quote(rel))
		return
	}
	s := source{path: full}
	if info, err := os.Stat(full); err == nil {
		s.info = info
	}
	data, err := l.root.ReadFile(rel, l.opts.limit(format))
	if err != nil {
		s.sum = sumOf(full, &l.opts)
		l.sources = append(l.sources, s)
		report(IncludeUnreadable, "%s: %v", quote(rel), err)
		return
	}
	s.sum = canon.Sum(data)
	l.sources = append(l.sources, s)
	if l.left -= int64(len(data)); l.left < 0 {
		report(TooLarge, "the included files have more than %d bytes", l.opts.limit(tree.JSON))
		return
	}
	r := l.read(rel, full, data, false)
	l.include(r, path.Dir(rel), append(slices.Clone(chain), rel))
}

// expand gives the files that a pattern stands for, relative to the first file and sorted: the file or the
// files of the folder of that name, or all that match.
func (l *loader) expand(dir, pattern string) ([]string, error) {
	if !isPattern(pattern) {
		return l.named(path.Join(dir, pattern))
	}
	found := []string{dir}
	for part := range strings.SplitSeq(pattern, "/") {
		var next []string
		for _, at := range found {
			names := []string{part}
			if isPattern(part) {
				listed, err := l.list(at)
				if err != nil {
					return nil, err
				}
				names = slices.DeleteFunc(listed, func(name string) bool {
					ok, err := path.Match(part, name)
					return !ok || err != nil
				})
			}
			for _, name := range names {
				next = append(next, path.Join(at, name))
			}
		}
		found = next
	}
	files := slices.DeleteFunc(found, func(at string) bool {
		info, err := l.root.Stat(at)
		return err != nil || !info.Mode.IsRegular() || isLocal(at)
	})
	slices.Sort(files)
	return files, nil
}

// named gives the file of that name, or the registry files of the folder.
func (l *loader) named(at string) ([]string, error) {
	info, err := l.root.Stat(at)
	if err != nil {
		full := filepath.Join(l.dir, filepath.FromSlash(at))
		l.sources = append(l.sources, source{path: full, sum: sumOf(full, &l.opts)})
		return nil, err
	}
	if !info.Mode.IsDir() {
		return []string{at}, nil
	}
	names, err := l.list(at)
	var files []string
	for _, name := range names {
		if _, known := formatByName(name); known && !isLocal(name) {
			files = append(files, path.Join(at, name))
		}
	}
	slices.Sort(files)
	return files, err
}

func isPattern(s string) bool { return strings.ContainsAny(s, "*?[") }

// list gives the names in a folder but the hidden ones; none if it is no folder.
func (l *loader) list(dir string) ([]string, error) {
	full := filepath.Join(l.dir, filepath.FromSlash(dir))
	s := source{path: full, sum: sumOf(full, &l.opts)}
	if info, err := os.Stat(full); err == nil {
		s.info = info
	}
	l.sources = append(l.sources, s)
	infos, err := l.root.ReadDir(dir, maxListed)
	if code := rootfs.CodeOf(err); code == rootfs.NotFound || code == rootfs.NotDir {
		return nil, nil
	}
	var names []string
	for _, info := range infos {
		if name := path.Base(info.Path); !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, err
}

// isLocal reports whether a name is that of an overlay for one machine.
func isLocal(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, path.Ext(name)), ".local")
}

// sumOf gives what [source] keeps of the content of a file or a folder.
func sumOf(name string, o *ParseOptions) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		entries, err := os.ReadDir(name)
		if err != nil {
			return string(cmp.Or(rootfs.CodeOf(err), "unreadable"))
		}
		var names [][]byte
		for _, e := range entries {
			names = append(names, []byte(e.Name()))
		}
		return canon.Digest("mcpcontract/registry/folder", names...)
	}
	_, s, _ := readSource(name, o)
	return s.sum
}
