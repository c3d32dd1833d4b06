package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

// registryNames are the names under which the registry is looked for.
var registryNames = [...]string{"workspace-registry.yaml", "workspace-registry.json", "workspace-registry.toml"}

// dir is the folder of the workspace.
func (c *config) dir() string { return cmp.Or(c.root, ".") }

// load reads the registry. The options are those to read the file again with.
func (c *config) load() (reg *registry.Registry, file string, opts *registry.ParseOptions, err error) {
	file, err = c.find()
	if err != nil {
		return nil, "", nil, err
	}
	if file == "" {
		return nil, "", nil, fmt.Errorf("there is no registry in %s (looked for %s); run %q to make one, or name one with -registry",
			c.dir(), strings.Join(registryNames[:], ", "), "workspace -root "+c.dir()+" generate")
	}
	reg, err = registry.Load(file, nil)
	if err == nil && c.root != "" {
		// A registry that does not say where the workspace is takes the flag's word.
		if dir, absErr := filepath.Abs(filepath.Dir(file)); absErr == nil && reg.Root() == dir {
			opts = &registry.ParseOptions{Root: c.root}
			reg, err = registry.Load(file, opts)
		}
	}
	if errors.Is(err, fs.ErrNotExist) && !exists(file) {
		return nil, "", nil, fmt.Errorf("there is no registry %s; run %q to make one", file, "workspace -root "+c.dir()+" generate -o "+file)
	}
	if faults, ok := printFaults(err); ok {
		return nil, "", nil, &faultyError{file, faults, "loaded"}
	}
	if err != nil {
		return nil, "", nil, err
	}
	return reg, file, opts, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// printFaults writes out what is wrong with a registry, if that is what err is.
func printFaults(err error) (*registry.Error, bool) {
	faults, ok := errors.AsType[*registry.Error](err)
	if ok {
		for _, p := range faults.Problems {
			fmt.Fprintln(os.Stderr, cli.Visible(p.String()))
		}
	}
	return faults, ok
}

// faultyError is about a registry whose problems have been written out.
type faultyError struct {
	file   string
	faults *registry.Error
	undone string // what was to be done
}

func (e *faultyError) Error() string { return "the registry " + e.file + " was not " + e.undone }

func (e *faultyError) Unwrap() error { return e.faults }

// find returns the registry file, "" if there is none.
func (c *config) find() (string, error) {
	if c.registry != "" {
		return c.registry, nil
	}
	root, err := rootfs.Open(c.dir(), nil)
	if err != nil {
		return "", fmt.Errorf("the workspace root: %w", err)
	}
	defer func() { _ = root.Close() }()
	var found []string
	for _, name := range registryNames {
		_, err := root.Stat(name)
		switch {
		case err == nil:
			found = append(found, filepath.Join(c.dir(), name))
		case rootfs.CodeOf(err) != rootfs.NotFound:
			return "", err
		}
	}
	if len(found) > 1 {
		return "", fmt.Errorf("there are several registries, name one with -registry: %s", strings.Join(found, ", "))
	}
	return strings.Join(found, ""), nil
}

// progress reports a scan to stderr when it is long. found gives the number of
// repos so far.
func progress(what string) (opts *registry.ScanOptions, found func() int, stop func()) {
	var seen, entries atomic.Int64
	opts = &registry.ScanOptions{Progress: func(r, e int) {
		seen.Store(int64(r))
		entries.Store(int64(e))
	}}
	found = func() int { return int(seen.Load()) }
	return opts, found, cli.Progress(os.Stderr, func() string {
		return fmt.Sprintf("%s: %s, %s", what, repos(found()), cli.Count(int(entries.Load()), "other entry", "other entries"))
	})
}

func repos(n int) string { return cli.Count(n, "repo", "repos") }
