package stage_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/stage"
)

// TestTornJournal cuts a journal at every byte and flips every bit of it: it
// must never be taken for one.
func TestTornJournal(t *testing.T) {
	j := newJudge(t, scenarios(t)[0], whole)
	m := j.halfway()
	n, err := m.find("", areaDir+"/journal")
	if err != nil {
		t.Fatal(err)
	}
	valid := string(n.data)
	accepted := 0
	try := func(text string) {
		m := m.clone()
		m.set(areaDir+"/journal", text)
		r, err := open(t, m).Recover(context.Background())
		if err != nil || r.Operation != "" || j.judge(withoutTemps(m)) != isOld {
			accepted++
			t.Errorf("%.60q...: recovery %v, %v", text, r, err)
		}
		if _, err := m.find("", areaDir+"/journal"); err == nil {
			t.Errorf("%.60q...: still there", text)
		}
	}
	for i := range valid {
		try(valid[:i])
	}
	bits := 8
	if faultEvery > 1 {
		bits = 1
	}
	for i := range valid {
		for bit := range bits {
			text := []byte(valid)
			text[i] ^= 1 << bit
			try(string(text))
		}
	}
	try(valid + "\n")
	r, err := open(t, m).Recover(context.Background())
	if err != nil || r.Operation != firstOperation || j.judge(m) != isNew {
		t.Errorf("the whole journal: recovery %v, %v", r, err)
	}
	t.Logf("journal of %d bytes cut at every byte and every bit flipped: accepted %d", len(valid), accepted)
}

// withoutTemps removes the unfinished files, which nobody knows of once the
// journal is not whole.
func withoutTemps(m *model) *model {
	m = m.clone()
	for p := range m.clone().all() {
		if strings.Contains(p, rootfs.TempPrefix) {
			_ = m.Remove(p)
		}
	}
	return m
}

// TestForeignJournal makes journals that are whole and ask for what this
// package never writes: whoever can write candidates may have made them.
func TestForeignJournal(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want stage.Code
	}{
		{"another kind of text", `[]`, stage.CodeDamaged},
		{"a field too many", `{"more":1}`, stage.CodeDamaged},
		{"no names", `{}`, stage.CodeDamaged},
		{"an operation with a path", journalText(`../../x`, "applying", `docs/a.md`), stage.CodeDamaged},
		{"an unknown phase", journalText(firstOperation, "done", `docs/a.md`), stage.CodeDamaged},
		{"a path that leads out", journalText(firstOperation, "applying", `../a.md`), stage.CodePath},
		{"a path not allowed", journalText(firstOperation, "applying", `src/a.go`), stage.CodeNotAllowed},
		{"a path in the area", journalText(firstOperation, "undoing", `.mcpcontract/lock`), stage.CodeNotAllowed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := newJudge(t, scenarios(t)[0], whole)
			m := j.base.clone()
			m.set(areaDir+"/journal", stage.SealJournal(tt.text))
			_, err := open(t, m).Recover(context.Background())
			wantCode(t, err, tt.want)
			if got := j.judge(m); got != isOld {
				t.Errorf("the project is %s", got)
			}
		})
	}
}

func journalText(operation, phase, path string) string {
	return `{"operation":"` + operation + `","candidate":"candidate","approval":"","digest":"","manifest":"","phase":"` + phase +
		`","dirs":[],"steps":[{"path":"` + path + `","before":"","sha256":"","size":0,"mode":420,"oldMode":420,"staged":true}]}`
}

// FuzzJournal reads any text as a journal. Whatever it is, the project stays as
// it is or becomes what the journal of its own promotion says.
func FuzzJournal(f *testing.F) {
	j := newJudge(f, scenarios(f)[0], whole)
	m := j.halfway()
	n, err := m.find("", areaDir+"/journal")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(n.data))
	f.Add("mcpcontract stage journal 1 2\n{}\n")
	f.Add(stage.SealJournal(journalText(firstOperation, "applying", "docs/a.md")))
	f.Fuzz(func(t *testing.T, text string) {
		j := newJudge(t, j.scenario, whole)
		m := m.clone()
		m.set(areaDir+"/journal", text)
		_, err := open(t, m).Recover(context.Background())
		switch got := j.judge(withoutTemps(m)); {
		case text == string(n.data) && got == isNew && err == nil:
		case got != isOld && err == nil:
			t.Errorf("the project is %s after %q", got, text)
		}
	})
}
