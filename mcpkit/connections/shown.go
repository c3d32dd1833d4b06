package connections

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// Codes of the notes that this package adds to those of package normalize.
const (
	noteOmitted  = "notes_omitted" // how many notes about the text as a whole were left out
	noteSealed   = "sealed"        // a secret of the text, which the vault would keep under this name
	noteCaptured = "captured"      // a name that the environment has, and the vault would keep
	noteVault    = "from_vault"    // a name that the vault has, for whatever connection it was meant
)

// envNames are the variables that a server gets.
func envNames(s *normalize.Server) []string {
	names := slices.Clone(s.EnvFrom)
	for _, p := range s.Env {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// noteLines are the notes as they are shown: code, subject and sentence.
func (s *Store) noteLines(w *work, notes []normalize.Note, sources map[string]string) []string {
	var lines []string
	for _, n := range notes {
		line := n.String()
		name := n.Subject
		if n.Code == normalize.NeedsInput {
			name = "input:" + name
		}
		switch n.Code {
		case normalize.Unresolved, normalize.EnvFromUnset, normalize.NeedsInput:
			line += ": it has no value and stays as it is; a person can set it with `" + s.opts.SecretCommand + " " + word(name) + "`"
		default:
			if n.Message != "" {
				line += ": " + n.Message
			}
		}
		lines = append(lines, line)
	}
	for _, secret := range w.sealed {
		lines = append(lines, noteSealed+":"+secret.name+": this secret of the text is replaced by a reference, and would be kept in the vault")
	}
	for _, name := range w.captured {
		lines = append(lines, noteCaptured+":"+name+": the environment has it, and it would be kept in the vault")
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if sources[name] == sourceVault {
			lines = append(lines, noteVault+":"+name+": the vault has a value under this name, which the server would get")
		}
	}
	return lines
}

// maxLine is the length from which a line about a proposal would be cut.
const maxLine = 160

// summary is what a person reads before deciding.
func (s *Store) summary(p *registration, sources map[string]string) []string {
	w := p.work
	lines := []string{fmt.Sprintf("register server %q (%s) in profile %s", p.Name, p.Transport, s.profile.Name())}
	if w.state != "" {
		lines = append(lines, "it takes the place of a connection of this name")
	}
	if p.Argv != nil {
		lines = append(lines, "this runs on this machine, now and whenever it is used:")
		lines = append(lines, wrap("  ", target(&w.server))...)
	} else {
		lines = append(lines, wrap("it connects to ", p.URL)...)
	}
	if w.server.Cwd != "" {
		lines = append(lines, wrap("in the folder ", w.server.Cwd)...)
	}
	for _, group := range []struct{ label, source string }{
		{"reads and keeps from the environment: ", sourceEnv},
		{"reads from the vault: ", sourceVault},
		{"keeps these secrets of the text: ", sourcePasted},
		{"has no value yet for: ", sourceNone},
	} {
		var names []string
		for _, name := range p.Refs {
			if sources[name] == group.source {
				names = append(names, name)
			}
		}
		if names != nil {
			lines = append(lines, wrap(group.label, strings.Join(names, ", "))...)
		}
	}
	for _, list := range []struct {
		label string
		pairs []normalize.Pair
	}{{"variable ", w.server.Env}, {"header ", w.server.Headers}} {
		for _, pair := range list.pairs {
			lines = append(lines, wrap(list.label, pair.Name+" = "+pair.Value)...)
		}
	}
	for _, n := range p.Notes {
		lines = append(lines, wrap("note: ", n)...)
	}
	return lines
}

// wrap cuts a text into lines that are shown whole.
func wrap(label, text string) []string {
	var lines []string
	line := []rune(strings.ToValidUTF8(label+text, "?"))
	for len(line) > maxLine {
		lines = append(lines, string(line[:maxLine]))
		line = append([]rune("    "), line[maxLine:]...)
	}
	return append(lines, string(line))
}

// word quotes what a stranger chose for the command line that a person is told to
// type.
func word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plainWord is what no shell reads as anything else.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_:.-]+$`)
