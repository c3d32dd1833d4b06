package docgraph_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
)

// BenchmarkUnchanged brings a project up to date in which nothing changed, in
// turn with asking the kernel for the same: the names in each folder and the
// state of each file. The metric "x-raw" is the least processor time taken as a
// multiple of the least of the other, and "raw-ns" that one.
func BenchmarkUnchanged(b *testing.B) {
	for _, n := range benchmarkSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) { benchmarkUnchanged(b, many(b, n)) })
	}
}

func benchmarkUnchanged(b *testing.B, dir string) {
	b.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "docs", "*"))
	if err != nil {
		b.Fatal(err)
	}
	folders = append(folders, filepath.Join(dir, "docs"))
	p := open(b, dir, &docgraph.Options{Now: later}) // no file is too young to be known by its times
	first := graph(b, p)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	raw, ours := time.Hour, time.Hour
	for b.Loop() {
		start := cpuTime(b)
		for _, folder := range folders {
			rawList(b, folder)
		}
		middle := cpuTime(b)
		if graph(b, p) != first {
			b.Fatal("another graph")
		}
		raw = min(raw, middle-start)
		ours = min(ours, cpuTime(b)-middle)
	}
	b.ReportMetric(float64(ours)/float64(raw), "x-raw")
	b.ReportMetric(float64(raw.Nanoseconds()), "raw-ns")
	b.ReportMetric(float64(ours.Nanoseconds()), "cpu-ns")
}

// An unchanged project costs memory for its folders, and none for a single file.
func TestUnchangedAllocs(t *testing.T) {
	const files, folders = 600, 6
	dir := many(t, files)
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{})
	if err != nil {
		t.Skipf("the standard library, which is used without openat2 (%v), allocates for each file", err)
	}
	if err := unix.Close(fd); err != nil {
		t.Fatal(err)
	}
	p := open(t, dir, &docgraph.Options{Now: later})
	first := graph(t, p)
	got := testing.AllocsPerRun(10, func() {
		if graph(t, p) != first {
			t.Error("another graph")
		}
	})
	if budget := 20.0 + 4*folders; got > budget {
		t.Errorf("%.0f allocations for %d unchanged files, budget %.0f", got, files, budget)
	}
}

// rawList lists a folder and looks at each entry with no more than the system
// calls.
func rawList(b *testing.B, folder string) {
	b.Helper()
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		b.Fatal(os.NewSyscallError("open", err))
	}
	defer unix.Close(fd)
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.Getdents(fd, buf)
		if err != nil {
			b.Fatal(os.NewSyscallError("getdents", err))
		}
		if n == 0 {
			return
		}
		for rec := buf[:n]; len(rec) > 0; rec = rec[binary.NativeEndian.Uint16(rec[16:]):] {
			name, _, _ := bytes.Cut(rec[19:], []byte{0})
			var st unix.Stat_t
			if err := unix.Fstatat(fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				b.Fatal(os.NewSyscallError("fstatat", err))
			}
		}
	}
}

// cpuTime returns the processor time that the thread has used, the kernel's
// included. Unlike a clock it does not run on while other programs do.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
