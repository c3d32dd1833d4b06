package stage_test

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A model is a file system in memory that keeps apart what a program sees and
// what a crash leaves. The content of a file is certain to survive after Sync,
// a change of a directory after SyncDir. Until then a crash may leave any
// subset of the changes, and of a content nothing, a half, zeros, or all.
type model struct {
	top *inode
	seq int // of the changes of directories

	// before, if not nil, is called before everything that changes something.
	before func(call)
	// fail, if not nil, may make any call fail.
	fail func(call) fault
	// broken turns a part of the protocol off.
	broken breakage
}

// A call is one operation of the file system.
type call struct{ op, path string }

// A fault is how a call fails.
type fault int

const (
	works    fault = iota
	failsEIO       // nothing happens
	failsFull
	failsShort // half of it is written, or of a sync: nothing, and the next one is a lie
	failsLate  // it happens and is reported as failed
)

// An inode is a file or directory.
type inode struct {
	dir  bool
	mode fs.FileMode

	data []byte // of a file, as seen
	disk []byte // as of the last Sync
	safe bool   // data is on disk
	lies bool   // a sync failed: later ones say that they work, and do nothing

	names   map[string]*inode // of a directory, as seen
	durable map[string]*inode // as of the last SyncDir
	pending []change          // what makes the one of the other
}

// A change of a directory: name is given to node, or taken away if that is nil.
type change struct {
	seq  int
	name string
	node *inode
	from string // of a rename
}

func newDir() *inode {
	return &inode{dir: true, mode: fs.ModeDir | 0o755, names: map[string]*inode{}, durable: map[string]*inode{}}
}

func newModel() *model { return &model{top: newDir()} }

func (c change) apply(names map[string]*inode) {
	if c.node == nil {
		delete(names, c.name)
		return
	}
	names[c.name] = c.node
	if c.from != "" && names[c.from] == c.node {
		delete(names, c.from)
	}
}

// clone copies the file system with all that is not certain yet.
func (m *model) clone() *model {
	seen := map[*inode]*inode{}
	var dup func(n *inode) *inode
	names := func(from map[string]*inode) map[string]*inode {
		to := make(map[string]*inode, len(from))
		for name, n := range from {
			to[name] = dup(n)
		}
		return to
	}
	dup = func(n *inode) *inode {
		if n == nil {
			return nil
		}
		if have, ok := seen[n]; ok {
			return have
		}
		c := *n
		seen[n] = &c
		if n.dir {
			c.names, c.durable = names(n.names), names(n.durable)
			c.pending = slices.Clone(n.pending)
			for i := range c.pending {
				c.pending[i].node = dup(c.pending[i].node)
			}
		}
		return &c
	}
	return &model{top: dup(m.top), seq: m.seq, broken: m.broken}
}

// A choice is what one crash leaves: by the number of a change whether it is on
// disk, and how much of each content.
type choice struct {
	kept    func(change) bool
	content func(*inode) int
}

// crash returns the file system after a crash.
func (m *model) crash(c choice) *model {
	seen := map[*inode]*inode{}
	var left func(n *inode) *inode
	left = func(n *inode) *inode {
		if have, ok := seen[n]; ok {
			return have
		}
		after := &inode{dir: n.dir, mode: n.mode, safe: true}
		seen[n] = after
		if !n.dir {
			after.data = leftOf(n, c.content)
			after.disk = after.data
			return after
		}
		names := maps.Clone(n.durable)
		for _, ch := range n.pending {
			if c.kept(ch) {
				ch.apply(names)
			}
		}
		after.names = make(map[string]*inode, len(names))
		for name, sub := range names {
			after.names[name] = left(sub)
		}
		after.durable = maps.Clone(after.names)
		return after
	}
	return &model{top: left(m.top), broken: m.broken}
}

func leftOf(n *inode, content func(*inode) int) []byte {
	if n.safe {
		return n.data
	}
	switch content(n) {
	case 0:
		return n.disk
	case 1:
		return n.data
	case 2:
		return n.data[:len(n.data)/2]
	default:
		return make([]byte, len(n.data))
	}
}

// uncertain lists what a crash decides.
func (m *model) uncertain() (changes []change, contents []*inode) {
	seen := map[*inode]bool{}
	var visit func(n *inode)
	visit = func(n *inode) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		if !n.dir {
			if !n.safe {
				contents = append(contents, n)
			}
			return
		}
		for _, name := range slices.Sorted(maps.Keys(n.durable)) {
			visit(n.durable[name])
		}
		for _, c := range n.pending {
			changes = append(changes, c)
			visit(c.node)
		}
	}
	visit(m.top)
	slices.SortFunc(changes, func(a, b change) int { return a.seq - b.seq })
	return changes, contents
}

// crashes returns different states that a crash may leave: all if they are at
// most limit, else the extreme ones, those of a file system that keeps changes
// in order, and random ones.
func (m *model) crashes(limit int, seed uint64) []*model {
	changes, contents := m.uncertain()
	index := map[int]int{}
	for i, c := range changes {
		index[c.seq] = i
	}
	place := map[*inode]int{}
	for i, n := range contents {
		place[n] = i
	}
	var out []*model
	seen := map[string]bool{}
	add := func(kept []bool, content []int) {
		after := m.crash(choice{
			func(c change) bool { return kept[index[c.seq]] },
			func(n *inode) int { return content[place[n]] },
		})
		if key := after.fingerprint(); !seen[key] {
			seen[key] = true
			out = append(out, after)
		}
	}
	bits := len(changes) + 2*len(contents)
	if bits < 30 && 1<<bits <= limit {
		for x := range 1 << bits {
			kept, content := make([]bool, len(changes)), make([]int, len(contents))
			for i := range kept {
				kept[i] = x>>i&1 == 1
			}
			for i := range content {
				content[i] = x >> (len(changes) + 2*i) & 3
			}
			add(kept, content)
		}
		return out
	}
	for prefix := range len(changes) + 1 { // in order
		for c := range 3 {
			kept := make([]bool, len(changes))
			for i := range prefix {
				kept[i] = true
			}
			add(kept, slices.Repeat([]int{c}, len(contents)))
		}
	}
	for one := range changes { // one lost, or one kept
		for _, rest := range []bool{true, false} {
			kept := slices.Repeat([]bool{rest}, len(changes))
			kept[one] = !rest
			add(kept, slices.Repeat([]int{1}, len(contents)))
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for try := 0; try < 2*limit && len(out) < limit; try++ {
		kept, content := make([]bool, len(changes)), make([]int, len(contents))
		for i := range kept {
			kept[i] = r.IntN(2) == 1
		}
		for i := range content {
			content[i] = r.IntN(4)
		}
		add(kept, content)
	}
	return out
}

// fingerprint is equal for file systems that look alike.
func (m *model) fingerprint() string {
	h := sha256.New()
	var mode [4]byte
	for p, n := range m.all() {
		binary.BigEndian.PutUint32(mode[:], uint32(n.mode))
		for _, part := range [][]byte{[]byte(p), {0}, mode[:], n.data, {0}} {
			h.Write(part)
		}
	}
	return string(h.Sum(nil))
}

// all yields every path but the top, sorted within its directory.
func (m *model) all() func(yield func(string, *inode) bool) {
	return func(yield func(string, *inode) bool) {
		var visit func(dir string, n *inode) bool
		visit = func(dir string, n *inode) bool {
			for _, name := range slices.Sorted(maps.Keys(n.names)) {
				sub := n.names[name]
				p := path.Join(dir, name)
				if !yield(p, sub) || sub.dir && !visit(p, sub) {
					return false
				}
			}
			return true
		}
		visit("", m.top)
	}
}

// tree returns the files outside the area by path.
func (m *model) tree() map[string]string {
	all := map[string]string{}
	for p, n := range m.all() {
		switch {
		case p == areaDir || strings.HasPrefix(p, areaDir+"/"):
		case n.dir && len(n.names) == 0:
			all[p+"/"] = ""
		case !n.dir:
			all[p] = string(n.data)
		}
	}
	return all
}

// areaDir is where areas keep their files.
const areaDir = ".mcpcontract"

// set writes a file durably, as somebody else does before a test.
func (m *model) set(p, text string) {
	at := m.top
	for part := range strings.SplitSeq(path.Dir(p), "/") {
		if part == "." {
			break
		}
		sub, ok := at.names[part]
		if !ok {
			sub = newDir()
			at.names[part], at.durable[part] = sub, sub
		}
		at = sub
	}
	n := &inode{mode: 0o644, data: []byte(text), disk: []byte(text), safe: true}
	at.names[path.Base(p)], at.durable[path.Base(p)] = n, n
}

// A breakage is a protocol that leaves something out.
type breakage string

const (
	whole         breakage = ""
	noFileSync    breakage = "new files are not synced"
	noDirSync     breakage = "target directories are not synced"
	noJournalSync breakage = "the journal is not synced"
	noJournal     breakage = "there is no journal"
	inPlace       breakage = "files are overwritten in place"
	earlyEnd      breakage = "the journal goes before the receipt"
)

// ignores reports whether the broken protocol leaves a sync out.
func (b breakage) ignores(op, p string) bool {
	inside := strings.HasPrefix(p, areaDir+"/") || p == areaDir
	switch b {
	case noFileSync:
		return op == "sync" && !inside
	case noDirSync:
		return op == "syncdir" && !inside
	case noJournalSync:
		return op == "sync" && path.Base(p) == rootfs.TempPrefix+"journal"
	}
	return false
}

// rename does what the broken protocol does instead; false means that it does
// the same.
func (b breakage) rename(m *model, dir *inode, from, to string, n *inode) bool {
	area, _ := m.find("", areaDir)
	switch {
	case b == noJournal && to == areaDir+"/journal":
		m.alter(dir, change{name: path.Base(from)})
		return true
	case b == inPlace && !strings.HasPrefix(to, areaDir+"/") && dir.names[path.Base(to)] != nil:
		old := dir.names[path.Base(to)]
		old.data, old.safe = n.data, false
		m.alter(dir, change{name: path.Base(from)})
		return true
	case b == earlyEnd && strings.HasSuffix(to, ".receipt"):
		m.alter(area, change{name: "journal"})
		area.durable, area.pending = maps.Clone(area.names), nil
		if m.before != nil {
			m.before(call{"remove", areaDir + "/journal"})
		}
	}
	return false
}
