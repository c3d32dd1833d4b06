package bench

import (
	"testing"
	"time"
)

// BenchmarkExpandRatio reports the time of our expander as a multiple of that
// of os.Expand. The two take turns, and the fastest round of each counts, since
// on a shared machine two benchmarks in a row say little about each other.
func BenchmarkExpandRatio(b *testing.B) {
	env := environment()
	theirs, mine := osExpand(env), ours(env)
	for _, text := range texts() {
		b.Run(text.name, func(b *testing.B) {
			best := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for range 25 {
					for i, expand := range []func(string) string{theirs, mine} {
						best[i] = min(best[i], measure(expand, text.in))
					}
				}
			}
			b.ReportMetric(float64(best[1])/float64(best[0]), "x-os.Expand")
			b.ReportMetric(float64(best[1].Nanoseconds())/rounds, "best-ns")
		})
	}
}

const rounds = 500

func measure(expand func(string) string, s string) time.Duration {
	start := time.Now()
	for range rounds {
		expand(s)
	}
	return time.Since(start)
}
