package registry

import (
	"cmp"
	"fmt"
	"strings"
)

// Severity says what a [Problem] means for the file.
type Severity string

// The severities.
const (
	Reject Severity = "reject" // the file, or in a manifest the entry, is not used
	Warn   Severity = "warn"   // it is used; a person should look
)

// Code tells kinds of problems, and of changes, apart. Codes are stable.
type Code string

// Codes of the text itself. They end reading, except for the last five.
const (
	Unreadable       Code = "unreadable"        // the file cannot be opened or read
	FormatUnknown    Code = "format_unknown"    // the name ends in none of .yaml .yml .json .toml
	TooLarge         Code = "too_large"         // more bytes than ParseOptions.MaxBytes
	Empty            Code = "empty"             // there is no document
	ByteOrderMark    Code = "byte_order_mark"   // the text starts with one
	InvalidUTF8      Code = "invalid_utf8"      // the text is not UTF-8
	ControlCharacter Code = "control_character" // NUL or another control character
	Syntax           Code = "syntax"            // the text is not well formed
	SecondDocument   Code = "second_document"   // anything after the first document
	TooDeep          Code = "too_deep"          // nested deeper than 32 levels
	TooManyValues    Code = "too_many_nodes"    // more than 50,000 values in an entry, or a million in a YAML or TOML file
	TooManyKeys      Code = "too_many_keys"     // more than 4,096 keys in one mapping
	TooManyItems     Code = "too_many_items"    // more than 10,000 items in one list, or 250,000 repos
	TextTooLong      Code = "text_too_long"     // a single text of more than 64 KiB
	Alias            Code = "alias"             // a YAML anchor or alias
	Merge            Code = "merge"             // a YAML merge key
	UnknownTag       Code = "unknown_tag"       // a YAML tag outside the core schema
	KeyNotScalar     Code = "key_not_scalar"    // a YAML key that is no plain word
	DuplicateKey     Code = "duplicate_key"     // a key given twice in one mapping
)

// Codes of the content.
const (
	SchemaVersion       Code = "schema_version"       // missing, not a text, or a version that this package cannot read
	WrongKind           Code = "wrong_kind"           // kind is missing or names another kind of file
	WrongType           Code = "wrong_type"           // a number where a text belongs, and so on
	UnknownField        Code = "unknown_field"        // a field that is not part of the format
	MissingField        Code = "missing_field"        // a field that every entry needs
	InvalidValue        Code = "invalid_value"        // a value that the field cannot have
	NotADefault         Code = "not_a_default"        // a field that is particular to one repo, under defaults
	IDInvalid           Code = "id_invalid"           // a repo id that breaks the pattern of Repo.ID
	IDDuplicate         Code = "id_duplicate"         // two entries with one id, also where only case differs
	FormerIDDuplicate   Code = "former_id_duplicate"  // a former id that is an id or another former id
	SuccessorUnknown    Code = "successor_unknown"    // superseded_by names no entry (warn)
	PathInvalid         Code = "path_invalid"         // a path that is not clean, or that no system takes safely
	PathWindows         Code = "path_windows"         // a drive letter, a network share or a backslash
	PathOutside         Code = "path_outside"         // a path that ends outside the repo or the workspace
	PathDuplicate       Code = "path_duplicate"       // two entries with one folder (warn)
	Nonportable         Code = "nonportable"          // an absolute path, good on one machine only (warn)
	ManifestContradicts Code = "manifest_contradicts" // manifest_source and manifest_path do not go together
	ClassUnknown        Code = "class_unknown"        // repo_class is not one of ParseOptions.Classes
	StatusUndeclared    Code = "status_undeclared"    // entrypoint_status of a path that is not declared (warn)
	NoEntrypoints       Code = "no_entrypoints"       // neither a manifest nor an entrypoint (warn)
	IncludeUnreadable   Code = "include_unreadable"   // an included file or folder cannot be read
	IncludeCycle        Code = "include_cycle"        // a file that includes itself, by way of others or not
	OverlayUnknown      Code = "overlay_unknown"      // an overlay extends or removes what is not there
	NotSpliced          Code = "not_spliced"          // a file that Generate cannot bring up to date in place
	TooManyProblems     Code = "too_many_problems"    // there are more; the first 1,000 are given
)

// Problem is one thing wrong with a registry or a manifest, or one difference between a registry and the
// workspace. Its JSON form leaves out empty fields.
type Problem struct {
	Code     Code     `json:"code"`              // the kind of problem
	Severity Severity `json:"severity"`          // what it means for the file
	Message  string   `json:"message"`           // what is wrong and what to do, without the position
	File     string   `json:"file,omitempty"`    // as ParseOptions.File, or the manifest relative to the workspace
	Line     int      `json:"line,omitempty"`    // from 1; 0 if the problem has no place in the file
	Column   int      `json:"column,omitempty"`  // from 1, in characters
	Field    string   `json:"field,omitempty"`   // path of the field, such as repos[3].entrypoints[1]
	RepoID   string   `json:"repo_id,omitempty"` // the entry it belongs to, if that has an id
}

// String writes the problem on one line, starting as compilers do: file:line:column.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" || p.Line > 0 {
		b.WriteString(cmp.Or(p.File, "registry"))
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
		}
		b.WriteString(": ")
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	b.WriteString(p.Message)
	if p.RepoID != "" {
		b.WriteString(" (repo " + p.RepoID + ")")
	}
	return b.String()
}

// Error is why a file was not loaded. It holds every problem found, those of severity [Warn] too, in the
// order of the file.
type Error struct {
	Problems []Problem // at least one of severity Reject
	Err      error     // why the file could not be read, nil if it was
}

// Error gives the first problem that counts, and how many there are.
func (e *Error) Error() string {
	var first string
	rejects := 0
	for _, p := range e.Problems {
		if p.Severity == Reject {
			if rejects++; rejects == 1 {
				first = p.String()
			}
		}
	}
	switch rejects {
	case 0, 1:
		return first
	case 2:
		return first + ", and 1 more problem"
	}
	return fmt.Sprintf("%s, and %d more problems", first, rejects-1)
}

// Unwrap gives the cause, for errors.Is with those of io/fs.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode is registry_invalid.
func (e *Error) ErrorCode() string { return "registry_invalid" }

// ErrorDetails gives the problems.
func (e *Error) ErrorDetails() any { return e.Problems }
