package vault_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/vault"
)

// revocations are the changes after which otherKey is to open nothing.
var revocations = map[string]func(ctx context.Context, v *vault.Vault) error{
	"revoke by removing": func(ctx context.Context, v *vault.Vault) error {
		list, err := v.Slots()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(s vault.Slot) bool { return s.Kind == otherKey.kind })
		if i < 0 {
			return &vault.Error{Code: vault.CodeSlotMissing}
		}
		return v.RemoveSlot(ctx, list[i].ID)
	},
	"revoke by rotating": func(ctx context.Context, v *vault.Vault) error { return v.Rotate(ctx, goodKey) },
}

// shared makes a vault with a backup, and with a file that a crash left, all of
// which goodKey and otherKey open.
func shared(t *testing.T) (v *vault.Vault, dir string) {
	t.Helper()
	v, dir = create(t)
	if err := v.AddSlot(t.Context(), otherKey); err != nil {
		t.Fatal(err)
	}
	set(t, v, "A", "older")
	set(t, v, "A", "old")
	write(t, dir, rootfs.TempPrefix+"left", read(t, dir, "vault.json"))
	if got := openedBy(t, dir, otherKey); len(got) != 3 {
		t.Fatalf("the other key opens %q, want all three", got)
	}
	return v, dir
}

// openedBy lists the files of the vault that the key opens.
func openedBy(t *testing.T, dir string, p vault.KeyProvider) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var opened []string
	for _, entry := range list {
		if vault.UnlockForTest(read(t, dir, entry.Name()), p) != nil {
			opened = append(opened, entry.Name())
		}
	}
	return opened
}

// wantRevoked checks that the key opens nothing if it does not open the vault
// itself, and nothing in any case if it is certain to be revoked.
func wantRevoked(t *testing.T, what, dir string, certain bool) {
	t.Helper()
	got := openedBy(t, dir, otherKey)
	if len(got) > 0 && (certain || !slices.Contains(got, "vault.json")) {
		t.Errorf("%s: the revoked key opens %q", what, got)
	}
}

// TestRevokedWhenKilled kills a process after each operation of a revocation:
// there is no state in which the key is gone from the vault and opens something
// else beside it, and after a retry it opens nothing.
func TestRevokedWhenKilled(t *testing.T) {
	t.Parallel()
	for name, revoke := range revocations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for points := 0; ; points++ {
				what := fmt.Sprint("killed at ", points)
				_, dir := shared(t)
				err := process(t.Context(), "die", name, dir, strconv.Itoa(points)).Run()
				wantRevoked(t, what, dir, err == nil)
				wantWhole(t, dir)
				if err == nil {
					if points < 10 {
						t.Errorf("only %d points were reached", points)
					}
					return
				}
				if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() > 0 {
					t.Fatalf("point %d: %v", points, err)
				}
				v := open(t, dir)
				if err := revoke(t.Context(), v); err != nil && vault.CodeOf(err) != vault.CodeSlotMissing {
					t.Errorf("%s: the retry gave %v", what, err)
				}
				wantRevoked(t, what+", and done again", dir, true)
				set(t, v, "A", "next")
				wantRevoked(t, what+", and written", dir, true)
			}
		})
	}
}

// TestRevokedWithFaults is TestRevokedWhenKilled with one operation that fails.
func TestRevokedWithFaults(t *testing.T) {
	t.Parallel()
	for name, revoke := range revocations {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, carried out %v", name, after), func(t *testing.T) {
				t.Parallel()
				for points := 0; ; points++ {
					_, dir := shared(t)
					root, err := vault.Traced(dir, func(rootfs.Event) {})
					if err != nil {
						t.Fatal(err)
					}
					f := &faulty{Files: root, left: points, after: after}
					v, err := vault.OpenOn(t.Context(), f, goodKey)
					if err != nil {
						t.Fatal(err)
					}
					f.armed = true
					err = revoke(t.Context(), v)
					f.armed = false
					what := fmt.Sprint("failed at ", points)
					wantRevoked(t, what, dir, err == nil)
					wantWhole(t, dir)
					if err := revoke(t.Context(), v); err != nil && vault.CodeOf(err) != vault.CodeSlotMissing {
						t.Errorf("%s: the retry gave %v", what, err)
					}
					wantRevoked(t, what+", and done again", dir, true)
					v.Close()
					if !f.done {
						break
					}
				}
			})
		}
	}
}

// TestRevokeWithoutRoom: a revocation for which there is no room fails, and
// both files stay.
func TestRevokeWithoutRoom(t *testing.T) {
	t.Parallel()
	if !canLimitFiles {
		t.Skip("the size of files cannot be limited on this system")
	}
	_, dir := shared(t)
	before := read(t, dir, "vault.bak")
	if err := process(t.Context(), "full", dir, "100", "rotate").Run(); err != nil {
		t.Error(err)
	}
	if string(before) != string(read(t, dir, "vault.bak")) {
		t.Error("the backup changed")
	}
	wantWhole(t, dir)
}

// TestFullDiskKeepsBackup: a save without room for all it writes changes
// neither the vault nor the state before, however much of it finds room.
func TestFullDiskKeepsBackup(t *testing.T) {
	t.Parallel()
	if !canLimitFiles {
		t.Skip("the size of files cannot be limited on this system")
	}
	v, dir := create(t)
	set(t, v, "A", "old")
	file, bak := string(read(t, dir, "vault.json")), string(read(t, dir, "vault.bak"))
	for _, size := range []int{0, len(file) - 1, len(file)} {
		if err := process(t.Context(), "full", dir, strconv.Itoa(size), "add").Run(); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		if file != string(read(t, dir, "vault.json")) || bak != string(read(t, dir, "vault.bak")) {
			t.Errorf("%d bytes: a file changed", size)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, rootfs.TempPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%s is left, %v", strings.Join(left, ", "), err)
	}
}
