package probe_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

const canary = "Plum+Jam/7 & 9%"

// texts gives every text that an error has, down to its last cause.
func texts(err error) string {
	var b strings.Builder
	for e := err; e != nil; e = errors.Unwrap(e) {
		fmt.Fprintf(&b, "%v\n%+v\n%#v\n%q\n", e, e, e, e)
	}
	if e, ok := errors.AsType[*probe.Error](err); ok {
		data, _ := json.Marshal(e.ErrorDetails())
		b.Write(data)
		b.WriteString(e.Stderr)
	}
	return b.String()
}

func TestSecretsOnStderr(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	tests := []struct {
		name   string
		change func(*normalize.Launch)
		says   []string // $ORCHARD stands for what is in the environment
		hidden []string // must be nowhere; canary if nil
	}{
		{"variable", setEnv("ORCHARD", canary), []string{"key is $ORCHARD, bad"}, nil},
		{"in an address", setEnv("ORCHARD", canary), []string{"GET /?k=" + url.QueryEscape(canary)}, []string{url.QueryEscape(canary)}},
		{"in a path", setEnv("ORCHARD", canary), []string{"GET /" + url.PathEscape(canary)}, []string{url.PathEscape(canary)}},
		{"base64", setEnv("ORCHARD", canary), []string{b64([]byte(canary))}, []string{strings.TrimRight(b64([]byte(canary)), "=")[:18]}},
		{"base64 after one byte", setEnv("ORCHARD", canary), []string{b64([]byte(":" + canary))}, []string{b64([]byte(":" + canary))[2:18]}},
		{"base64 after two bytes", setEnv("ORCHARD", canary), []string{b64([]byte("u:" + canary + "!"))}, []string{b64([]byte("u:" + canary))[3:18]}},
		{"hexadecimal", setEnv("ORCHARD", canary), []string{hex.EncodeToString([]byte(canary))}, []string{hex.EncodeToString([]byte(canary))}},
		{"quoted", setEnv("ORCHARD", `pl"um\jam`), []string{`{"key":"pl\"um\\jam"}`}, []string{`pl\"um\\jam`}},
		{"a line of it", setEnv("ORCHARD", "-----BEGIN PLUM-----\nMIIEvQIBADANBg\n-----END PLUM-----"), []string{"got MIIEvQIBADANBg"}, []string{"MIIEvQIBADANBg"}},
		{"short", setEnv("ORCHARD_PIN", "pi7"), []string{"the pin is pi7."}, []string{"pi7"}},
		{"split by a mark", setEnv("ORCHARD", "plum-jam-77"), []string{"plu\u200bm-ja\x1bm-77"}, []string{"plum-jam-77"}},
		{"after a scheme", setEnv("ORCHARD", "Bearer plum-jam-77"), []string{"got plum-jam-77"}, []string{"plum-jam-77"}},
		{"basic credentials", setEnv("ORCHARD", "Basic cGlwOnBsdW0tamFt"), []string{"pip has plum-jam"}, []string{"plum-jam"}},
		{"in JSON", setEnv("ORCHARD", `{"Authorization":"Bearer plum-jam-77","Version":"2"}`), []string{"got plum-jam-77"}, []string{"plum-jam-77"}},
		{"deep in JSON", addArgs(`--config={"a":[{"api-key":"plum\/jam"}]}`), []string{"got plum/jam"}, []string{"plum/jam"}},
		{"JSON in a text", addArgs("--note", `[note] {"api-key":"plum\/jam"} end`), []string{"got plum/jam"}, []string{"plum/jam"}},
		{"JSON in JSON", addArgs("--config", `{"a":"{\"token\":\"plum-jam\"}"}`), []string{"got plum-jam"}, []string{"plum-jam"}},
		{"JSON that is none", addArgs("--config", `{token: 'plum-jam', }`), []string{"got plum-jam"}, []string{"plum-jam"}},
		{"by its shape in JSON", addArgs("--config", `{"ripe":"Pl1um2Jam3"}`), []string{"got Pl1um2Jam3"}, []string{"Pl1um2Jam3"}},
		{"connection string", addArgs("Server=db;Password=plum jam 7;Database=y"), []string{"got plum jam 7"}, []string{"plum jam 7"}},
		{"in a script", addArgs("-c", "PEAR_SECRET='plum-jam' pear --token 'jam-plum'"), []string{"plum-jam", "jam-plum"}, []string{"plum-jam", "jam-plum"}},
		{"of the caller", nil, []string{"got caller-plum"}, []string{"caller-plum"}},
		{"part of the caller's", nil, []string{"got jam-of-caller"}, []string{"jam-of-caller"}},
		{"option of a value", addArgs("--access-token-value", "plum-jam"), nil, []string{"plum-jam"}},
		{"value with a dash", addArgs("--token", "-Plum77jam"), nil, []string{"Plum77jam"}},
		{"overlapping", setEnv("ORCHARD", "abcdabcdabcd"), []string{"abcdabcdabcdabcd"}, []string{"abcd"}},
		{"long", setEnv("ORCHARD", strings.Repeat("0123456789abcdef", 1<<11)), []string{"$ORCHARD"}, []string{"0123456789abcdef"}},
		{"forwarded", func(l *normalize.Launch) { l.EnvFrom = []string{"ORCHARD_HOST"} }, []string{"key $ORCHARD_HOST"}, []string{"host-canary"}},
		{"option", addArgs("--api-key", canary), nil, nil},
		{"option with value", addArgs("--api-key=" + canary), nil, nil},
		{"header option", addArgs("--header", "Authorization: Bearer plum-jam-77"), nil, []string{"plum-jam-77"}},
		{"by its shape", addArgs("ghp_0123456789abcdefghij"), nil, []string{"ghp_0123456789abcdefghij"}},
		{"in an argument's address", addArgs("postgres://pip:stone-7@host/db?sslkey=plum-9"), []string{"stone-7 plum-9"}, []string{"stone-7", "plum-9"}},
		{"at the cut", setEnv("ORCHARD", canary), []string{strings.Repeat(canary, 1000)}, []string{"Jam/7", "Plum"}},
	}
	t.Setenv("ORCHARD_HOST", "host-canary")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			launch := peer(t, "says", "begin")
			if test.change != nil {
				test.change(&launch)
			}
			launch.Args = append(launch.Args, test.says...)
			launch.Args = append(launch.Args, "end")
			_, err := probe.Check(t.Context(), launch, &probe.Options{Hide: []string{"caller-plum", "Bearer jam-of-caller"}})
			if probe.CodeOf(err) != probe.Failed {
				t.Fatalf("error %v", err)
			}
			all := texts(err)
			for _, secret := range append(test.hidden, canary) {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in %s", secret, err)
				}
			}
			if !strings.Contains(all, "***") || !strings.Contains(all, "end") {
				t.Errorf("the text around it is gone: %s", err)
			}
		})
	}
}

// TestEncodedSecrets writes a secret in the ways of programs that log requests.
func TestEncodedSecrets(t *testing.T) {
	const secret = "pl/um&jam=\"7\" <é> +9%"
	json1, _ := json.Marshal(secret)
	json2, _ := json.Marshal(string(json1))
	component := strings.NewReplacer("+", "%20", "%21", "!").Replace(url.QueryEscape(secret))
	lower := func(s string) string {
		return regexp.MustCompile(`%..`).ReplaceAllStringFunc(s, strings.ToLower)
	}
	var numbered, escaped strings.Builder
	for _, r := range secret {
		fmt.Fprintf(&numbered, "&#%d;", r)
		fmt.Fprintf(&escaped, `\u%04x`, r)
	}
	tests := map[string]string{
		"hexadecimal":          hex.EncodeToString([]byte(secret)),
		"upper hexadecimal":    strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"query":                url.QueryEscape(secret),
		"lower query":          lower(url.QueryEscape(secret)),
		"path":                 url.PathEscape(secret),
		"lower path":           lower(url.PathEscape(secret)),
		"component":            component,
		"component twice":      url.QueryEscape(component),
		"JSON":                 string(json1),
		"JSON in JSON":         string(json2),
		"JSON with slashes":    strings.ReplaceAll(string(json1), "/", `\/`),
		"JSON in ASCII":        escaped.String(),
		"Go":                   strconv.QuoteToASCII(secret),
		"HTML":                 html.EscapeString(secret),
		"HTML by number":       numbered.String(),
		"HTML in JSON":         strings.ReplaceAll(html.EscapeString(secret), "/", `\/`),
		"component in JSON":    strings.ReplaceAll(component, "%", `\u0025`),
		"marks in JSON":        strings.ReplaceAll(string(json1), "jam", `j\u200bam`),
		"begun and broken off": string(json1[:len(json1)-5]),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			got := probe.Redact([]string{secret}, "got "+text, false)
			if !strings.HasPrefix(got, "got ***") && !strings.HasPrefix(got, `got "***`) && !strings.HasPrefix(got, `got "\"***`) || len(got) > 16 {
				t.Errorf("%s reads %s", text, got)
			}
		})
	}
}

// TestCommonValues has variables that are no secrets, and messages that must
// stay readable.
func TestCommonValues(t *testing.T) {
	t.Parallel()
	launch := peer(t, "says", "1 error: in development at 127.0.0.1:8080 of 2024-11-05, use ERROR or Info, pi7")
	for i, value := range []string{"1", "error", "ERROR", "Info", "development", "127.0.0.1", "8080", "2024-11-05", "pi7", "true"} {
		setEnv(fmt.Sprintf("ORCHARD_%d", i), value)(&launch)
	}
	setEnv("MAX_TOKENS", "8080")(&launch)
	_, err := probe.Check(t.Context(), launch, nil)
	e, ok := errors.AsType[*probe.Error](err)
	if !ok || e.Stderr != launch.Args[0] {
		t.Errorf("error %v", err)
	}
	setEnv("ORCHARD_PASSWORD", "error")(&launch)
	setEnv("ORCHARD_PIN", "1")(&launch)
	_, err = probe.Check(t.Context(), launch, nil)
	if e, ok := errors.AsType[*probe.Error](err); !ok || !strings.HasPrefix(e.Stderr, "*** ***: in dev") {
		t.Errorf("error %v", err)
	}
}

// TestSecretCutOff has a program that dies while it writes a secret.
func TestSecretCutOff(t *testing.T) {
	t.Parallel()
	launch := peer(t, "says", "it is a-rather-long-plum-s")
	setEnv("ORCHARD", "a-rather-long-plum-secret")(&launch)
	_, err := probe.Check(t.Context(), launch, nil)
	e, ok := errors.AsType[*probe.Error](err)
	if !ok || e.Stderr != "it is ***" {
		t.Errorf("error %v", err)
	}
}

func setEnv(name, value string) func(*normalize.Launch) {
	return func(l *normalize.Launch) { l.Env = append(l.Env, normalize.Pair{Name: name, Value: value}) }
}

func addArgs(args ...string) func(*normalize.Launch) {
	return func(l *normalize.Launch) { l.Args = append(l.Args, args...) }
}

func TestSecretsElsewhere(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":%q}}`, r.Header.Get("X-Orchard-Key")+" "+r.URL.String())
	}
	address := start(t, http.HandlerFunc(echo))
	withToken := func(kind string, args ...string) normalize.Launch {
		l := peer(t, kind, args...)
		l.Env = append(l.Env, normalize.Pair{Name: "ORCHARD_TOKEN", Value: canary})
		return l
	}
	gone := withToken("legacy")
	gone.Command = "/nowhere/" + canary
	bad := remote(normalize.HTTP, "http://"+canary+"/")
	unnamed := peer(t, "legacy")
	unnamed.Name, unnamed.Env = "pear "+canary, []normalize.Pair{{Name: "X", Value: canary}}
	unnamed.Command = "/nowhere/pear"
	tests := []struct {
		name   string
		launch normalize.Launch
	}{
		{"error of a program", withToken("refuses")},
		{"path of the program", gone},
		{"name of the launch", unnamed},
		{"error over HTTP", remote(normalize.HTTP, address, normalize.Pair{Name: "X-Orchard-Key", Value: canary})},
		{"header that cannot be sent", remote(normalize.HTTP, address, normalize.Pair{Name: "X-Orchard-Key", Value: canary + "\n"})},
		{"nothing listens", remote(normalize.HTTP, "http://127.0.0.1:1/mcp?key="+url.QueryEscape(canary))},
		{"part of the path", remote(normalize.HTTP, address+"/s/Pl12um34Ja56mx78/mcp")},
		{"parameter", remote(normalize.HTTP, address+"/mcp?x=plum-9&y=Pl;um-7&pl12um34ja56")},
		{"user of the address", remote(normalize.SSE, "http://pip:"+url.PathEscape(canary)+"@127.0.0.1:1/")},
		{"no URL", bad},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := probe.Check(t.Context(), test.launch, &probe.Options{Timeout: 5 * time.Second})
			if err == nil {
				t.Fatal("no error")
			}
			all := texts(err)
			for _, secret := range []string{canary, url.QueryEscape(canary), url.PathEscape(canary), "Pl12um34Ja56mx78", "plum-9", "um-7", "pl12um34ja56"} {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in %s", secret, all)
				}
			}
			t.Log(err)
		})
	}
}

func TestSecretsInTheCatalog(t *testing.T) {
	t.Parallel()
	launch := peer(t, "environ")
	launch.Env = append(launch.Env, normalize.Pair{Name: "ORCHARD_TOKEN", Value: canary}, normalize.Pair{Name: "ORCHARD_MODE", Value: "ripen"})
	report, err := probe.Check(t.Context(), launch, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Join(report.Tools, "\n")
	if strings.Contains(names, canary) || !strings.Contains(names, "ORCHARD_TOKEN=***") {
		t.Errorf("the token is in %s", names)
	}
	if !strings.Contains(names, "ORCHARD_MODE=ripen") {
		t.Errorf("what is no secret was hidden in %s", names)
	}
}
