// Package bench compares packages of this library with their peers. It is a
// module of its own, so that the peers are no requirement of the library.
//
//	go test -bench . ./...
//
// BenchmarkExpand sets normalize.Expand beside os.Expand and other expanders,
// BenchmarkExpandRatio measures it against os.Expand alone in interleaved
// rounds, and BenchmarkExpandHostile times texts that were written to be slow.
// BenchmarkRegistryRatio does the same for loading registries, beside the plain
// strict decoders of encoding/json and yaml.v3.
// BenchmarkDiffRatio sets textdiff beside other diff libraries, on texts that
// differ little, wholly, or in the order of their lines.
// Times on a shared machine say little; allocations are held by the tests of
// the packages themselves.
package bench
