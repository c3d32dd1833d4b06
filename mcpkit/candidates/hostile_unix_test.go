//go:build unix

package candidates_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

// put replaces an entry of the project by what plant puts in its place.
func put(name string, plant func(p *project, full string) error) func(p *project) {
	return func(p *project) {
		p.tb.Helper()
		full := filepath.Join(p.root, filepath.FromSlash(name))
		if err := os.RemoveAll(full); err != nil {
			p.tb.Fatal(err)
		}
		if err := plant(p, full); err != nil {
			p.tb.Fatal(err)
		}
	}
}

// link makes a symbolic link; ROOT in target stands for the root.
func link(target string) func(p *project, full string) error {
	return func(p *project, full string) error {
		if target[0] == '@' {
			target = p.root + target[1:]
		}
		return os.Symlink(target, full)
	}
}

// hardLink makes another name of a file, given relative to the root.
func hardLink(old string) func(p *project, full string) error {
	return func(p *project, full string) error { return os.Link(filepath.Join(p.root, old), full) }
}

func fifo(_ *project, full string) error { return syscall.Mkfifo(full, 0o600) }

func socket(p *project, full string) error {
	// Bound where its name is short, as that of a socket has to be.
	l, err := (&net.ListenConfig{}).Listen(p.tb.Context(), "unix", filepath.Join(os.TempDir(), fmt.Sprintf("candidates-%d.sock", os.Getpid())))
	if err != nil {
		return err
	}
	p.tb.Cleanup(func() { l.Close() })
	return os.Rename(l.Addr().String(), full)
}

func device(p *project, full string) error {
	if err := syscall.Mknod(full, syscall.S_IFCHR|0o666, 1<<8|5); err != nil {
		p.tb.Skipf("making a device needs privilege: %v", err)
	}
	return nil
}

// kinds are what may stand where a file should, by name.
func kinds() map[string]func(p *project, full string) error {
	return map[string]func(p *project, full string) error{
		"link to outside":               link("../../../../../secret"),
		"absolute link to outside":      link("/etc/passwd"),
		"absolute link inside":          link("@/docs/keep.md"),
		"link inside":                   link("keep.md"),
		"link out and back in":          link("../../../../../root/docs/keep.md"),
		"link to itself":                link("plan.md"),
		"dangling link":                 link("nowhere.md"),
		"dangling link to outside":      link("../../../../../new-secret"),
		"link to /proc/self/root":       link("/proc/self/root/etc/passwd"),
		"link to an open file":          link("/proc/self/fd/0"),
		"hard link to a file of others": hardLink("../secret"),
		"hard link inside":              hardLink("docs/keep.md"),
		"FIFO":                          fifo,
		"socket":                        socket,
		"device":                        device,
	}
}

// TestPlantedKinds has each kind in place of a staged file, of a target, and of the directories on the way to them.
func TestPlantedKinds(t *testing.T) {
	var rows []plantedRow
	for name, kind := range kinds() {
		rows = append(rows,
			plantedRow{name + " as a staged file", kept(put(staged+"docs/plan.md", kind)), "candidate_unsafe", ""},
			plantedRow{name + " as a target", kept(put("docs/plan.md", kind)), "", "target_unsafe"},
		)
	}
	for name, target := range map[string]string{"out": "../../../../out", "absolute": "/etc", "inside": "../../../docs", "itself": "docs"} {
		rows = append(rows, plantedRow{"link as a staged directory, " + name, put(staged+"docs", link(target)), "candidate_unsafe", ""})
	}
	for name, target := range map[string]string{"out": "../out/docs", "absolute": "/etc", "inside": ".git", "itself": "docs"} {
		rows = append(rows, plantedRow{"link as a target's directory, " + name, put("docs", link(target)), "", "target_unsafe"})
	}
	runPlanted(t, append(rows,
		plantedRow{"link as the candidate", put(".mcpcontract/stage/new-plan", link("../../../out")), "candidate_unsafe", ""},
		plantedRow{"link as the stage", put(".mcpcontract/stage", link("../../out")), "candidate_unsafe", ""},
	))
}

// TestPlantedOwn has hostile kinds in place of the files that the server keeps for itself.
func TestPlantedOwn(t *testing.T) {
	for _, row := range []struct {
		name, code string
		plant      func(p *project)
	}{
		{"FIFO as the lock", "candidate_unsafe", put(".mcpcontract/lock", fifo)},
		{"link as the lock", "candidate_unsafe", put(".mcpcontract/lock", link("../../secret"))},
		{"FIFO as the journal", "candidate_unsafe", put(".mcpcontract/journal", fifo)},
		{"link as the journal", "candidate_unsafe", put(".mcpcontract/journal", link("../../secret"))},
		{"link as the receipts", "candidate_unsafe", put(".mcpcontract/receipts", link("../../out"))},
		{"link as the approvals", "store_io", put(".mcpcontract/tokens/approvals.log", link("../../../secret"))},
		{"FIFO as the approvals", "store_io", put(".mcpcontract/tokens/approvals.log", fifo)},
		{"FIFO as the lock of the approvals", "store_io", put(".mcpcontract/tokens/approvals.lock", fifo)},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newSurrounded(t)
			c := dialStdio(t, role{Root: p.root}, wiretest.Stateless, &wiretest.Client{Name: "zed"})
			tok := p.propose(t, c)
			row.plant(p.in(t))
			before := p.outsideStage(t)
			if r, text := call(t, c, "candidate_apply", apply(tok)); r.Error.Code != row.code {
				t.Errorf("got %s, want %s", text, row.code)
			}
			if diff := cmp.Diff(before, p.outsideStage(t)); diff != "" {
				t.Errorf("changed (-before +after):\n%s", diff)
			}
		})
	}
}

// kept adds a file to which a row can link.
func kept(plant func(p *project)) func(p *project) {
	return func(p *project) {
		p.tb.Helper()
		p.write(p.tb, "docs/keep.md", "kept\n")
		plant(p)
	}
}
