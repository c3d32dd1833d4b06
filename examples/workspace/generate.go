package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

const (
	// lockName is the file beside a registry that updates lock. It is left there: a
	// lock on a file that is removed after use protects nothing.
	lockName = ".workspace-registry.lock"

	// maxRegistry is more than package registry reads.
	maxRegistry = 128 << 20
)

// errNoRepos ends generate where there is nothing to write.
const errNoRepos = cli.ExitError(2)

// generate scans the workspace and writes its registry, or brings the one that is
// there up to date.
func generate(ctx context.Context, c config) error {
	start := time.Now()
	file, before, err := c.target()
	if err != nil {
		return err
	}
	scanned, err := c.scan(ctx, file, before != nil)
	if err != nil {
		return err
	}
	var outcome string
	switch {
	case before == nil:
		outcome = "written"
		if file, err = named(file, c.out+c.registry != "", scanned.data); err == nil {
			err = create(file, scanned.data)
		}
	case bytes.Equal(before, scanned.data):
		outcome = "up to date already"
	default:
		outcome = "brought up to date"
		err = replace(ctx, file, before, scanned.data)
	}
	if err != nil {
		return err
	}
	reg, err := registry.Load(file, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %s: %s, %s, %s, %s\n", file, outcome, repos(reg.Len()), cli.Count(scanned.problems, "problem", "problems"),
		cli.Count(len(scanned.data), "byte", "bytes"), time.Since(start).Round(time.Millisecond))
	return nil
}

// target returns the file that generate writes, and what is in it, nil if it is not
// there yet.
func (c *config) target() (file string, before []byte, err error) {
	if file = c.out; file == "" {
		if file, err = c.find(); err != nil {
			return "", nil, err
		}
	}
	if file == "" {
		return filepath.Join(c.dir(), registryNames[0]), nil, nil
	}
	before, err = rootfs.ReadNamed(file, maxRegistry)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return file, nil, nil
	}
	return file, append([]byte{}, before...), err // not nil, even if the file is empty
}

// scan is the text of a registry and how many problems were told to the operator.
type scan struct {
	data     []byte
	problems int
}

// scan makes the text of the registry file, or brings up to date what is there.
func (c *config) scan(ctx context.Context, file string, exists bool) (scan, error) {
	dir := c.dir()
	opts, found, stop := progress("scanning")
	opts.Markers = c.markerNames()
	var err error
	if exists {
		dir, err = c.workspaceOf(file)
		opts.File = file
	} else {
		opts.WorkspaceRoot, err = way(filepath.Dir(file), dir)
	}
	if err != nil {
		stop()
		return scan{}, err
	}
	data, problems, err := registry.Generate(ctx, dir, opts)
	stop()
	if err != nil {
		if faults, ok := printFaults(err); ok {
			return scan{}, &faultyError{file, faults, "written"}
		}
		return scan{}, err
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, cli.Visible(p.String()))
	}
	if found() == 0 {
		tellNoRepos(dir, opts.Markers)
		return scan{}, errNoRepos
	}
	return scan{data, len(problems)}, nil
}

// markerNames returns what the command line says, nil for the default.
func (c *config) markerNames() (names []string) {
	for name := range strings.SplitSeq(c.markers, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func tellNoRepos(dir string, markers []string) {
	if markers == nil {
		markers = []string{".git", "docs/agent/manifest.yaml"}
	}
	fmt.Fprintf(os.Stderr, "error: nothing was written, since no repo was found in %s: no folder with %s in it; name other markers with -marker, such as go.mod\n",
		dir, cli.Visible(strings.Join(markers, " or ")))
}

// workspaceOf returns the workspace of a registry that is there, as it is served.
func (c *config) workspaceOf(file string) (string, error) {
	named := *c
	named.registry = file
	reg, _, _, err := named.load()
	if err != nil {
		return "", err
	}
	return reg.Root(), nil
}

// way is the way from one folder to another, with slashes; "" if they are the same.
func way(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	to, err = filepath.Abs(to)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	if rel == "." {
		rel = ""
	}
	return filepath.ToSlash(rel), err
}

// named gives the name for a new registry, the ending of which says the format.
func named(file string, chosen bool, data []byte) (string, error) {
	want, got := ".yaml", filepath.Ext(file)
	if data[0] == '{' {
		want = ".json"
	}
	switch {
	case got == want, got == ".yml" && want == ".yaml":
		return file, nil
	case !chosen:
		return strings.TrimSuffix(file, got) + want, nil
	}
	return "", fmt.Errorf("the registry of this workspace is written as %s, so name a file that ends so: %s", want, file)
}

// create writes a new file. What is there by now is somebody else's.
func create(file string, data []byte) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s has appeared meanwhile, or is a link that leads nowhere, and was left as it is; run generate again to bring it up to date", file)
	}
	if err != nil {
		return err
	}
	if err := rootfs.Fill(f, data); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// replace writes a file if it still is what was read. The lock keeps out others
// that do this; with an editor, the last moment between comparing and writing is
// left.
func replace(ctx context.Context, file string, before, data []byte) (err error) {
	file, err = filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	dir, err := rootfs.Open(filepath.Dir(file), nil)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.Lock(ctx, lockName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	now, err := rootfs.ReadNamed(file, maxRegistry)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("%s was changed by somebody else meanwhile and was left as it is; run generate again", file)
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return rootfs.WriteNamed(file, data, info.Mode().Perm())
}
