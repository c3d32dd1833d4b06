//go:build unix

package token_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/token"
)

// BenchmarkIssueAndConsume compares a token's issue and durable consumption
// with the simplest store that keeps the same promise: one file per token,
// written beside, synced, renamed, its directory synced; consumed by a rename
// and a sync of the directory. The two take turns, so that both see the same
// machine; the figures are medians over the turns, the ratios those of each
// turn. cpu-ratio is the one to look at.
func BenchmarkIssueAndConsume(b *testing.B) {
	ctx := b.Context()
	store, err := token.Open(filepath.Join(b.TempDir(), "log"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	files := fileStore{dir: b.TempDir()}
	claim := benchClaim()
	const batch = 20
	var logCost, fileCost costs
	for b.Loop() {
		var leases []*token.Lease
		logCost.measure(func() {
			for range batch {
				leases = append(leases, issueAndBegin(b, store, claim))
			}
		})
		for _, lease := range leases {
			if err := lease.Commit(ctx, nil); err != nil {
				b.Fatal(err)
			}
		}
		fileCost.measure(func() {
			for range batch {
				if err := files.issueAndConsume(claim); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.ReportMetric(median(ratios(logCost.cpu, fileCost.cpu)), "cpu-ratio")
	b.ReportMetric(median(ratios(logCost.wall, fileCost.wall)), "wall-ratio")
	b.ReportMetric(median(logCost.cpu)/batch, "log-cpu-us/pair")
	b.ReportMetric(median(fileCost.cpu)/batch, "file-cpu-us/pair")
}

func issueAndBegin(b *testing.B, store *token.Store, claim token.Claim) *token.Lease {
	b.Helper()
	tok, err := store.Issue(b.Context(), claim)
	if err != nil {
		b.Fatal(err)
	}
	lease, err := store.Begin(b.Context(), tok.Reveal(), claim)
	if err != nil {
		b.Fatal(err)
	}
	return lease
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
	var cost costs
	for b.Loop() {
		cost.measure(func() {
			if _, err := store.Issue(b.Context(), claim); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(median(cost.cpu), "cpu-us/op")
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

// costs are what measured calls took, in microseconds.
type costs struct{ cpu, wall []float64 }

func (c *costs) measure(fn func()) {
	before, start := usage(), time.Now()
	fn()
	c.wall = append(c.wall, float64(time.Since(start).Microseconds()))
	c.cpu = append(c.cpu, float64((usage() - before).Microseconds()))
}

// usage is the CPU time of the process so far.
func usage() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func ratios(a, b []float64) []float64 {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = a[i] / b[i]
	}
	return list
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// fileStore keeps each token in a file of its own.
type fileStore struct{ dir string }

func (s fileStore) issueAndConsume(claim token.Claim) error {
	name, err := s.issue(claim)
	if err != nil {
		return err
	}
	return s.consume(name)
}

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
