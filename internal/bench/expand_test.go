package bench

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	a8m "github.com/a8m/envsubst/parse"
	"github.com/buildkite/interpolate"
	"github.com/drone/envsubst"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// The environment of the comparison: 100 names and one that texts use most.
func environment() map[string]string {
	env := map[string]string{"TOKEN": "tok-0123456789"}
	for i := range 100 {
		env["VAR_"+strconv.Itoa(i)] = "value-" + strconv.Itoa(i)
	}
	return env
}

// texts are the inputs, of which each engine can read the spelling.
func texts() []struct{ name, in string } {
	var many strings.Builder
	for i := range 100 {
		many.WriteString("some text between, and more ${VAR_" + strconv.Itoa(i) + "} ")
	}
	return []struct{ name, in string }{
		{"none", "https://api.example.com/v1/mcp?client=acme-"},
		{"one", "Bearer ${TOKEN}"},
		{"defaults", strings.Repeat("${UNSET:-default} ", 10)},
		{"many", many.String()},
		{"large", strings.Repeat("no variable in here ", 3276)},
		{"nested", strings.Repeat("${UNSET:-${UNSET:-${TOKEN}}} ", 8)},
	}
}

// osExpand is os.Expand with the usual mapping that knows defaults.
func osExpand(env map[string]string) func(string) string {
	mapping := func(name string) string {
		key, def, _ := strings.Cut(name, ":-")
		if v, ok := env[key]; ok {
			return v
		}
		return def
	}
	return func(s string) string { return os.Expand(s, mapping) }
}

func ours(env map[string]string) func(string) string {
	vars := func(name string) (value, origin string, ok bool) {
		value, ok = env[name]
		return value, "env", ok
	}
	return func(s string) string {
		out, _, err := normalize.Expand(s, vars)
		if err != nil {
			panic(err)
		}
		return out
	}
}

func regexpExpand(env map[string]string) func(string) string {
	ref := regexp.MustCompile(`\$\{([^}]+)\}`)
	return func(s string) string {
		return ref.ReplaceAllStringFunc(s, func(m string) string {
			key, def, has := strings.Cut(m[2:len(m)-1], ":-")
			if v, ok := env[key]; ok {
				return v
			} else if has {
				return def
			}
			return m
		})
	}
}

func a8mExpand(env map[string]string) func(string) string {
	var list []string
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	return func(s string) string {
		out, err := a8m.New("bench", list, a8m.Relaxed).Parse(s)
		if err != nil {
			panic(err)
		}
		return out
	}
}

func droneExpand(env map[string]string) func(string) string {
	return func(s string) string {
		out, err := envsubst.Eval(s, func(k string) string { return env[k] })
		if err != nil {
			panic(err)
		}
		return out
	}
}

func buildkiteExpand(env map[string]string) func(string) string {
	vars := interpolate.NewMapEnv(env)
	return func(s string) string {
		out, err := interpolate.Interpolate(vars, s)
		if err != nil {
			panic(err)
		}
		return out
	}
}

func BenchmarkExpand(b *testing.B) {
	env := environment()
	engines := []struct {
		name   string
		expand func(string) string
	}{
		{"osExpand", osExpand(env)},
		{"normalize", ours(env)},
		{"regexp", regexpExpand(env)},
		{"a8m", a8mExpand(env)},
		{"drone", droneExpand(env)},
		{"buildkite", buildkiteExpand(env)},
	}
	for _, text := range texts() {
		for _, e := range engines {
			b.Run(text.name+"/"+e.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					e.expand(text.in)
				}
			})
		}
	}
}

// BenchmarkExpandHostile times texts that were written to be slow. A text that
// is refused gives its error at once.
func BenchmarkExpandHostile(b *testing.B) {
	fill := func(s string) string { return strings.Repeat(s, (64<<10)/len(s)) }
	texts := []struct{ name, in string }{
		{"nested", strings.Repeat("${UNSET:-", 10000) + strings.Repeat("}", 10000)},
		{"nested within the limit", strings.Repeat("${UNSET:-", 7000)},
		{"never closed", strings.Repeat("${A:-", 10000)},
		{"side by side", fill("${UNSET:-x} ")},
		{"a million", strings.Repeat("${A:-", 1<<20)},
		{"dollars", fill("$")},
		{"empty braces", fill("${}")},
		{"open commands", fill("$(")},
		{"far placeholders", fill("$<") + ">"},
		{"backquotes", fill("`")},
		{"lower-case names", fill("$a ")},
		{"deep and padded", strings.Repeat("${A:-", 15) + fill("{}")[:60<<10]},
		{"deep and closed", strings.Repeat("${A:-", 16) + fill("{}")[:60<<10] + strings.Repeat("}", 16)},
	}
	vars := func(string) (value, origin string, ok bool) { return "", "", false }
	for _, text := range texts {
		b.Run(text.name, func(b *testing.B) {
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				_, _, _ = normalize.Expand(text.in, vars)
				best = min(best, time.Since(start))
			}
			b.ReportMetric(best.Seconds()*1000, "best-ms")
		})
	}
}
