package lookup

import "strings"

// Evidence lists what a lookup did, in order. It is there whether the lookup
// succeeded or not, and holds public text only.
type Evidence []Step

// A Step is one thing that a lookup asked or decided.
type Step struct {
	// Step says what was done: "reference", "registry", "repository", the name of
	// a file of the repository, "package", "smithery", "glama", "agent" or
	// "decision".
	Step string `json:"step"`
	// Source is the address that was asked, or what else was looked at.
	Source string `json:"source"`
	// Outcome says in one lower-case sentence what came of it.
	Outcome string `json:"outcome"`
}

// String gives the step on one line.
func (s Step) String() string { return s.Step + " (" + s.Source + "): " + s.Outcome }

// String gives one line for each step.
func (e Evidence) String() string {
	lines := make([]string, len(e))
	for i, s := range e {
		lines[i] = s.String()
	}
	return strings.Join(lines, "\n")
}

// Names of the steps that more than one place uses.
const (
	stepReference  = "reference"
	stepRegistry   = "registry"
	stepRepository = "repository"
	stepGlama      = "glama"
	stepAgent      = "agent"
	stepDecision   = "decision"
)
