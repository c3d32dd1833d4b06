package textdiff_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// A change is one file before and afterwards; "" is no path.
type change struct{ oldPath, newPath, before, after string }

func TestGit(t *testing.T) {
	tests := []struct {
		name string
		change
		want string
	}{
		{"same", change{"a.md", "a.md", "x\n", "x\n"}, ""},
		{"changed", change{"a.md", "a.md", "x\n", "y\n"}, "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-x\n+y\n"},
		{"moved", change{"a.md", "b c.md", "x\n", "x\n"}, "diff --git a/a.md b/b c.md\nrename from a.md\nrename to b c.md\n"},
		{
			"moved and changed",
			change{"a.md", "b c.md", "x\n", "y\n"},
			"diff --git a/a.md b/b c.md\nrename from a.md\nrename to b c.md\n--- a/a.md\n+++ b/b c.md\t\n@@ -1 +1 @@\n-x\n+y\n",
		},
		{"new", change{"", "a.md", "", "x\n"}, "diff --git a/a.md b/a.md\nnew file mode 100644\n--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+x\n"},
		{"gone", change{"a.md", "", "x\n", ""}, "diff --git a/a.md b/a.md\ndeleted file mode 100644\n--- a/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"},
		{"new and empty", change{"", "a.md", "", ""}, "diff --git a/a.md b/a.md\nnew file mode 100644\n"},
		{"odd name", change{"a\tb.md", "a.md", "", ""}, "diff --git \"a/a\\011b.md\" b/a.md\nrename from \"a\\011b.md\"\nrename to a.md\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := textdiff.Git(tt.oldPath, tt.newPath, []byte(tt.before), []byte(tt.after), 3)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("diff (-want +got):\n%s", diff)
			}
			if back, err := textdiff.Apply([]byte(tt.before), got); err != nil || string(back) != tt.after {
				t.Errorf("Apply = %q, %v, want %q", back, err, tt.after)
			}
		})
	}
}

// TestGitApplies has git carry out patches of several files.
func TestGitApplies(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const long = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for name, changes := range map[string][]change{
		"move":             {{"a.md", "sub/b.md", long, long}},
		"move with change": {{"a.md", "sub/b.md", long, "0\n" + long + "10"}},
		"all at once": {
			{"same.md", "same.md", long, long + "10\n"},
			{"a.md", "moved.md", long, long},
			{"gone.md", "", "x\n", ""},
			{"", "new.md", "", "y\n"},
		},
		"nothing in it":    {{"", "new.md", "", ""}, {"gone.md", "", "", ""}, {"a.md", "b.md", "", ""}},
		"a move and a new": {{"a.md", "b.md", long, long}, {"", "a.md", "", "other\n"}},
		"places changed":   {{"a.md", "b.md", "a\n", "a\n"}, {"b.md", "a.md", "b\n", "b2\n"}},
		"names": {
			{"with space.md", "with space 2.md", long, long + "10\n"},
			{"café.md", "日本.md", long, long + "10\n"},
			{"ta\tb.md", `quo"te.md`, long, long + "10\n"},
			{"it b/it.md", "it b/it b/it.md", long, long},
		},
		"line ends": {{"a.md", "b.md", "1\r\n2\r\n", "1\r\n3"}, {"", "c.md", "", "no end"}, {"d.md", "", "no end", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			want := make(map[string]string)
			var patch bytes.Buffer
			for _, c := range changes {
				if c.oldPath != "" {
					write(t, filepath.Join(dir, c.oldPath), c.before)
				}
				if c.newPath != "" {
					want[c.newPath] = c.after
				}
				patch.Write(textdiff.Git(c.oldPath, c.newPath, []byte(c.before), []byte(c.after), 3))
			}
			cmd := exec.Command("git", "apply", "--whitespace=nowarn")
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch.Bytes())
			cmd.Env = append(os.Environ(), "GIT_DIR=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, patch.Bytes())
			}
			if diff := cmp.Diff(want, files(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s\n%s", diff, patch.Bytes())
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// files returns all files below dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		found[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
