package lookup

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// maxReference is the length of a reference in bytes.
const maxReference = 2048

// referenceKind is what a reference names.
type referenceKind uint8

const (
	refWords    referenceKind = iota // a description
	refGitHub                        // a repository, or a folder in it
	refRegistry                      // a name of the registry
	refSmithery                      // a server of Smithery
	refGlama                         // a page of Glama
	refPackage                       // a package of a known ecosystem
	refBare                          // a package whose ecosystem nothing tells
	refCommand                       // a command line that runs a package
	refAddress                       // an address of a host that is not asked
)

// A reference is a parsed reference. Its parts hold no credentials, but for the
// words of a description or a command line.
type reference struct {
	kind referenceKind
	// owner and repo are of GitHub; of Smithery and Glama, who publishes it and
	// the name.
	owner, repo string
	// rest are the parts of a path after /tree/: a branch, which may have
	// slashes, and a folder.
	rest []string
	// eco is the ecosystem of a package.
	eco string
	// name and version are of a package, a name of the registry, or an image;
	// name is also the text of the other kinds.
	name, version string
}

var (
	ownerName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}$`)
	repoName     = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	registryName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*/[a-zA-Z0-9_][a-zA-Z0-9._-]*$`)
	versionText  = regexp.MustCompile(`^[*^~]?[A-Za-z0-9.*+_-]{0,64}$`)
	packageText  = regexp.MustCompile(`^(?:@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9][A-Za-z0-9._~-]{0,213}$`)
	imageText    = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(?::[0-9]+)?(?:/[a-z0-9][a-z0-9._-]*)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`)
	scpText      = regexp.MustCompile(`^(?:[A-Za-z0-9._-]+@)?((?:www\.|ssh\.)?github\.com):/*([^/].*)$`)
)

// parseReference reads a reference in any of its spellings.
func parseReference(text string) (reference, error) {
	if len(text) > maxReference {
		return reference{}, errors.New("a reference has at most " + strconv.Itoa(maxReference) + " bytes")
	}
	text = tidy(text)
	switch {
	case text == "":
		return reference{}, errors.New("the reference is empty; give an address, a name or a few words")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, isUnprintable):
		return reference{}, errors.New("a reference is one line of text")
	}
	if prefix, rest, ok := strings.Cut(text, ":"); ok {
		if ref, known, err := parsePrefixed(strings.ToLower(prefix), rest); known {
			return ref, err
		}
	}
	if strings.ContainsFunc(text, unicode.IsSpace) {
		return parseWords(text)
	}
	return parseWord(text)
}

// tidy takes away what copying leaves around a reference: blanks, continued
// lines and a pair of quotes.
func tidy(text string) string {
	text = strings.NewReplacer("\\\r\n", " ", "\\\n", " ", "\t", " ").Replace(text)
	for {
		text = strings.TrimSpace(text)
		if n := len(text) - 1; n > 0 && slices.Contains([]string{"<>", `""`, "''", "``"}, text[:1]+text[n:]) {
			text = text[1:n]
			continue
		}
		if !strings.ContainsAny(text, "\"'`\r\n") {
			text = strings.Join(strings.Fields(text), " ")
		}
		return text
	}
}

// parseWord reads a reference without blanks, from the most telling spelling to
// the least.
func parseWord(text string) (reference, error) {
	if m := scpText.FindStringSubmatch(text); m != nil {
		return parseAddress("https://" + m[1] + "/" + m[2])
	}
	if strings.Contains(text, "://") {
		return parseAddress(text)
	}
	host, _, slash := strings.Cut(text, "/")
	if host = strings.ToLower(host); slash && (strings.HasSuffix(host, "github.com") || knownHost(host)) {
		return parseAddress("https://" + text)
	}
	return parseName(text)
}

// parsePrefixed reads the spellings that say their kind: "npm:", "pypi:" and so
// on.
func parsePrefixed(prefix, rest string) (ref reference, known bool, err error) {
	switch prefix {
	case kindNPM, kindPyPI, kindNuGet:
		ref, err = packageReference(prefix, rest)
	case kindOCI, "docker":
		ref, err = imageReference(rest)
	case kindSmithery:
		ref, err = ownedReference(refSmithery, strings.TrimPrefix(rest, "@"))
	case "github":
		repo, branch, _ := strings.Cut(rest, "#")
		if branch != "" {
			repo += "/tree/" + branch
		}
		ref, err = parseAddress("https://github.com/" + repo)
	default:
		return ref, false, nil
	}
	return ref, true, err
}

// parseName reads a name: of the registry, a repository, an image or a package.
func parseName(text string) (reference, error) {
	name, version := splitVersion(text)
	owner, _, _ := strings.Cut(text, "/")
	// No owner on GitHub has a dot, and every namespace of the registry has one.
	switch {
	case strings.Contains(owner, ".") && registryName.MatchString(name) && isVersion(version):
		return reference{kind: refRegistry, name: name, version: version}, nil
	case isShort(text):
		return parseAddress("https://github.com/" + text)
	case strings.ContainsAny(text, ":/") && !strings.HasPrefix(text, "@") && imageText.MatchString(text):
		return imageReference(text)
	case strings.Contains(text, "=="):
		return packageReference(kindPyPI, text)
	case packageText.MatchString(name) && isVersion(version):
		return reference{kind: refBare, name: name, version: version}, nil
	}
	return reference{}, errors.New("this is no address, name or package; give a GitHub address, a registry name, npm:NAME, pypi:NAME, oci:IMAGE or smithery:@OWNER/NAME")
}

// isShort tells OWNER/REPO, with or without the path of a folder.
func isShort(text string) bool {
	owner, repo, ok := strings.Cut(text, "/")
	folder := strings.Contains(repo, "/tree/") || strings.Contains(repo, "/blob/")
	return ok && ownerName.MatchString(owner) && (folder || isRepo(repo))
}

// isVersion tells whether a version or a tag, or none, can be named. What is a path
// or an address would make a launcher take something else.
func isVersion(s string) bool {
	return s == "" || versionText.MatchString(s) && (s == "*" || strings.ContainsFunc(s, isAlphanumeric)) && s[0] != '.' && !strings.Contains(s, "..")
}

// isAlphanumeric tells what every version and tag has at least one of.
func isAlphanumeric(r rune) bool { return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// isRepo tells the name of a repository, with or without .git.
func isRepo(s string) bool {
	s = strings.TrimSuffix(s, ".git")
	return repoName.MatchString(s) && strings.Trim(s, ".") != ""
}

// packageReference reads a package with an optional version. What stands in
// brackets are optional parts of a package of PyPI, which are no part of the
// name.
func packageReference(eco, text string) (reference, error) {
	name, version := splitVersion(text)
	name, _, _ = strings.Cut(name, "[")
	if !packageText.MatchString(name) || !isVersion(version) || eco != kindNPM && strings.Contains(name, "/") {
		return reference{}, errors.New("this is no name of a package of " + eco + ", or its version is none")
	}
	return reference{kind: refPackage, eco: eco, name: name, version: version}, nil
}

// imageReference reads a container image with its tag and digest.
func imageReference(text string) (reference, error) {
	if !imageText.MatchString(text) {
		return reference{}, errors.New("this is no name of a container image")
	}
	return reference{kind: refPackage, eco: kindOCI, name: text}, nil
}

// ownedReference reads OWNER/NAME.
func ownedReference(kind referenceKind, text string) (reference, error) {
	owner, name, _ := strings.Cut(text, "/")
	if !isRepo(owner) || !isRepo(name) {
		return reference{}, errors.New("this names no server; it has to be OWNER/NAME")
	}
	return reference{kind: kind, owner: owner, repo: name}, nil
}

// parseWords reads a text with blanks: a command line that runs a package, or a
// description. A whole configuration is neither.
func parseWords(text string) (reference, error) {
	words := reference{kind: refWords, name: text}
	paste, err := normalize.Parse([]byte(text), nil)
	if err != nil || len(paste.Servers) == 0 {
		return words, nil //nolint:nilerr // what is no command line is a description
	}
	if paste.Format != "command" && paste.Format != "word" {
		return reference{}, errors.New("this is a configuration and no reference; paste it as one")
	}
	s := &paste.Servers[0]
	switch {
	case len(paste.Servers) > 1:
		return reference{}, errors.New("these are several command lines; look one up at a time")
	case s.Err != nil && s.Err.Code == normalize.NeedsLookup && !strings.ContainsFunc(s.Err.Subject, unicode.IsSpace):
		return parseNamed(text, s.Err.Subject)
	case s.Err != nil:
		return words, nil
	}
	t := targetOf(s)
	if t.kind == kindLocal || t.kind == kindRemote {
		return words, nil
	}
	if ref, ok := plainPackage(s, t); ok {
		return ref, nil
	}
	return reference{kind: refCommand, name: text}, nil
}

// parseNamed reads the reference that a command line only names.
func parseNamed(text, subject string) (reference, error) {
	if strings.Contains(text, "@smithery/cli") {
		return ownedReference(refSmithery, strings.TrimPrefix(subject, "@"))
	}
	return parseWord(subject)
}

// plainPackage turns a command line that says no more than a package's name
// into a reference to the package, so that the registry can say what else it
// needs. A command line with arguments of its own is complete as it is.
func plainPackage(s *normalize.Server, t target) (reference, bool) {
	if len(t.tail) > 0 || len(s.Env)+len(s.EnvFrom) > 0 || t.kind != kindNPM && t.kind != kindPyPI {
		return reference{}, false
	}
	if len(s.Args) > 2 || len(s.Args) == 2 && s.Args[0] != "-y" && s.Args[0] != "--yes" || s.Command != "npx" && s.Command != "uvx" {
		return reference{}, false
	}
	ref, err := packageReference(t.kind, s.Args[len(s.Args)-1])
	return ref, err == nil
}

// String gives the canonical spelling, which parses to the same reference.
func (r reference) String() string {
	switch r.kind {
	case refGitHub:
		s := "https://github.com/" + r.owner + "/" + r.repo
		if len(r.rest) > 0 {
			s += "/tree" + escaped(r.rest)
		}
		return s
	case refSmithery:
		return "smithery:@" + r.owner + "/" + r.repo
	case refGlama:
		return "https://glama.ai/mcp/servers/" + r.owner + "/" + r.repo
	case refPackage:
		return r.eco + ":" + r.versioned()
	}
	return r.versioned()
}

// escaped makes a path of parts.
func escaped(parts []string) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString("/" + url.PathEscape(part))
	}
	return b.String()
}

// versioned gives the name with its version.
func (r reference) versioned() string {
	if r.version == "" {
		return r.name
	}
	return r.name + "@" + r.version
}

// describe says what kind of reference it is.
func (r reference) describe() string {
	switch r.kind {
	case refGitHub:
		if len(r.rest) > 0 {
			return "a folder or branch of a GitHub repository"
		}
		return "a GitHub repository"
	case refRegistry:
		return "a name of the registry"
	case refSmithery:
		return "a server of Smithery"
	case refGlama:
		return "a page of Glama"
	case refPackage:
		return "a package of " + r.eco
	case refBare:
		return "a package whose ecosystem nothing tells"
	case refCommand:
		return "a command line that runs a package"
	case refAddress:
		return "an address of a host that is not asked"
	}
	return "a description"
}
