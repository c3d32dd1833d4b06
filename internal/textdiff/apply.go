package textdiff

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Apply applies a diff as [Unified] or [Git] writes it to old. It is strict: every hunk
// must stand exactly where it says, and every context and removed line must be
// there byte for byte, else the error says which line of the patch does not fit.
// An empty patch changes nothing, nor does one of a header only.
func Apply(old, patch []byte) ([]byte, error) {
	p := patcher{old: lines(old), patch: lines(patch)}
	p.out = make([]byte, 0, len(old)+len(patch))
	if err := p.run(); err != nil {
		return nil, fmt.Errorf("patch line %d: %v", p.at+1, err)
	}
	return p.out, nil
}

// A patcher stands at line at of the patch. It has read done lines of the old
// text and written made lines of the new one.
type patcher struct {
	old, patch     text
	at, done, made int
	out            []byte
}

func (p *patcher) run() error {
	p.header()
	if p.at < p.patch.len() {
		for _, prefix := range []string{"--- ", "+++ "} {
			if !bytes.HasPrefix(p.line(), []byte(prefix)) {
				return fmt.Errorf("there is no %q here", prefix)
			}
			p.at++
		}
		if p.at == p.patch.len() {
			return errors.New("there is no hunk")
		}
	}
	for p.at < p.patch.len() {
		if err := p.hunk(); err != nil {
			return err
		}
	}
	return p.keep(p.old.len())
}

// header passes what git writes before the names.
func (p *patcher) header() {
	if !bytes.HasPrefix(p.line(), []byte("diff --git ")) {
		return
	}
	for p.at < p.patch.len() && !bytes.HasPrefix(p.line(), []byte("--- ")) {
		p.at++
	}
}

// line returns the line of the patch, nil past its end.
func (p *patcher) line() []byte {
	if p.at < p.patch.len() {
		return p.patch.token(p.at)
	}
	return nil
}

// keep copies the lines of the old text before n.
func (p *patcher) keep(n int) error {
	if n < p.done || n > p.old.len() {
		return fmt.Errorf("old line %d is out of place: %d of %d are behind", n+1, p.done, p.old.len())
	}
	for ; p.done < n; p.done++ {
		if err := p.add(p.old.token(p.done)); err != nil {
			return err
		}
	}
	return nil
}

// add adds a line to the new text.
func (p *patcher) add(line []byte) error {
	if n := len(p.out); n > 0 && p.out[n-1] != '\n' {
		return errors.New("a line follows one without a newline")
	}
	p.out = append(p.out, line...)
	p.made++
	return nil
}

func (p *patcher) hunk() error {
	words := strings.Split(string(p.line()), " ")
	if len(words) != 4 || words[0] != "@@" || words[3] != "@@\n" {
		return errors.New("this is no hunk header")
	}
	oldFrom, oldTo, ok1 := parseRange(words[1], "-")
	newFrom, newTo, ok2 := parseRange(words[2], "+")
	if !ok1 || !ok2 {
		return errors.New("the ranges of the hunk cannot be read")
	}
	if err := p.keep(oldFrom); err != nil {
		return err
	}
	if p.made != newFrom {
		return fmt.Errorf("the hunk goes to new line %d, but %d lines are written", newFrom+1, p.made)
	}
	for p.at++; p.done < oldTo || p.made < newTo; {
		if err := p.change(oldTo, newTo); err != nil {
			return err
		}
	}
	return nil
}

// parseRange reads "-first,count" as lines from to to, exclusive, counting from 0.
func parseRange(s, sign string) (from, to int, ok bool) {
	s, signed := strings.CutPrefix(s, sign)
	first, count, counted := strings.Cut(s, ",")
	if !counted {
		count = "1"
	}
	f, err1 := strconv.ParseUint(first, 10, 31)
	n, err2 := strconv.ParseUint(count, 10, 31)
	from = int(f)
	if n > 0 {
		from-- // an empty range names the line before it
	}
	return from, from + int(n), signed && err1 == nil && err2 == nil && from >= 0
}

// change obeys one line of a hunk that ends before lines oldTo and newTo.
func (p *patcher) change(oldTo, newTo int) error {
	line := p.line()
	if len(line) == 0 || line[len(line)-1] != '\n' {
		return errors.New("the patch ends inside a hunk")
	}
	sign, content := line[0], line[1:]
	next := p.at + 1
	if !bytes.ContainsAny(line[:1], " +-") {
		return fmt.Errorf("a line of a hunk begins with %q", sign)
	}
	if next < p.patch.len() && string(p.patch.token(next)) == noNewline {
		content = content[:len(content)-1]
		next++
	}
	if sign != '+' {
		if p.done >= min(oldTo, p.old.len()) || !bytes.Equal(p.old.token(p.done), content) {
			return fmt.Errorf("old line %d is not what the patch says", p.done+1)
		}
		p.done++
	}
	if sign != '-' {
		if p.made >= newTo {
			return errors.New("the hunk has more lines than it says")
		}
		if err := p.add(content); err != nil {
			return err
		}
	}
	p.at = next
	return nil
}
