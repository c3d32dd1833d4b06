package candidates_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

const secret = "of somebody else"

// newSurrounded returns a project with files of others around it.
func newSurrounded(tb testing.TB) *project {
	tb.Helper()
	base := tb.TempDir()
	p := newProjectIn(tb, filepath.Join(base, "root"))
	for _, name := range []string{"secret", "root-evil/x", "out/b.md", "out/plan.md", "out/docs/plan.md", "out/docs/a/b.md", "out/new-plan/docs/plan.md"} {
		p.write(tb, "../"+name, secret)
	}
	p.write(tb, "docs/plan.md", "old plan\n")
	p.write(tb, ".git/config", "[core]\n")
	return p
}

// outsideStage returns what is around the project and in it, but for the directory of the area.
func (p *project) outsideStage(tb testing.TB) map[string]string {
	tb.Helper()
	base := filepath.Dir(p.root)
	tree := make(map[string]string)
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		if path == filepath.Join(p.root, ".mcpcontract") {
			return fs.SkipDir
		}
		tree[name], err = describe(path, d)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return tree
}

// describe returns the kind of an entry, and the digest of a file or the target of a link.
func describe(path string, d fs.DirEntry) (string, error) {
	kind := d.Type().String()
	switch {
	case d.Type().IsRegular():
		data, err := os.ReadFile(path)
		return kind + canon.Sum(data), err
	case d.Type()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return kind + to, err
	}
	return kind, nil
}

// A namingRow is paths that no candidate may have.
type namingRow struct {
	name  string
	paths []string // all of one candidate
	code  string
}

func namingRows() []namingRow {
	var rows []namingRow
	row := func(code, name string, paths ...string) {
		rows = append(rows, namingRow{name, paths, code})
	}
	each := func(code, name string, paths ...string) {
		for i, path := range paths {
			row(code, fmt.Sprintf("%s %d", name, i+1), path)
		}
	}
	long := strings.Repeat("n", 255)
	each("path_invalid", "way out", "../secret", "docs/../../secret", "..", "../", "../root-evil/x", "../../../../../../etc/passwd", strings.Repeat("../", 500)+"secret")
	each("path_invalid", "absolute", "/etc/passwd", "//etc/x", "/", "///", `\\host\share\x`)
	each("path_invalid", "no file", "", ".", "./", "docs/", "docs/.", "docs/x/")
	each("path_invalid", "unclean", "docs/../docs/x", "missing/../docs/x", "docs/plan.md/../x", "docs//x", "./docs/x", "docs/./x", strings.Repeat("docs/../", 1000)+"docs/x")
	each("path_invalid", "backslash", `..\secret`, `docs\x`, `docs/x\`)
	each("path_invalid", "control", "docs/a\x00.md", "docs/a\x00/../../x", "docs/a\nb", "docs/a\rb", "docs/a\tb", "docs/\x1b[2J", "docs/a\x7f", "docs/a\u0085b", "docs/a\u2028b")
	each("path_invalid", "not shown", "docs/a\u202emd.exe", "docs/\u2066a", "docs/a\u200b.md", "docs/a\u200c.md", "docs/a\u200d.md", "docs/\ufeffa.md")
	each("path_invalid", "dot or space at an end", "docs/x.", "docs./x", "docs/...", "docs/x ", "docs/ x", "docs /x", "docs/\u00a0a.md", "docs/a.md\u3000")
	each("path_invalid", "device", "NUL", "docs/com1.txt", "docs/CONIN$", "docs/aux", "docs/Prn .md", "docs/COM\u00b9", "docs/lpt9.tar.gz")
	each("path_invalid", "stream or drive", "docs/name:stream", "docs/x::$DATA", "C:x", "C:../x", "C:/x", "docs/C:x")
	each("path_invalid", "8.3", "git~1", "docs/PROGRA~1", "docs/readme~2.md", "GI7EBA~1/config")
	each("path_invalid", "git", ".git/config", ".GIT/config", "docs/.git/x", "docs/.Git", ".g\u200cit/config")
	each("path_invalid", "option or home", "-rf", "~/x", "docs/-x", "~root")
	each("path_invalid", "wildcard or quote", "docs/*", "docs/a?", `docs/"a"`, "docs/<a>", "docs/a|b")
	each("path_invalid", "too long", "docs/"+long, "docs/"+long[:201], "docs/"+long+"n", "docs/"+strings.Repeat(long[:200]+"/", 30)+"x")
	each("path_invalid", "too deep", "docs/"+strings.Repeat("d/", 40)+"x", "docs/"+strings.Repeat("d/", 10_000)+"x")
	each("path_not_allowed", "not allowed", "x.md", "src/x.md", "doc/x", "docs.md", ".mcpcontract/journal", ".mcpcontract/stage/x/docs/y", ".MCPCONTRACT/lock", "Docs/x.md", "%2e%2e/x", "\uff0e\uff0e/x")
	row("path_collision", "case", "docs/A.md", "docs/a.md")
	row("path_collision", "case of a directory", "docs/A/x.md", "docs/a/y.md")
	row("path_collision", "composed and not", "docs/\u00e9.md", "docs/e\u0301.md")
	row("path_collision", "sharp s", "docs/\u00df.md", "docs/ss.md")
	row("path_collision", "Kelvin", "docs/k.md", "docs/\u212a.md")
	row("path_collision", "file and directory", "docs/a", "docs/a/b")
	row("path_collision", "twice", "docs/a.md", "docs/a.md")
	row("path_invalid", "one bad among good", "docs/good.md", "docs/../../secret")
	return rows
}

// No name leads out of the stage, or to what the project does not allow, and none leaves anything behind.
func TestHostileNames(t *testing.T) {
	p := newSurrounded(t)
	before := p.outsideStage(t)
	for _, e := range wiretest.Eras() {
		c := dialStdio(t, role{Root: p.root}, e, &wiretest.Client{Name: "zed"})
		for _, row := range namingRows() {
			args, err := json.Marshal(map[string]any{"candidateId": "x", "expectedFiles": row.paths})
			if err != nil {
				t.Fatal(err)
			}
			if r, text := call(t, c, "candidate_prepare", string(args)); r.Error.Code != row.code {
				t.Errorf("%s: got %.300s, want %s", row.name, text, row.code)
			}
		}
		// Bytes that are no UTF-8 come as they are, which encoding/json does not write.
		for _, raw := range []string{"docs/a\xff", "docs/\xc3", "docs/a\xed\xa0\x80", "docs/a\xc0\xafb", `docs/a\ud800`} {
			if r, text := call(t, c, "candidate_prepare", `{"candidateId":"x","expectedFiles":["`+raw+`"]}`); r.Error.Code != "invalid_arguments" {
				t.Errorf("%q: got %s, want invalid_arguments", raw, text)
			}
		}
		var many []string
		for i := range 5000 {
			many = append(many, fmt.Sprintf("docs/%d", i))
		}
		args, err := json.Marshal(map[string]any{"candidateId": "x", "expectedFiles": many})
		if err != nil {
			t.Fatal(err)
		}
		if r, text := call(t, c, "candidate_prepare", string(args)); r.Error.Code != "invalid_arguments" && r.Error.Code != "too_many" {
			t.Errorf("5000 files: got %.300s", text)
		}
		if exists(p.root, ".mcpcontract", "stage", "*") {
			t.Error("a refused candidate was made")
		}
	}
	if diff := cmp.Diff(before, p.outsideStage(t)); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
}

func TestHostileIDs(t *testing.T) {
	p := newSurrounded(t)
	before := p.outsideStage(t)
	c := dialStdio(t, role{Root: p.root}, wiretest.Handshake, &wiretest.Client{Name: "zed"})
	for _, id := range []string{"", ".", "..", "A", "a/b", "../a", "a--b", "-a", "a-", "a_b", "a\n", "\u00e9", strings.Repeat("a", 65)} {
		for tool, args := range map[string]string{
			"candidate_prepare": `{"candidateId":%s,"expectedFiles":[]}`,
			"candidate_inspect": `{"candidateId":%s}`,
			"candidate_apply":   `{"request":{"op":"prepare","candidateId":%s}}`,
			"candidate_discard": `{"candidateId":%s}`,
			"operation_abort":   `{"operationId":%s}`,
		} {
			quoted, err := json.Marshal(id)
			if err != nil {
				t.Fatal(err)
			}
			if r, text := call(t, c, tool, fmt.Sprintf(args, quoted)); r.Error.Code != "invalid_arguments" {
				t.Errorf("%s %q: got %s", tool, id, text)
			}
		}
	}
	if diff := cmp.Diff(before, p.outsideStage(t)); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
}

// A planted row is a project in which somebody put something hostile after the candidate was approved.
type plantedRow struct {
	name  string
	plant func(p *project) // it may skip the test
	code  string           // of an inspection, unless it is ""; that of an apply may differ
	apply string           // of an apply, if it is not code
}

// runPlanted makes all calls about a candidate, and looks whether anything but the stage changed.
func runPlanted(t *testing.T, rows []plantedRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			privateMounts(t)
			p := newSurrounded(t)
			p.opts = validated(func() {})
			c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
			tok := p.propose(t, c)
			row.plant(p.in(t))
			before := p.outsideStage(t)
			// A server that was there before, and one in another process that was not.
			p.callPlanted(t, c, tok, &row)
			fresh := dialStdio(t, role{Root: p.root}, wiretest.Stateless, &wiretest.Client{Name: "zed"})
			p.callPlanted(t, fresh, tok, &row)
			p.clearPlanted(t, fresh)
			if diff := cmp.Diff(before, p.outsideStage(t)); diff != "" {
				t.Errorf("changed (-before +after):\n%s", diff)
			}
		})
	}
}

func (p *project) callPlanted(t *testing.T, c *wiretest.Peer, tok string, row *plantedRow) {
	t.Helper()
	applied := row.apply
	if applied == "" {
		applied = row.code
	}
	for _, try := range []struct{ tool, args, code string }{
		{"candidate_inspect", `{"candidateId":"new-plan"}`, row.code},
		{"candidate_apply", prepareApply, applied},
		{"candidate_apply", apply(tok), applied},
	} {
		if r, text := call(t, c, try.tool, try.args); r.Error.Code != try.code {
			t.Errorf("%s %s: got %.300s, want %q", try.tool, try.args, text, try.code)
		}
	}
}

// clearPlanted makes the calls that may remove what was planted in the stage, or refuse it.
func (p *project) clearPlanted(t *testing.T, c *wiretest.Peer) {
	t.Helper()
	for tool, args := range map[string]string{
		"candidate_prepare": `{"candidateId":"new-plan","expectedFiles":["docs/a/b.md"]}`,
		"operation_recover": `{}`,
		"candidate_discard": `{"candidateId":"new-plan"}`,
	} {
		if r, text := call(t, c, tool, args); r.Error.Code == "internal" {
			t.Errorf("%s: got %s", tool, text)
		}
	}
}

// in returns p for the subtest of a test.
func (p *project) in(tb testing.TB) *project {
	tb.Helper()
	q := *p
	q.tb = tb
	return &q
}

// plantedRows are those that every system has.
func plantedRows() []plantedRow {
	return []plantedRow{
		{"missing file", func(p *project) { p.remove("docs/plan.md") }, "candidate_incomplete", ""},
		{"added file", func(p *project) { p.write(p.tb, staged+"docs/more.md", "") }, "candidate_undeclared", ""},
		{"added file at the top", func(p *project) { p.write(p.tb, staged+"more.md", "") }, "candidate_undeclared", ""},
		{"directory in place of a file", func(p *project) {
			p.remove("docs/plan.md")
			p.write(p.tb, staged+"docs/plan.md/x", "")
		}, "candidate_undeclared", ""},
		{"file in place of a directory", func(p *project) {
			p.remove("docs/a")
			p.write(p.tb, staged+"docs/a", "")
		}, "candidate_undeclared", ""},
		{"giant", func(p *project) {
			if err := os.Truncate(filepath.Join(p.root, filepath.FromSlash(staged+"docs/plan.md")), 1<<40); err != nil {
				p.tb.Skipf("the file system has no files of 1 TiB: %v", err)
			}
		}, "too_large", ""},
		{"depth", func(p *project) { p.write(p.tb, staged+"docs/"+strings.Repeat("d/", 60)+"x", "") }, "candidate_unsafe", ""},
		{"directory in place of a target", func(p *project) {
			if err := os.RemoveAll(filepath.Join(p.root, "docs")); err != nil {
				p.tb.Fatal(err)
			}
			p.write(p.tb, "docs/plan.md/x", "")
		}, "", "target_unsafe"},
		{"file in place of a target's directory", func(p *project) { p.write(p.tb, "docs/a", "") }, "", "target_unsafe"},
	}
}

// remove removes a staged entry.
func (p *project) remove(name string) {
	p.tb.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, filepath.FromSlash(staged+name))); err != nil {
		p.tb.Fatal(err)
	}
}

func TestPlanted(t *testing.T) { runPlanted(t, plantedRows()) }

// What a literal name is made of is never decoded.
func TestLiteralNames(t *testing.T) {
	p := newSurrounded(t)
	c := dialStdio(t, role{Root: p.root}, wiretest.Stateless, &wiretest.Client{Name: "zed"})
	before := maps.Clone(p.outsideStage(t))
	call(t, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":["docs/%2e%2e%2fx","docs/\uff0e\uff0e"]}`)
	p.write(t, staged+"docs/%2e%2e%2fx", "1")
	p.write(t, staged+"docs/\uff0e\uff0e", "2")
	r, _ := call(t, c, "candidate_apply", prepareApply)
	if r, text := call(t, c, "candidate_apply", apply(r.ProposalToken)); r.CommandStatus != "applied" {
		t.Fatalf("got %s, want applied", text)
	}
	before[filepath.FromSlash("root/docs/%2e%2e%2fx")] = "----------" + canon.Sum([]byte("1"))
	before[filepath.FromSlash("root/docs/\uff0e\uff0e")] = "----------" + canon.Sum([]byte("2"))
	if diff := cmp.Diff(before, p.outsideStage(t)); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
}
