package changeset_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// stored returns a changeset with each kind of operation, and its stored form.
func stored(tb testing.TB) (*project, string, []byte) {
	tb.Helper()
	p := newProject(tb, options(), handbook())
	w := p.writer(tb, "ada")
	id := begin(tb, w)
	for _, step := range []string{"create new new.md", "update setup Text", "move notes/plain b.md", "delete limits"} {
		if _, err := propose(tb, w, id, step); err != nil {
			tb.Fatal(err)
		}
	}
	data, err := os.ReadFile(p.file(id))
	if err != nil {
		tb.Fatal(err)
	}
	return p, id, data
}

// file is where a changeset is stored.
func (p *project) file(id string) string { return p.path(".mcpdocs/changesets/" + id + ".changeset") }

// reseal returns body with the sum that belongs to it.
func reseal(body string) []byte { return []byte(body + "\n" + canon.Sum([]byte(body)) + "\n") }

// TestTorn offers every beginning of a file, and the file with each byte
// changed in turn.
func TestTorn(t *testing.T) {
	t.Parallel()
	_, id, data := stored(t)
	accepted := 0
	for n := range data {
		if _, _, err := changeset.Reencode(id, data[:n]); err == nil {
			accepted++
			t.Errorf("accepted the first %d of %d bytes", n, len(data))
		}
		flipped := bytes.Clone(data)
		flipped[n] ^= 0x20
		if _, _, err := changeset.Reencode(id, flipped); err == nil {
			accepted++
			t.Errorf("accepted the file with byte %d changed", n)
		}
	}
	t.Logf("damaged %d, accepted %d", 2*len(data), accepted)
	if _, _, err := changeset.Reencode("cs-"+strings.Repeat("a", 26), data); err == nil {
		t.Error("accepted the file of another changeset")
	}
}

// TestForged offers files with a sum that is right, and content that no writer
// would have written.
func TestForged(t *testing.T) {
	t.Parallel()
	_, id, data := stored(t)
	body := string(data[:len(data)-66])
	lines := strings.SplitN(body, "\n", 3)
	head := func(change func(*changeset.Changeset)) string {
		var c changeset.Changeset
		if err := json.Unmarshal([]byte(lines[1]), &c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		text, err := canon.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return lines[0] + "\n" + string(text) + "\n" + lines[2]
	}
	operation := func(i int, change func(*changeset.Operation)) string {
		return head(func(c *changeset.Changeset) { change(&c.Operations[i]) })
	}
	if _, _, err := changeset.Reencode(id, reseal(head(func(*changeset.Changeset) {}))); err != nil {
		t.Fatalf("the file itself: %v", err)
	}
	for name, forged := range map[string]string{
		"empty":               "",
		"other magic":         strings.Replace(body, "changeset 1", "changeset 2", 1),
		"no header":           lines[0] + "\n",
		"more bytes":          body + "x",
		"fewer bytes":         body[:len(body)-1],
		"unknown key":         strings.Replace(body, `{"created"`, `{"apply":true,"created"`, 1),
		"repeated key":        strings.Replace(body, `"writer":`, `"writer":"bob","writer":`, 1),
		"white space":         strings.Replace(body, `,"writer"`, `, "writer"`, 1),
		"no writer":           head(func(c *changeset.Changeset) { c.Writer = "" }),
		"damaged":             head(func(c *changeset.Changeset) { c.Damaged = true }),
		"a digest":            head(func(c *changeset.Changeset) { c.Digest = strings.Repeat("a", 64) }),
		"parts of a second":   head(func(c *changeset.Changeset) { c.Created = c.Created.Add(1) }),
		"no operations":       head(func(c *changeset.Changeset) { c.Operations = nil }),
		"one operation less":  head(func(c *changeset.Changeset) { c.Operations = c.Operations[1:] }),
		"many operations":     head(func(c *changeset.Changeset) { c.Operations = make([]changeset.Operation, 10_001) }),
		"no id":               operation(0, func(o *changeset.Operation) { o.ID = "" }),
		"path that leaves":    operation(0, func(o *changeset.Operation) { o.NewPath = "../../x.md" }),
		"old path that is no": operation(1, func(o *changeset.Operation) { o.OldPath, o.Op = "/etc/x", changeset.Move }),
		"other operation":     operation(1, func(o *changeset.Operation) { o.Op = "apply" }),
		"wrong operation":     operation(1, func(o *changeset.Operation) { o.Op = changeset.Move }),
		"update of nothing":   operation(1, func(o *changeset.Operation) { o.OldPath, o.NewPath = "", "" }),
		"no base":             operation(1, func(o *changeset.Operation) { o.BaseHash = "" }),
		"other base":          operation(1, func(o *changeset.Operation) { o.BaseHash = strings.Repeat("0", 64) }),
		"other content":       operation(1, func(o *changeset.Operation) { o.NewHash = strings.Repeat("0", 64) }),
		"negative size":       operation(1, func(o *changeset.Operation) { o.NewSize = -1 }),
		"huge size":           operation(1, func(o *changeset.Operation) { o.NewSize = 1 << 62 }),
	} {
		if _, _, err := changeset.Reencode(id, reseal(forged)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestMerged validates a file in which somebody joined two changesets.
func TestMerged(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	for _, step := range []string{"create new new.md", "update setup Text"} {
		if _, err := propose(t, w, id, step); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(p.file(id))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(data[:len(data)-66]), "\n", 3)
	c := p.get(t, id)
	c.Digest = ""
	c.Operations = append(c.Operations, c.Operations...)
	head, err := canon.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, ".mcpdocs/changesets/"+id+".changeset", string(reseal(lines[0]+"\n"+string(head)+"\n"+lines[2]+lines[2])))
	want := []string{"id_taken new", "operation_conflict new", "path_taken new", "id_taken setup", "operation_conflict setup", "path_taken setup"}
	if diff := cmp.Diff(want, p.problems(t, id)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diffs, err := p.store.Diff(t.Context(), id); err != nil || len(diffs) != 4 {
		t.Errorf("diffs %v, %v", diffs, err)
	}
	if _, err := p.store.Preview(t.Context(), id, "review"); err != nil {
		t.Error(err)
	}
}

// TestDamaged puts what is no changeset where changesets are.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		damage func(name string) error
	}{
		{"empty", func(name string) error { return os.WriteFile(name, nil, 0o644) }},
		{"text", func(name string) error { return os.WriteFile(name, []byte("hello"), 0o644) }},
		{"cut", func(name string) error { return os.Truncate(name, 500) }},
		{"folder", func(name string) error {
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Mkdir(name, 0o755)
		}},
		{"link", func(name string) error {
			if err := os.Rename(name, name+"-kept"); err != nil {
				return err
			}
			return os.Symlink(name+"-kept", name)
		}},
		{"second name", func(name string) error { return os.Link(name, name+"-kept") }},
		{"sparse giant", func(name string) error { return os.Truncate(name, 1<<40) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, id, _ := stored(t)
			w := p.writer(t, "ada")
			other := begin(t, w)
			if err := test.damage(p.file(id)); err != nil {
				t.Fatal(err)
			}
			before := treetest.Read(t, p.dir, ".mcpdocs/changesets/"+id+".changeset")
			_, err := p.store.Get(t.Context(), id)
			wantCode(t, err, changeset.CodeDamaged)
			_, err = p.store.Diff(t.Context(), id)
			wantCode(t, err, changeset.CodeDamaged)
			_, err = p.store.Validate(t.Context(), id)
			wantCode(t, err, changeset.CodeDamaged)
			_, err = propose(t, w, id, "update terms Text")
			wantCode(t, err, changeset.CodeDamaged)
			list, err := p.store.List(t.Context())
			if err != nil || len(list) != 2 || list[0].ID != other || list[0].Damaged || list[1].ID != id || !list[1].Damaged {
				t.Errorf("list %+v, %v", list, err)
			}
			if diff := cmp.Diff(before, treetest.Read(t, p.dir, ".mcpdocs/changesets/"+id+".changeset")); diff != "" {
				t.Errorf("something was written (-before +after):\n%s", diff)
			}
		})
	}
}

// TestListOrder checks that what is older comes first, and that other files are
// left out.
func TestListOrder(t *testing.T) {
	t.Parallel()
	opts := options()
	now := opts.Now()
	opts.Now = func() time.Time { now = now.Add(-time.Minute); return now }
	p := newProject(t, opts, nil)
	if list, err := p.store.List(t.Context()); err != nil || len(list) != 0 || list == nil {
		t.Fatalf("list of nothing is %v, %v", list, err)
	}
	w := p.writer(t, "ada")
	var ids []string
	for range 3 {
		ids = append([]string{begin(t, w)}, ids...)
	}
	for _, name := range []string{"notes.txt", "cs-x.changeset", strings.ToUpper(ids[0]) + ".changeset", ids[0] + ".changeset.bak"} {
		p.write(t, ".mcpdocs/changesets/"+name, "other")
	}
	list, err := p.store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		got = append(got, c.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

// FuzzDecode checks that a file is refused, or is the one form of what it says:
// encoding that gives the same bytes.
func FuzzDecode(f *testing.F) {
	_, id, data := stored(f)
	f.Add(id, string(data[:len(data)-66]))
	f.Add(id, "")
	f.Fuzz(func(t *testing.T, id, body string) {
		// The right sum is given, or nothing would ever pass it.
		data := reseal(body)
		c, again, err := changeset.Reencode(id, data)
		if err != nil {
			return
		}
		if !bytes.Equal(again, data) {
			t.Errorf("%q was read as %q", data, again)
		}
		size := int64(0)
		for _, o := range c.Operations {
			size += o.OldSize + o.NewSize
			for _, p := range []string{o.OldPath, o.NewPath} {
				if p != "" && !filepath.IsLocal(p) {
					t.Errorf("path %q", p)
				}
			}
		}
		if c.ID != id || size > int64(len(data)) || c.Digest != canon.Sum([]byte(body)) {
			t.Errorf("%d bytes were read as %+v", len(data), c)
		}
	})
}

// TestMemory bounds what reading a changeset takes by its size.
func TestMemory(t *testing.T) {
	_, id, data := stored(t)
	allocs := testing.AllocsPerRun(20, func() {
		if _, _, err := changeset.Reencode(id, data); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("allocations to read and write four operations: %.0f", allocs)
	if allocs > 2500 {
		t.Errorf("%.0f allocations", allocs)
	}
}
