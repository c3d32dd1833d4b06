package registry

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// Limits of the text, used where [ParseOptions.MaxBytes] is zero.
const (
	maxTextBytes     = 8 << 20  // YAML and TOML cost 30 to 100 times their size while they are read
	maxJSONBytes     = 90 << 20 // room for 100,000 entries that state every field
	maxManifestBytes = 1 << 20
	maxRepos         = 250_000
)

// ParseOptions steers [Load], [Parse] and [ParseManifest]. The nil pointer and the zero value stand for the
// defaults.
type ParseOptions struct {
	// File names the text in problems. Its extension gives the format: .json, .toml, .yaml or .yml. A text
	// without such a name is JSON if it starts with a brace, else YAML. [Load] sets it to its path.
	File string
	// Root is the folder that workspace_root is relative to, in the form of the operating system. By
	// default it is the folder of File, or the current one where File is empty too.
	Root string
	// MaxBytes is the largest text that is read. By default it is 90 MiB for JSON, 8 MiB for YAML and
	// TOML, and 1 MiB for a manifest.
	MaxBytes int64
	// Classes are the values that repo_class may have. By default every word is allowed.
	Classes []string
}

// Load reads a registry file, those that it includes, and the overlay for this machine. The name must end in
// .yaml, .yml, .json or .toml. All errors are [*Error]; if the file cannot be opened, its cause is an error of
// io/fs.
func Load(path string, opts *ParseOptions) (*Registry, error) {
	var o ParseOptions
	if opts != nil {
		o = *opts
	}
	reg, _, err := load(path, &o)
	return reg, err
}

// readFile reads a registry file whole, or gives an [*Error].
func readFile(path string, o *ParseOptions) ([]byte, error) {
	format, known := formatByName(path)
	if !known {
		return nil, fail(path, FormatUnknown, nil, "the name must end in .yaml, .yml, .json or .toml")
	}
	data, err := rootfs.ReadNamed(path, o.limit(format))
	switch {
	case rootfs.CodeOf(err) == rootfs.TooLarge:
		return nil, fail(path, TooLarge, err, fmt.Sprintf("the file has more than %d bytes; a large registry is best kept as JSON", o.limit(format)))
	case err != nil:
		return nil, fail(path, Unreadable, err, err.Error())
	}
	return data, nil
}

// Parse reads the text of a registry. All errors are [*Error]. It opens no file.
func Parse(data []byte, opts *ParseOptions) (*Registry, error) {
	var o ParseOptions
	if opts != nil {
		o = *opts
	}
	format := o.format(data)
	if limit := o.limit(format); int64(len(data)) > limit {
		return nil, fail(o.File, TooLarge, nil, fmt.Sprintf("the text has %d bytes, more than the limit of %d", len(data), limit))
	}
	r := newReader(o)
	r.read(data, format)
	for _, in := range r.includes {
		r.reportAt(in.mark, -1, in.field, IncludeUnreadable, Reject, "other files are read only when a file is loaded, not a text")
	}
	return assemble([]*reader{r})
}

// fail makes an error of one problem with a file as a whole. It has no place in the file, but for a text
// that is too large: that one was seen, and every fault of a text has a place.
func fail(file string, code Code, cause error, message string) *Error {
	p := Problem{Code: code, Severity: Reject, Message: message, File: file}
	if code == TooLarge {
		p.Line, p.Column = 1, 1
	}
	return &Error{Problems: []Problem{p}, Err: cause}
}

func formatByName(name string) (tree.Format, bool) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return tree.JSON, true
	case ".toml":
		return tree.TOML, true
	case ".yaml", ".yml":
		return tree.YAML, true
	}
	return "", false
}

func (o *ParseOptions) format(data []byte) tree.Format {
	if format, known := formatByName(o.File); known {
		return format
	}
	if bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 1<<10)], " \t\r\n"), []byte("{")) {
		return tree.JSON
	}
	return tree.YAML
}

func (o *ParseOptions) limit(format tree.Format) int64 {
	if format == tree.JSON {
		return cmp.Or(max(o.MaxBytes, 0), maxJSONBytes)
	}
	return cmp.Or(max(o.MaxBytes, 0), maxTextBytes)
}

// base gives the absolute folder that workspace_root is relative to.
func (o *ParseOptions) base() (string, error) {
	dir := o.Root
	if dir == "" && o.File != "" {
		dir = filepath.Dir(o.File)
	}
	return filepath.Abs(dir)
}
