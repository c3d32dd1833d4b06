package rootfs

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits of a path. Check refuses what is beyond them.
const (
	// MaxName is the longest name of one file or directory, in bytes. It leaves
	// room for a temporary name beside it where a system allows 255.
	MaxName = 200
	// MaxPath is the longest path, in bytes.
	MaxPath = 1024
	// MaxDepth is the largest number of parts in a path.
	MaxDepth = 32
)

// Check reports whether path may name an entry below a root, and returns an
// [*Error] with code path_invalid if not. The rules are the same on every
// operating system and look at nothing but the text:
//
//   - The path is valid UTF-8, relative, in slash form, and clean: no part is
//     empty, "." or "..". Nothing is decoded or repaired first.
//   - It is at most [MaxPath] bytes long, each of its at most [MaxDepth] parts
//     at most [MaxName].
//   - It has no control, format (zero width, bidirectional) or line separator
//     characters and none of \ : * ? " < > |.
//   - No part starts or ends with a space, ends with a dot, or starts with "-"
//     or "~", which tools mistake for an option or a home directory.
//   - No part is a device name of Windows, with or without an extension, has
//     the form of a short 8.3 name, or is ".git" in any case.
func Check(path string) error { return fail("check", path, check(path)) }

// check is Check with an incomplete error.
func check(path string) error {
	switch {
	case path == "":
		return invalid("it is empty")
	case len(path) > MaxPath:
		return invalid("it has %d bytes, the limit is %d", len(path), MaxPath)
	case !utf8.ValidString(path):
		return invalid("it is not valid UTF-8")
	}
	parts := 1
	for _, r := range path {
		if forbidden(r) {
			return invalid("it contains %+q", r)
		}
		if r == '/' {
			parts++
		}
	}
	if parts > MaxDepth {
		return invalid("it has %d parts, the limit is %d", parts, MaxDepth)
	}
	for part := range strings.SplitSeq(path, "/") {
		if err := checkPart(part); err != nil {
			return err
		}
	}
	return nil
}

func invalid(format string, args ...any) error { return refusef(PathInvalid, format, args...) }

// forbidden reports whether no name may contain r.
func forbidden(r rune) bool {
	switch r {
	case '\\', ':', '*', '?', '"', '<', '>', '|', 0x7f:
		return true
	}
	if r < utf8.RuneSelf {
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func checkPart(part string) error {
	switch {
	case part == "":
		return invalid("it is absolute, ends with a slash or has an empty part")
	case part == "." || part == "..":
		return invalid("it contains the part %q", part)
	case len(part) > MaxName:
		return invalid("a part has %d bytes, the limit is %d", len(part), MaxName)
	case part[0] == '-' || part[0] == '~':
		return invalid("a part starts with %q", part[:1])
	case part[len(part)-1] == '.':
		return invalid("a part ends with a dot")
	case strings.TrimSpace(part) != part:
		return invalid("a part starts or ends with a space")
	case device(part):
		return invalid("%q is a device name of Windows", part)
	case shortName(part):
		return invalid("%q has the form of a short 8.3 name", part)
	case strings.EqualFold(part, ".git"):
		return invalid("it leads into %q", part)
	}
	return nil
}

// device reports whether Windows takes part for a device. It looks at the text
// before the first dot, without spaces at its end, as Windows does.
func device(part string) bool {
	if strings.IndexByte("CPANLcpanl", part[0]) < 0 {
		return false // nearly all there is, and paths are checked all the time
	}
	base, _, _ := strings.Cut(part, ".")
	base = strings.TrimRight(base, " ")
	for _, name := range [...]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"} {
		if strings.EqualFold(base, name) {
			return true
		}
	}
	if len(base) < 4 || !strings.EqualFold(base[:3], "COM") && !strings.EqualFold(base[:3], "LPT") {
		return false
	}
	switch base[3:] {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u00b9", "\u00b2", "\u00b3":
		return true
	}
	return false
}

// shortName reports whether part looks like what Windows makes of a long name:
// at most eight characters ending in "~" and digits, then at most three more
// after a dot.
func shortName(part string) bool {
	if strings.IndexByte(part, '~') < 0 {
		return false
	}
	base, ext, _ := strings.Cut(part, ".")
	if len(base) > 8 || len(ext) > 3 {
		return false
	}
	stem := strings.TrimRight(base, "0123456789")
	return stem != base && strings.HasSuffix(stem, "~")
}

// FoldKey returns a text that is equal for two paths which some file system
// takes for the same: the full case folding of the path in Unicode's composed
// form (NFC). Two different paths with one key collide and must not both be
// written, nor one be read for the other. The key itself is no path.
func FoldKey(path string) string {
	if ascii(path) {
		return strings.ToLower(path)
	}
	// Decomposed first, so that the folding sees every letter by itself.
	folded := cases.Fold().String(norm.NFD.String(path))
	return norm.NFC.String(strings.Map(cherokee, folded))
}

// cherokee maps the small letters of Cherokee to the capitals, as Unicode's
// CaseFolding.txt says. cases.Fold exchanges the two.
func cherokee(r rune) rune {
	switch {
	case r >= 0xab70 && r <= 0xabbf:
		return r - 0xab70 + 0x13a0
	case r >= 0x13f8 && r <= 0x13fd:
		return r - 8
	}
	return r
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
