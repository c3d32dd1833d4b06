package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

// registryNames are the names under which the registry is looked for.
var registryNames = [...]string{"workspace-registry.yaml", "workspace-registry.json", "workspace-registry.toml"}

// dir is the folder of the workspace.
func (c *config) dir() string { return cmp.Or(c.root, ".") }

// load reads the registry. Warnings go to stderr, in short. The options are those
// to read the file again with.
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
	if faults, ok := printFaults(err); ok {
		return nil, "", nil, &faultyError{file, faults}
	}
	if err != nil {
		return nil, "", nil, err
	}
	if n := len(reg.Warnings()); n > 0 {
		fmt.Fprintf(os.Stderr, "%s: %s; run check to see more\n", file, cli.Count(n, "warning", "warnings"))
	}
	return reg, file, opts, nil
}

// printFaults writes out what is wrong with a registry, if that is what err is.
func printFaults(err error) (*registry.Error, bool) {
	faults, ok := errors.AsType[*registry.Error](err)
	if ok {
		for _, p := range faults.Problems {
			fmt.Fprintln(os.Stderr, p)
		}
	}
	return faults, ok
}

// faultyError is about a registry whose problems have been written out.
type faultyError struct {
	file   string
	faults *registry.Error
}

func (e *faultyError) Error() string { return "the registry " + e.file + " was not loaded" }

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

// generate scans the workspace and writes its registry to a new file.
func generate(ctx context.Context, c config) error {
	start := time.Now()
	opts, stop := progress("scanning")
	for name := range strings.SplitSeq(c.markers, ",") {
		if name = strings.TrimSpace(name); name != "" {
			opts.Markers = append(opts.Markers, name)
		}
	}
	if c.out != "" {
		up, err := relative(filepath.Dir(c.out), c.dir())
		if err != nil {
			return err
		}
		opts.WorkspaceRoot = up
	}
	data, problems, err := registry.Generate(ctx, c.dir(), opts)
	stop()
	if err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	file, err := c.write(data)
	if err != nil {
		return err
	}
	reg, err := registry.Load(file, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %s, %s, %s, %s\n", file, repos(reg.Len()), cli.Count(len(problems), "problem", "problems"), cli.Count(len(data), "byte", "bytes"), time.Since(start).Round(time.Millisecond))
	return nil
}

// progress reports a scan to stderr when it is long.
func progress(what string) (opts *registry.ScanOptions, stop func()) {
	var found, entries atomic.Int64
	opts = &registry.ScanOptions{Progress: func(r, e int) {
		found.Store(int64(r))
		entries.Store(int64(e))
	}}
	return opts, cli.Progress(os.Stderr, func() string {
		return fmt.Sprintf("%s: %s, %s", what, repos(int(found.Load())), cli.Count(int(entries.Load()), "other entry", "other entries"))
	})
}

func repos(n int) string { return cli.Count(n, "repo", "repos") }

// relative is the way from one folder to another, with slashes.
func relative(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	to, err = filepath.Abs(to)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	return filepath.ToSlash(rel), err
}

// write writes a registry where none is: what a person has edited is not lost.
func (c *config) write(data []byte) (file string, err error) {
	ext := ".yaml"
	if data[0] == '{' {
		ext = ".json"
	}
	if file = c.out; file == "" {
		file = filepath.Join(c.dir(), "workspace-registry"+ext)
	}
	if got := filepath.Ext(file); got != ext && (ext == ".json" || got != ".yml") {
		return "", fmt.Errorf("the registry of this workspace is written as %s, so name a file that ends so: %s", ext, file)
	}
	old := file
	if c.out == "" {
		if old, err = c.find(); err != nil {
			return "", err
		}
	}
	if _, err := os.Lstat(old); err == nil {
		return "", fmt.Errorf("%s is there already and may hold hand edits: write to another file with -o and compare", old)
	}
	return file, rootfs.WriteNamed(file, data, 0o644)
}
