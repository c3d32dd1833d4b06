package stage

import (
	"errors"
	"path"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A Receipt says what was promoted. The receipt of an operation is the same,
// byte for byte, however often and by which process it is read.
type Receipt struct {
	// Operation is the id of the operation; it matches
	// ^op-[0-9]{10}-[a-z0-9]{8}$, and later ones sort behind.
	Operation string `json:"operation"`
	// Candidate is the id of the candidate.
	Candidate string `json:"candidate"`
	// Approval is that of the plan.
	Approval string `json:"approval"`
	// Digest is that of the plan.
	Digest string `json:"digest"`
	// Manifest is the digest of the manifest.
	Manifest string `json:"manifest"`
	// Files has the changes, sorted by the bytes of their paths.
	Files []Change `json:"files"`
}

// receiptSuffix ends the name of every receipt: the operation, and the approval
// if there is one, with a dot before each further part.
const receiptSuffix = ".receipt"

func receiptName(operation, approval string) string {
	if approval != "" {
		operation += "." + approval
	}
	return operation + receiptSuffix
}

// parseReceiptName undoes receiptName.
func parseReceiptName(name string) (operation, approval string, ok bool) {
	stem, ok := strings.CutSuffix(name, receiptSuffix)
	operation, approval, _ = strings.Cut(stem, ".")
	return operation, approval, ok && isOperation(operation)
}

// Receipt returns the receipt of the promotion that approval allowed. It is
// false if there is none: nothing was promoted, or the promotion is not
// finished, which [Area.Lock] makes sure of, or Options.MaxReceipts later ones
// took its room. Receipt waits for nobody.
//
// The error's code is plan_invalid, stage_damaged, or stage_io.
func (a *Area) Receipt(approval string) (Receipt, bool, error) {
	if approval == "" || !isApproval(approval) {
		return Receipt{}, false, refusef(CodePlan, "receipt", "the approval has no valid form")
	}
	names, err := a.receiptNames()
	if err != nil {
		return Receipt{}, false, err
	}
	for _, name := range names {
		if _, of, _ := parseReceiptName(name); of == approval {
			return a.readReceipt(name)
		}
	}
	return Receipt{}, false, nil
}

// operationReceipt returns the name of an operation's receipt, "" if there is
// none.
func (a *Area) operationReceipt(operation string) (string, error) {
	names, err := a.receiptNames()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if of, _, _ := parseReceiptName(name); of == operation {
			return name, nil
		}
	}
	return "", nil
}

// receiptNames returns the names of all receipts, oldest first.
func (a *Area) receiptNames() ([]string, error) {
	dir := a.below(receiptDir)
	infos, err := a.files.ReadDir(dir, maxEntries)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, wrap(CodeUnsafe, "receipt", dir, err)
	}
	var names []string
	for _, info := range infos {
		name := path.Base(info.Path)
		if _, _, ok := parseReceiptName(name); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// readReceipt reads the receipt of that name; false means that it made room
// for another meanwhile.
func (a *Area) readReceipt(name string) (Receipt, bool, error) {
	p := a.below(receiptDir, name)
	data, err := a.files.ReadFile(p, maxRecord)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return Receipt{}, false, nil
	}
	if err != nil {
		return Receipt{}, false, wrap(CodeUnsafe, "receipt", p, err)
	}
	var r Receipt
	if err := unseal(receiptKind, data, &r); err != nil || receiptName(r.Operation, r.Approval) != name {
		return Receipt{}, false, refuse(CodeDamaged, "receipt", p)
	}
	return r, true, nil
}

// writeReceipt makes the receipt of an operation durable. The oldest ones make
// room before, so that there are never more than there may be.
func (a *Area) writeReceipt(in *intent) (Receipt, error) {
	r := Receipt{
		Operation: in.Operation, Candidate: in.Candidate, Approval: in.Approval,
		Digest: in.Digest, Manifest: in.Manifest, Files: make([]Change, len(in.Steps)),
	}
	for i, s := range in.Steps {
		r.Files[i] = Change{Path: s.Path, Before: s.Before, SHA256: s.SHA256, Size: s.Size}
	}
	data, err := seal(receiptKind, r)
	if err != nil {
		return Receipt{}, err
	}
	dir, name := a.below(receiptDir), receiptName(in.Operation, in.Approval)
	if err := a.files.MkdirAll(dir, 0o755); err != nil {
		return Receipt{}, err
	}
	names, err := a.receiptNames()
	if err != nil {
		return Receipt{}, err
	}
	for len(names) >= a.opts.MaxReceipts {
		oldest := names[0]
		names = names[1:]
		if oldest == name {
			continue
		}
		if err := a.removeFile(dir + "/" + oldest); err != nil {
			return Receipt{}, err
		}
	}
	_, err = a.put(dir, name, data)
	return r, err
}

// nextOperation returns the id of a new operation.
func (a *Area) nextOperation() (string, error) {
	names, err := a.receiptNames()
	if err != nil {
		return "", err
	}
	last := 0
	if len(names) > 0 {
		of, _, _ := parseReceiptName(names[len(names)-1])
		last = operationNumber(of)
	}
	if last >= 9_999_999_999 {
		return "", &Error{Code: CodeDamaged, Op: "promote", Paths: []string{a.below(receiptDir)}, Err: errors.New("no operation number is left")}
	}
	return operationID(last+1, a.newID()), nil
}
