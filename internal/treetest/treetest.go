// Package treetest writes and reads directories of files for tests.
//
//	treetest.Write(t, dir, "docs/plan.md", "# Plan\n")
//	before := treetest.Read(t, dir)
//	refused(dir)
//	if diff := cmp.Diff(before, treetest.Read(t, dir)); diff != "" {
//		t.Errorf("a refused call changed something (-want +got):\n%s", diff)
//	}
//
// Its functions are safe for concurrent use, end the test that they are given
// if the file system fails, and follow no link below dir.
package treetest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Write writes the file name, in slash form, below dir with mode 0644, and
// makes the directories on the way to it with mode 0755.
func Write(tb testing.TB, dir, name, text string) {
	tb.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// Read returns what is below dir by its path in slash form: of a file the
// content, of a link and the like what fs.FileMode.String says of its type. A
// directory is shown by what is in it; an empty one has a slash behind its path,
// and no content. What is at or below one of the paths in skip is left out.
func Read(tb testing.TB, dir string, skip ...string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case slices.Contains(skip, rel) && d.IsDir():
			return fs.SkipDir
		case slices.Contains(skip, rel):
			return nil
		case d.IsDir():
			entries, err := os.ReadDir(name)
			if len(entries) == 0 {
				all[rel+"/"] = ""
			}
			return err
		case !d.Type().IsRegular():
			all[rel] = d.Type().String()
			return nil
		}
		data, err := os.ReadFile(name)
		all[rel] = string(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// Text returns all that Read does in one text, paths included, to be searched
// for what must not be in any file.
func Text(tb testing.TB, dir string, skip ...string) string {
	tb.Helper()
	all := Read(tb, dir, skip...)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(name + "\n" + all[name] + "\n")
	}
	return b.String()
}
