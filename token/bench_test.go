//go:build unix

package token_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/token"
)

// BenchmarkIssueAndConsume compares a token's issue and durable consumption
// with the simplest store that keeps the same promise: one file per token,
// written beside, synced, renamed, its directory synced; consumed by a rename
// and a sync of the directory. The two take turns, so that both see the same
// machine; cpu-ratio is the figure that counts.
func BenchmarkIssueAndConsume(b *testing.B) {
	ctx := context.Background()
	store, err := token.Open(filepath.Join(b.TempDir(), "log"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	files := fileStore{dir: b.TempDir()}
	claim := benchClaim()
	const batch = 20
	var logCPU, fileCPU, logTime, fileTime time.Duration
	pairs := 0
	for b.Loop() {
		var leases []*token.Lease
		measure(&logCPU, &logTime, func() {
			for range batch {
				tok, err := store.Issue(ctx, claim)
				if err != nil {
					b.Fatal(err)
				}
				lease, err := store.Begin(ctx, tok.Reveal(), claim)
				if err != nil {
					b.Fatal(err)
				}
				leases = append(leases, lease)
			}
		})
		for _, lease := range leases {
			if err := lease.Commit(ctx, nil); err != nil {
				b.Fatal(err)
			}
		}
		measure(&fileCPU, &fileTime, func() {
			for range batch {
				name, err := files.issue(claim)
				if err != nil {
					b.Fatal(err)
				}
				if err := files.consume(name); err != nil {
					b.Fatal(err)
				}
			}
		})
		pairs += batch
	}
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(pairs) }
	b.ReportMetric(per(logCPU), "log-cpu-us/pair")
	b.ReportMetric(per(fileCPU), "file-cpu-us/pair")
	b.ReportMetric(per(logCPU)/per(fileCPU), "cpu-ratio")
	b.ReportMetric(per(logTime)/per(fileTime), "wall-ratio")
}

// BenchmarkIssueFull issues into a store that is full, so that each token
// pushes out another.
func BenchmarkIssueFull(b *testing.B) {
	store, err := token.Open(b.TempDir(), &token.Options{MaxPerSubject: 1024})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	claim := benchClaim()
	for range 1024 {
		if _, err := store.Issue(b.Context(), claim); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	var cpu, wall time.Duration
	issued := 0
	for b.Loop() {
		measure(&cpu, &wall, func() {
			if _, err := store.Issue(b.Context(), claim); err != nil {
				b.Fatal(err)
			}
		})
		issued++
	}
	b.ReportMetric(float64(cpu.Microseconds())/float64(issued), "cpu-us/op")
}

// BenchmarkSeal seals and opens a cursor.
func BenchmarkSeal(b *testing.B) {
	s, err := token.OpenSigner(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	plain, bound := []byte("offset 20"), make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		sealed, err := s.Seal(plain, bound)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Open(sealed, bound); err != nil {
			b.Fatal(err)
		}
	}
}

func benchClaim() token.Claim {
	return token.Claim{
		Project: "atlas", Kind: "apply", Subject: "writer-1", Tool: "candidate_apply",
		Input:    []byte(`{"candidateId":"intro"}`),
		Manifest: "3f1e0000000000000000000000000000000000000000000000000000000000aa",
		Base:     map[string]string{"docs/intro.md": "9a000000000000000000000000000000000000000000000000000000000000bb"},
		Approved: true,
	}
}

// measure adds the CPU and wall time that fn takes.
func measure(cpu, wall *time.Duration, fn func()) {
	before, start := usage(), time.Now()
	fn()
	*wall += time.Since(start)
	*cpu += usage() - before
}

func usage() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fileStore keeps each token in a file of its own.
type fileStore struct{ dir string }

func (s fileStore) issue(claim token.Claim) (string, error) {
	data, err := json.Marshal(claim)
	if err != nil {
		return "", err
	}
	name := filepath.Join(s.dir, rand.Text())
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		return "", err
	}
	return name, s.syncDir()
}

func (s fileStore) consume(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var claim token.Claim
	if err := json.Unmarshal(data, &claim); err != nil {
		return err
	}
	if err := os.Rename(name, name+".used"); err != nil {
		return fmt.Errorf("consume: %w", err)
	}
	return s.syncDir()
}

func (s fileStore) syncDir() error {
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
