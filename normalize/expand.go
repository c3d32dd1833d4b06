package normalize

import "strings"

// Expand resolves the references in s, once: ${NAME} becomes the variable's
// value, ${NAME:-default} the default where NAME is unset or empty, and
// ${input:id} the answer to a prompt. The spelling ${env:NAME} is understood
// too. NAME is a letter or underscore, then letters, digits and underscores, at
// most 256 bytes; defaults may hold references and balanced braces.
//
// Each of vars is asked in turn until one has the name; where there is a
// default, an empty value counts as none at each step. What a value holds is
// never looked at again.
//
// Everything else stays as it is: a reference that nobody can resolve (in a
// nested default the innermost one), $NAME, escapes such as $$ and \$, other
// shell forms, and what would run a command or read a file, with all that
// stands inside it. The notes say so, with an empty subject where the code
// wants a field; there are none where every reference was resolved. There is
// no way to write a literal ${NAME}.
//
// A text over 64 KiB or a result over 1 MiB ([TooLarge]), nesting beyond 16
// ([TooDeep]) and more than 1000 references ([TooMany]) are an [*Error], and s
// comes back as it was. Without a reference Expand allocates nothing.
func Expand(s string, vars ...Vars) (string, []Note, error) {
	if len(s) <= maxRefInput && strings.IndexByte(s, '$') < 0 && strings.IndexByte(s, '`') < 0 {
		return s, nil, nil
	}
	x := expander{static: true}
	out, err := x.expand(vars, "", s)
	return out, x.notes, err
}

// expander is the one expander. One call of expand is a run over one field;
// the counters bound all fields of an entry together. The variables are handed
// down and not kept: a caller's list would else have to be allocated.
type expander struct {
	scope     *scope      // decides before vars; nil has no say
	static    bool        // give the notes that need no variables
	keepEmpty bool        // a set but empty value is no reason to take the default
	percent   percentMode // what %NAME% means
	braceFile bool        // {file:path} is a reference

	field string // subject of the notes about the present field
	took  bool   // the present field had a reference replaced
	left  bool   // it has one that stays
	notes []Note
	given map[noteKey]struct{} // notes there are, of which no second is given
	refs  int                  // references so far
	asked int                  // existence checks for $name so far
	hint  int                  // how much room the result may need
	out   strings.Builder
}

type noteKey struct {
	code    Code
	subject string
}

type percentMode uint8

const (
	percentText   percentMode = iota // nothing special
	percentNote                      // stays, with a note
	percentExpand                    // a reference
)

// A decision is what a scope says about one reference.
type decision struct {
	verdict verdict
	value   string
}

type verdict uint8

const (
	askVars   verdict = iota // the scope does not know the name
	takeValue                // value, and nobody else is asked
	takeText                 // value, which is text of the paste and is expanded
	isUnset                  // nobody is asked
	keepText                 // the reference stays, and the scope has said why
)

// expand resolves s and puts prefix before it. The result is s itself where
// nothing changes.
func (x *expander) expand(vars []Vars, prefix, s string) (string, error) {
	x.took, x.left, x.hint = false, false, len(prefix)+len(s)
	x.out.Reset()
	if len(s) > maxRefInput {
		return s, limitError(TooLarge, x.field, "the text is over 64 KiB")
	}
	if prefix != "" {
		if err := x.write(prefix, ""); err != nil {
			return s, err
		}
	}
	rest, err := x.text(vars, s, 0)
	if err != nil {
		return s, err
	}
	if x.out.Len() == 0 {
		return s[len(s)-len(rest):], nil
	}
	if err := x.write(rest, ""); err != nil {
		return s, err
	}
	return x.out.String(), nil
}

// text resolves s, which stands depth defaults deep, into x.out. It returns
// the tail of s that needs no change and is not written yet.
func (x *expander) text(vars []Vars, s string, depth int) (string, error) {
	var r ref
	from := 0 // what comes before is written
	for i := 0; i < len(s); {
		switch s[i] {
		case '$', '`', '%', '{':
		default:
			i++
			continue
		}
		if s[i] != '$' {
			x.scanOther(s[i:], &r)
		} else if i+1 < len(s) && opensRef(s[i+1]) {
			scanRef(s[i:], &r)
		} else {
			i++
			continue
		}
		if r.kind != refVar || i > 0 && s[i-1] == '$' {
			x.comment(vars, s[:i], &r)
		}
		if r.kind == refTooDeep {
			return "", limitError(TooDeep, x.field, "references are nested more than 16 deep")
		}
		if r.replaceable() {
			done, err := x.replace(vars, &r, s[from:i], depth)
			if err != nil {
				return "", err
			}
			if done {
				from = i + r.size
			} else if r.kind == refPercent {
				r.size-- // its last byte may begin the next one
			}
		}
		i += r.size
	}
	return s[from:], nil
}

// comment gives the notes that a piece deserves whatever its value is. It
// stands after what before holds.
func (x *expander) comment(vars []Vars, before string, r *ref) {
	switch r.kind {
	case refText, refPercent:
	case refVar, refInput:
		if strings.HasSuffix(before, "$") {
			x.noteStatic(DollarBeforeRef)
		}
	case refBare:
		if !strings.HasSuffix(before, "$") && !strings.HasSuffix(before, `\`) {
			x.bare(vars, r)
		}
	case refFile:
		if x.static {
			x.note(FileRef, r.name)
		}
	default:
		x.noteStatic(r.code())
	}
}

// scanOther reads a piece that does not begin with a dollar sign.
func (x *expander) scanOther(s string, r *ref) {
	*r = ref{size: 1}
	switch s[0] {
	case '`':
		if n := strings.IndexByte(s[1:], '`'); n >= 0 {
			r.kind, r.size = refCommand, n+2
		}
	case '%':
		if x.percent == percentText {
			return
		}
		scanPercent(s, r)
		if r.kind == refPercent && x.percent == percentNote {
			x.note(PercentLeft, x.field)
			r.kind, r.size = refText, r.size-1 // its last byte may begin the next one
		}
	case '{':
		if x.braceFile {
			scanBraceFile(s, r)
		}
	}
}

// replace resolves one reference, which comes after what before holds. It
// reports whether it wrote both.
func (x *expander) replace(vars []Vars, r *ref, before string, depth int) (bool, error) {
	if x.refs++; x.refs > maxRefs {
		return false, limitError(TooMany, x.field, "there are more than 1000 references")
	}
	value, v, err := x.resolve(vars, r)
	switch {
	case err != nil:
		return false, err
	case v == keepText:
		x.left = true
		return false, nil
	case v == isUnset && r.hasDef:
		value, v = r.def, takeText
		if r.kind == refInput {
			x.note(InputDefaultUsed, r.inputID())
		}
	}
	switch v {
	case takeText:
		x.took = true
		if r.plain && depth < maxRefDepth {
			return true, x.write(before, value)
		}
		return true, x.inner(vars, before, value, depth+1)
	case takeValue:
		if r.kind == refPercent {
			x.note(PercentExpanded, r.name)
		} else {
			x.took = true
		}
		return true, x.write(before, value)
	}
	x.left = true
	x.unresolved(r)
	if r.native {
		return false, nil
	}
	return true, x.write(before, r.String())
}

// inner expands the text of a reference, which comes after what before holds and
// may hold references itself.
func (x *expander) inner(vars []Vars, before, text string, depth int) error {
	if depth > maxRefDepth {
		return limitError(TooDeep, x.field, "references are nested more than 16 deep")
	}
	if !special(text) {
		return x.write(before, text)
	}
	if err := x.write(before, ""); err != nil {
		return err
	}
	rest, err := x.text(vars, text, depth)
	if err != nil {
		return err
	}
	return x.write(rest, "")
}

// resolve asks for the value of a reference.
func (x *expander) resolve(vars []Vars, r *ref) (string, verdict, error) {
	if x.scope != nil {
		d := x.scope.lookup(r)
		switch d.verdict {
		case takeValue:
			return d.value, takeValue, x.accept(r, d.value)
		case askVars:
		default:
			return d.value, d.verdict, nil
		}
	}
	for _, v := range vars {
		if v == nil {
			continue
		}
		value, origin, ok := v(r.name)
		if ok && (value != "" || !r.hasDef || x.keepEmpty) {
			if x.scope != nil {
				x.scope.used(r, origin)
			}
			return value, takeValue, x.accept(r, value)
		}
	}
	return "", isUnset, nil
}

// accept checks a value that is about to be written.
func (x *expander) accept(r *ref, value string) error {
	if x.scope == nil {
		return nil
	}
	if looksLikeRef(value) {
		x.note(ValueLooksLikeRef, x.field)
	}
	return checkText(x.field, r.name, value, x.scope.line)
}

// bare notes $NAME where somebody may have meant a reference: the name is in
// upper case, or it is that of a variable.
func (x *expander) bare(vars []Vars, r *ref) {
	if isUpper(r.name) {
		x.noteStatic(BareVarLeft)
		return
	}
	if x.asked++; x.asked > maxRefs || x.has(BareVarLeft, x.field) || x.has(ShellString, x.field) {
		return // enough asked, said before, or meant for the shell of a script
	}
	if x.isSet(vars, r) {
		x.note(BareVarLeft, x.field)
	}
}

// isSet reports whether somebody knows the name of r.
func (x *expander) isSet(vars []Vars, r *ref) bool {
	if x.scope != nil {
		if d := x.scope.lookup(r); d.verdict != askVars {
			return d.verdict == takeValue
		}
	}
	_, ok := ask(vars, r.name)
	return ok
}

// unresolved notes a reference that nobody could resolve.
func (x *expander) unresolved(r *ref) {
	switch r.kind {
	case refPercent:
		x.note(PercentLeft, x.field)
	case refInput:
		if id := r.inputID(); !x.has(InputUndefined, id) {
			x.note(NeedsInput, id)
		}
	default:
		x.note(Unresolved, r.name)
	}
}

// write appends a and b to the result, within its bound.
func (x *expander) write(a, b string) error {
	if len(a) > maxRefOutput || len(b) > maxRefOutput-x.out.Len()-len(a) {
		return limitError(TooLarge, x.field, "the expanded text is over 1 MiB")
	}
	if x.out.Cap() == 0 {
		x.out.Grow(x.hint + len(b))
	}
	if a != "" {
		x.out.WriteString(a)
	}
	x.out.WriteString(b)
	return nil
}

func (x *expander) noteStatic(code Code) {
	if x.static && code != "" {
		x.note(code, x.field)
	}
}

func (x *expander) has(code Code, subject string) bool {
	_, ok := x.given[noteKey{code, subject}]
	return ok
}

// note gives a note, unless it has been given before.
func (x *expander) note(code Code, subject string) {
	last := len(x.notes) - 1
	if last >= 0 && x.notes[last].Code == code && x.notes[last].Subject == subject || x.has(code, subject) {
		return
	}
	if x.given == nil {
		x.given = make(map[noteKey]struct{})
	}
	x.given[noteKey{code, subject}] = struct{}{}
	x.notes = append(x.notes, newNote(code, subject))
}
