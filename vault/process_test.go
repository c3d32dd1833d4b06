package vault_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/vault"
)

// The tests of this file start the test binary again, with a role in roleEnv,
// as another process on the same vault.
const roleEnv = "VAULT_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	run := map[string]func(args []string) error{"write": writeMany, "die": die, "full": fillDisk}[role]
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

// process makes the command for a process with a role.
func process(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

const writers, perWriter = 8, 50

// writeMany sets names of its own, one in each update, and reads all the time.
func writeMany(args []string) error {
	ctx := context.Background()
	v, err := vault.Open(ctx, args[0], goodKey, nil)
	if err != nil {
		return err
	}
	p, err := v.Profile(vault.Default)
	if err != nil {
		return err
	}
	for i := range perWriter {
		name := fmt.Sprintf("N%s_%d", args[1], i)
		if err := v.Update(ctx, func(tx *vault.Tx) error { return tx.Set(vault.Default, name, name) }); err != nil {
			return err
		}
		if s, _, err := p.Get(name); err != nil || s.Reveal() != name {
			return fmt.Errorf("what was just set reads as %q: %w", s.Reveal(), err)
		}
		fmt.Println(name)
	}
	return v.Close()
}

// TestProcesses: 8 processes with 50 updates each lose none. This one reads
// whenever one of them tells of an update, and sees it.
func TestProcesses(t *testing.T) {
	t.Parallel()
	v, dir := create(t)
	told := make(chan string)
	ended := make(chan error)
	for i := range writers {
		cmd := process(t.Context(), "write", dir, strconv.Itoa(i))
		out, err := cmd.StdoutPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				told <- lines.Text()
			}
			ended <- cmd.Wait()
		}()
	}
	p, reads := profile(t, v, vault.Default), 0
	for running := writers; running > 0; {
		select {
		case name := <-told:
			reads++
			wantGet(t, p, name, name, "vault:default")
		case err := <-ended:
			running--
			if err != nil {
				t.Error(err)
			}
		}
	}
	names, err := profile(t, open(t, dir), vault.Default).Names()
	if err != nil || len(names) != writers*perWriter {
		t.Errorf("%d names are there and %v, want %d", len(names), err, writers*perWriter)
	}
	gen, err := v.Generation()
	if err != nil || gen != writers*perWriter+1 {
		t.Errorf("the generation is %d and %v", gen, err)
	}
	t.Logf("%d names after %d updates; %d reads meanwhile", len(names), gen-1, reads)
}

// changes are what is interrupted. Each finds A = "old" and makes it "new",
// or leaves it.
var changes = map[string]func(ctx context.Context, v *vault.Vault) error{
	"update": func(ctx context.Context, v *vault.Vault) error {
		return v.Update(ctx, func(tx *vault.Tx) error { return tx.Set(vault.Default, "A", "new") })
	},
	"rotate": func(ctx context.Context, v *vault.Vault) error { return v.Rotate(ctx, goodKey) },
	"add":    func(ctx context.Context, v *vault.Vault) error { return v.AddSlot(ctx, otherKey) },
}

// die makes a change and kills itself after that many operations on the file
// system.
func die(args []string) error {
	left, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	armed := false
	root, err := vault.Traced(args[1], func(rootfs.Event) {
		if !armed {
			return
		}
		if left--; left < 0 {
			kill()
		}
	})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if args[0] == "create" {
		armed = true
		_, err := vault.CreateTraced(ctx, root, goodKey)
		return err
	}
	v, err := vault.OpenOn(ctx, root, goodKey)
	if err != nil {
		return err
	}
	armed = true
	if change := revocations[args[0]]; change != nil {
		return change(ctx, v)
	}
	return changes[args[0]](ctx, v)
}

// TestKilled kills a process after each operation of a save: what is there
// opens, old or new, and so does the backup, and the next update works.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := 0
			for ; ; points++ {
				v, dir := create(t)
				set(t, v, "A", "old")
				err := process(t.Context(), "die", name, dir, strconv.Itoa(points)).Run()
				value := wantWhole(t, dir)
				if err == nil {
					if name == "update" && value != "new" {
						t.Errorf("after a whole update A is %q", value)
					}
					break
				}
				if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() > 0 {
					t.Fatalf("point %d: %v", points, err)
				}
				set(t, open(t, dir), "A", "next")
				if left, err := filepath.Glob(filepath.Join(dir, rootfs.TempPrefix+"*")); err != nil || len(left) > 0 {
					t.Errorf("point %d: %q is left, %v", points, left, err)
				}
			}
			if points < 10 {
				t.Errorf("only %d points were reached", points)
			}
			t.Logf("killed at %d points", points)
		})
	}
}

// wantWhole checks that the vault opens and every part of it does, and the
// backup if there is one, and returns the value of A.
func wantWhole(t *testing.T, dir string) string {
	t.Helper()
	v := open(t, dir)
	if err := v.Verify(t.Context()); err != nil {
		t.Errorf("Verify: %v", err)
	}
	s, _, err := profile(t, v, vault.Default).Get("A")
	if err != nil || s.Reveal() != "old" && s.Reveal() != "new" {
		t.Errorf("A is %q and %v, want the old or the new value", s.Reveal(), err)
	}
	bak, err := os.ReadFile(filepath.Join(dir, "vault.bak"))
	if errors.Is(err, os.ErrNotExist) {
		return s.Reveal()
	}
	other := filepath.Join(t.TempDir(), "bak")
	if err := errors.Join(err, os.Mkdir(other, 0o700), os.WriteFile(filepath.Join(other, "vault.json"), bak, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := open(t, other).Verify(t.Context()); err != nil {
		t.Errorf("the backup: %v", err)
	}
	return s.Reveal()
}

// TestKilledInCreate: there is a whole vault or none, and then one can be made.
func TestKilledInCreate(t *testing.T) {
	t.Parallel()
	points, none := 0, 0
	for ; ; points++ {
		dir := filepath.Join(t.TempDir(), "v")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := process(t.Context(), "die", "create", dir, strconv.Itoa(points)).Run()
		switch code := opens(t, dir, goodKey); code {
		case "":
		case vault.CodeMissing:
			none++
			v, err := vault.Create(t.Context(), dir, goodKey)
			if err != nil {
				t.Fatalf("point %d: Create afterwards: %v", points, err)
			}
			v.Close()
		default:
			t.Errorf("point %d: Open gave %q", points, code)
		}
		if err == nil {
			break
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() > 0 {
			t.Fatalf("point %d: %v", points, err)
		}
	}
	if points < 5 || none == 0 || none > points {
		t.Errorf("%d points, no vault at %d of them", points, none)
	}
	t.Logf("killed at %d points, no vault yet at %d", points, none)
}

// fillDisk makes changes while no file may grow beyond a size, and expects all
// to fail.
func fillDisk(args []string) error {
	size, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	v, err := vault.Open(ctx, args[0], goodKey, nil)
	if err != nil {
		return err
	}
	restore, err := limitFiles(size)
	if err != nil {
		return err
	}
	for _, name := range args[2:] {
		if code := vault.CodeOf(changes[name](ctx, v)); code != vault.CodeIO {
			err = errors.Join(err, fmt.Errorf("%s with no room gave code %q", name, code))
		}
	}
	return errors.Join(err, restore(), v.Close())
}

// TestDiskFull: with room for a part of the backup or of the new file only, the
// old one stays.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if !canLimitFiles {
		t.Skip("the size of files cannot be limited on this system")
	}
	v, dir := create(t)
	set(t, v, "A", "old")
	before := string(read(t, dir, "vault.json"))
	check := func(size int, names ...string) {
		t.Helper()
		if err := process(t.Context(), "full", append([]string{dir, strconv.Itoa(size)}, names...)...).Run(); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		if string(read(t, dir, "vault.json")) != before {
			t.Errorf("%d bytes: the file changed", size)
		}
		wantWhole(t, dir)
		if list := strings.Count(dirText(t, dir), rootfs.TempPrefix); list > 0 {
			t.Errorf("%d bytes: %d temporary files are left", size, list)
		}
	}
	for _, size := range []int{0, 1, 500, len(before) - 1} {
		check(size, "update", "rotate", "add")
	}
	// Here the backup has room, and the file with one more slot has not.
	check(len(before), "add")
}
