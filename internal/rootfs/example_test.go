package rootfs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A small project, with a link to a file outside it.
func project() (dir string, remove func()) {
	base, err := os.MkdirTemp("", "rootfs")
	if err != nil {
		panic(err)
	}
	dir = filepath.Join(base, "project")
	_ = os.MkdirAll(filepath.Join(dir, "docs"), 0o755)
	_ = os.WriteFile(filepath.Join(dir, "docs", "plan.md"), []byte("# Plan\n"), 0o644)
	_ = os.WriteFile(filepath.Join(base, "secret"), nil, 0o600)
	_ = os.Symlink(filepath.Join("..", "..", "secret"), filepath.Join(dir, "docs", "notes.md"))
	return dir, func() { _ = os.RemoveAll(base) }
}

func Example() {
	dir, remove := project()
	defer remove()

	root, err := rootfs.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	data, err := root.ReadFile("docs/plan.md", 1<<20)
	fmt.Printf("%q %v\n", data, err)
	for _, path := range []string{"docs/notes.md", "docs/../../secret", "docs/none.md"} {
		_, err := root.ReadFile(path, 1<<20)
		fmt.Println(rootfs.CodeOf(err), "-", err)
	}
	// Output:
	// "# Plan\n" <nil>
	// link - read "docs/notes.md": a symbolic link, which is never followed
	// path_invalid - read "docs/../../secret": path refused: it contains the part ".."
	// not_found - read "docs/none.md": not found
}

func ExampleOpen() {
	dir, remove := project()
	defer remove()

	// Count what fails, and use what every system has.
	failed := 0
	root, err := rootfs.Open(dir, &rootfs.Options{
		Portable: true,
		Trace: func(e rootfs.Event) {
			if e.Err != nil {
				failed++
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	_, _ = root.ReadFile("docs/plan.md", 1<<20)
	_, _ = root.ReadFile("docs/none.md", 1<<20)
	fmt.Println(failed, "operation failed")
	// Output: 1 operation failed
}

func ExampleRoot_Walk() {
	dir, remove := project()
	defer remove()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	limits := &rootfs.Limits{Entries: 1000, HashBytes: 1 << 20}
	err = root.Walk(context.Background(), ".", limits, func(i rootfs.Info) error {
		switch {
		case i.Err != nil:
			fmt.Println(i.Path, "left out:", rootfs.CodeOf(i.Err))
		case i.Mode.IsRegular():
			fmt.Printf("%s %x\n", i.Path, i.Sum[:4])
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// docs/notes.md left out: link
	// docs/plan.md c3964bb3
	// <nil>
}

func ExampleRoot_Create() {
	dir, remove := project()
	defer remove()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	// What WriteFile does, in steps: for several files that change together.
	write := func() error {
		temp := "docs/" + rootfs.TempPrefix + "1"
		f, err := root.Create(temp, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := f.Write([]byte("# New plan\n")); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		if err := root.Rename(temp, "docs/plan.md"); err != nil {
			return err
		}
		return root.SyncDir("docs")
	}
	fmt.Println(write())
	data, err := root.ReadFile("docs/plan.md", 1<<20)
	fmt.Printf("%q %v\n", data, err)
	// Output:
	// <nil>
	// "# New plan\n" <nil>
}

func ExampleRoot_Lock() {
	dir, remove := project()
	defer remove()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	lock, err := root.Lock(context.Background(), "lock")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err = root.Lock(ctx, "lock")
	fmt.Println(err)
	fmt.Println(lock.Unlock())
	// Output:
	// lock "lock": locked by another holder: context deadline exceeded
	// <nil>
}

func ExampleReadNamed() {
	dir, remove := project()
	defer remove()

	name := filepath.Join(dir, "docs", "plan.md")
	data, err := rootfs.ReadNamed(name, 1<<20)
	fmt.Printf("%q %v\n", data, err)
	_, err = rootfs.ReadNamed(name, 3)
	fmt.Println(rootfs.CodeOf(err))
	// Output:
	// "# Plan\n" <nil>
	// too_large
}

func ExampleWriteNamed() {
	dir, remove := project()
	defer remove()

	name := filepath.Join(dir, "out: 1.html")
	fmt.Println(rootfs.WriteNamed(name, []byte("<p>"), 0o644))
	fmt.Println(rootfs.CodeOf(rootfs.WriteNamed(dir, nil, 0o644)))
	// Output:
	// <nil>
	// not_regular
}

func ExampleCheck() {
	for _, path := range []string{"docs/plan.md", "/etc/passwd", "docs/nul.txt", ".GIT/config"} {
		fmt.Println(rootfs.Check(path))
	}
	// Output:
	// <nil>
	// check "/etc/passwd": path refused: it is absolute, ends with a slash or has an empty part
	// check "docs/nul.txt": path refused: "nul.txt" is a device name of Windows
	// check ".GIT/config": path refused: it leads into ".GIT"
}

func ExampleFoldKey() {
	fmt.Println(rootfs.FoldKey("Docs/STRASSE.md") == rootfs.FoldKey("docs/straße.md"))
	// Output: true
}
