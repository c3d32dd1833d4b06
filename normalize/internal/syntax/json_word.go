package syntax

import (
	"math/big"
	"strings"
)

// word reads a value without quotes: a number, a literal, or text that
// somebody forgot to quote.
func (p *jsonParser) word() *Node {
	start := p.pos
	end := start + wordLen(p.src[start:])
	text := trimBlanks(p.src[start:end])
	if text == "" {
		p.fail("a value should stand here", "")
	}
	n := p.node(Null, start)
	p.pos = start + len(text)
	switch text {
	case "null":
		return n
	case "true", "false":
		n.Kind, n.Text = Bool, text
		return n
	}
	if isJSONNumber(text) {
		n.Kind, n.Text = Number, text
		return n
	}
	if yamlSign(text) && text != "!0" && text != "!1" {
		p.failYAML(start)
	}
	p.fixed |= JSON5
	p.loose(n, text)
	return n
}

// yamlSign tells whether a word is an alias, an anchor, a tag or a merge key of
// YAML, and so stands for something other than its text.
func yamlSign(word string) bool {
	return word[0] == '*' || word[0] == '&' || word[0] == '!' || strings.HasPrefix(word, "<<")
}

func (p *jsonParser) failYAML(at int) {
	panic(&Error{Offset: at, Msg: "an alias, an anchor or a tag of YAML cannot stand here", Hint: "write the value out, in quotation marks", yaml: true})
}

// loose reads what is not JSON.
func (p *jsonParser) loose(n *Node, text string) {
	switch text {
	case "None", "undefined", "nil", "NULL", "Null":
		return
	case "True", "TRUE":
		n.Kind, n.Text = Bool, "true"
		return
	case "False", "FALSE":
		n.Kind, n.Text = Bool, "false"
		return
	case "!0", "!1":
		n.Kind, n.JS, n.Text = Bool, true, "true"
		if text == "!1" {
			n.Text = "false"
		}
		return
	}
	if name, ok := strings.CutPrefix(text, "process.env."); ok && strings.IndexFunc(name, notInName) < 0 {
		n.Kind, n.Text = String, "${"+name+"}"
		return
	}
	if num, ok := decimal(text); ok {
		n.Kind, n.Text = Number, num
		return
	}
	if strings.ContainsAny(text, "\"'`(){}[]=;") {
		p.pos = n.Offset
		p.fail("a value is not quoted", "put it in quotation marks")
	}
	n.Kind, n.Text = String, text
}

func notInName(r rune) bool { return r >= 0x80 || !isBareKey(byte(r)) || r == '-' }

// wordLen is the length of the bare word at the start of s, up to what ends a
// value. "//" is a comment only after a blank, since addresses hold it too.
func wordLen(s string) int {
	for i := range len(s) {
		switch s[i] {
		case ',', '}', ']', '\n', '\r':
			return i
		case '/', '#':
			if i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
				return i
			}
		}
		if s[i] >= 0x80 {
			if _, size := fullwidth(s[i:]); size > 0 {
				return i
			}
		}
	}
	return len(s)
}

func trimBlanks(s string) string {
	return strings.TrimRightFunc(s, func(r rune) bool {
		kind, _ := Blank(string(r))
		return r == ' ' || r == '\t' || kind != 0
	})
}

// isJSONNumber tells whether s is a number as JSON spells it.
func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s == "" {
		return true
	}
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// maxDigits bounds the numbers that are converted from another base.
const maxDigits = 256

// decimal reads the number forms of JSON5 and TOML that JSON lacks: a plus
// sign, other bases, underscores between digits, a bare point, infinity.
func decimal(s string) (string, bool) {
	t := strings.TrimPrefix(s, "+")
	sign := ""
	if rest, ok := strings.CutPrefix(t, "-"); ok && t == s {
		sign, t = "-", rest
	}
	switch t {
	case "Infinity", "inf", "NaN", "nan":
		return sign + t, true
	}
	if len(t) > 2 && t[0] == '0' && strings.IndexByte("xXoObB", t[1]) >= 0 && len(t) <= maxDigits {
		v, ok := new(big.Int).SetString(t, 0)
		if !ok {
			return "", false
		}
		return sign + v.String(), true
	}
	t = dropUnderscores(t)
	if strings.HasPrefix(t, ".") {
		t = "0" + t
	}
	if whole, exp := cutExponent(t); strings.HasSuffix(whole, ".") {
		t = strings.TrimSuffix(whole, ".") + exp
	}
	return sign + t, isJSONNumber(t)
}

func cutExponent(s string) (mantissa, exponent string) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// dropUnderscores removes each underscore that stands between two digits.
func dropUnderscores(s string) string {
	if strings.IndexByte(s, '_') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] == '_' && i > 0 && i+1 < len(s) && digits(s[i-1:i]) == 1 && digits(s[i+1:i+2]) == 1 {
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}
