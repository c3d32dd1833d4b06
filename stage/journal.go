package stage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A phase is how far an operation has come.
type phase string

// The phases of an operation. Its journal is replaced as a whole to go from
// one to the next.
const (
	// preparing: files with temporary names and copies of old files are being
	// made. Nothing that matters was changed; recovery removes them.
	preparing phase = "preparing"
	// applying: the commit point is passed; recovery finishes the operation.
	applying phase = "applying"
	// undoing: somebody aborted the operation; recovery finishes that.
	undoing phase = "undoing"
)

// An intent is the record of the operation that is under way.
type intent struct {
	Operation string `json:"operation"`
	Candidate string `json:"candidate"`
	Approval  string `json:"approval"`
	Digest    string `json:"digest"` // of the plan
	Manifest  string `json:"manifest"`
	Phase     phase  `json:"phase"`
	// Dirs has the directories that the operation makes, those in others last.
	Dirs  []string `json:"dirs"`
	Steps []step   `json:"steps"`
}

// A step is what an operation does to one path.
type step struct {
	Change
	Mode    fs.FileMode `json:"mode"`    // of the file to be written
	OldMode fs.FileMode `json:"oldMode"` // of the file that is there before
	Staged  bool        `json:"staged"`  // the content is in the candidate
}

// maxRecord bounds a journal or receipt: the most files, with paths as long as
// allowed and twice that for the rest.
const maxRecord = mostFiles * 3 * rootfs.MaxPath

// A record begins with a line that names kind, version and length of what
// follows, and ends with a line that has the SHA-256 of all before it. What is
// cut, or has one other byte, is no record.
const (
	journalKind = "mcpcontract stage journal 1"
	receiptKind = "mcpcontract stage receipt 1"
)

// errTorn means that a record is not whole.
var errTorn = errors.New("the record is not whole")

// seal makes a record of v.
func seal[T any](kind string, v T) ([]byte, error) {
	text, err := canon.Marshal(v)
	if err != nil {
		return nil, err
	}
	data := fmt.Appendf(nil, "%s %d\n%s\n", kind, len(text), text)
	sum := sha256.Sum256(data)
	return append(hex.AppendEncode(data, sum[:]), '\n'), nil
}

// unseal reads a record into v.
func unseal[T any](kind string, data []byte, v *T) error {
	const trailer = 2*sha256.Size + 1
	head, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(rest) < trailer+1 {
		return errTorn
	}
	text := rest[:len(rest)-trailer-1]
	if string(head) != kind+" "+strconv.Itoa(len(text)) {
		return errTorn
	}
	body := data[:len(data)-trailer]
	sum := sha256.Sum256(body)
	if string(data[len(body):]) != hex.EncodeToString(sum[:])+"\n" || body[len(body)-1] != '\n' {
		return errTorn
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// writeJournal makes in the operation that is under way. placed is as in put.
func (a *Area) writeJournal(in *intent) (placed bool, err error) {
	data, err := seal(journalKind, in)
	if err != nil {
		return false, err
	}
	return a.put(a.opts.Dir, journalName, data)
}

// readJournal returns the operation that is under way, nil if there is none.
// The journal gets its name only when it is whole and durable, and nothing is
// done before that; so one that is not whole belongs to nothing, and is
// removed. The caller holds the lock.
func (a *Area) readJournal() (*intent, error) {
	in, err := a.lookAtJournal()
	if errors.Is(err, errTorn) {
		return nil, wrap(CodeUnsafe, "recover", a.below(journalName), a.dropJournal())
	}
	return in, err
}

// lookAtJournal is readJournal without the lock: it changes nothing, and the
// error for a journal that is not whole is errTorn.
func (a *Area) lookAtJournal() (*intent, error) {
	const op = "recover"
	name := a.below(journalName)
	data, err := a.files.ReadFile(name, maxRecord)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, wrap(CodeUnsafe, op, name, err)
	}
	var in intent
	switch err := unseal(journalKind, data, &in); {
	case errors.Is(err, errTorn):
		return nil, errTorn
	case err != nil:
		return nil, &Error{Code: CodeDamaged, Op: op, Paths: []string{name}, Detail: "it was not written by this version"}
	}
	return &in, a.checkIntent(&in)
}

// checkIntent reports whether in could have been written by this package:
// whoever writes candidates could have written the journal as well.
func (a *Area) checkIntent(in *intent) error {
	damaged := func(detail string) error {
		return &Error{Code: CodeDamaged, Op: "recover", Paths: []string{a.below(journalName)}, Detail: detail}
	}
	if checkID("recover", in.Candidate) != nil || !isOperation(in.Operation) || !isApproval(in.Approval) {
		return damaged("a name in it is not valid")
	}
	if in.Phase != preparing && in.Phase != applying && in.Phase != undoing {
		return damaged("its phase is unknown")
	}
	paths := make([]string, len(in.Steps))
	for i, s := range in.Steps {
		paths[i] = s.Path
		if !isState(s.Before) || !isState(s.SHA256) || s.Mode != s.Mode.Perm() || s.OldMode != s.OldMode.Perm() {
			return damaged("a step in it is not valid")
		}
	}
	if err := a.checkPaths("recover", in.Candidate, paths); err != nil {
		return err
	}
	for _, dir := range in.Dirs {
		if !isParent(dir, paths) {
			return damaged("it makes a directory that it does not need")
		}
	}
	return nil
}

// isState reports whether s is a SHA-256 or stands for no file.
func isState(s string) bool { return s == "" || isSum(s) }

// isParent reports whether dir has one of paths in it.
func isParent(dir string, paths []string) bool {
	for _, p := range paths {
		if p != dir && within(p, dir) {
			return true
		}
	}
	return false
}

// dropJournal ends the operation that is under way.
func (a *Area) dropJournal() error {
	for _, name := range []string{rootfs.TempPrefix + journalName, journalName} {
		if err := a.removeFile(a.below(name)); err != nil {
			return err
		}
	}
	return a.files.SyncDir(a.opts.Dir)
}

// operationPrefix begins every operation id. A ten-digit number and random
// letters follow.
const operationPrefix = "op-"

// anyOperation has the length of every operation id.
const anyOperation = operationPrefix + "0000000000-xxxxxxxx"

func operationID(number int, random string) string {
	return fmt.Sprintf("%s%010d-%s", operationPrefix, number, random)
}

// isOperation reports whether s has the form of an operation id.
func isOperation(s string) bool {
	return len(s) == len(anyOperation) && strings.HasPrefix(s, operationPrefix) &&
		operationNumber(s) > 0 && checkID("", s) == nil
}

// operationNumber returns the number in an operation id, 0 if it has none.
func operationNumber(s string) int {
	rest := strings.TrimPrefix(s, operationPrefix)
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 10 {
		return 0
	}
	return n
}

// tempName is the name of the new file of step i until it gets its own.
func tempName(operation string, i int) string {
	return fmt.Sprintf("%s%s-%d", rootfs.TempPrefix, operation, i)
}

// temp is where the new file of step i is until it gets its own name.
func (in *intent) temp(i int) string {
	return path.Join(path.Dir(in.Steps[i].Path), tempName(in.Operation, i))
}

// undo is where the copy of the old file of step i is.
func (a *Area) undo(in *intent, i int) string {
	return a.below(undoDir, in.Operation, strconv.Itoa(i))
}

// targetDirs returns the directories of all steps, each once, in the order of
// the steps.
func (in *intent) targetDirs() []string {
	var dirs []string
	seen := map[string]bool{}
	for _, s := range in.Steps {
		if dir := path.Dir(s.Path); !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
