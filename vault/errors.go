package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A Code says in one stable word why a call was refused or failed. Callers
// branch on it; messages may change.
type Code string

// The codes of this package. Each has one cause. None of the failures they
// stand for changes the vault's file, except where CodeIO says so.
const (
	// CodeWrongKey means that no slot opens with the keys of the provider: the
	// key is another one, or the slot was altered. The rest was not looked at.
	CodeWrongKey Code = "vault_wrong_key"
	// CodeTampered means that the key fits and the content does not: somebody
	// without the key changed, swapped or removed a part of the file, or put
	// another vault in its place.
	CodeTampered Code = "vault_tampered"
	// CodeDamaged means that the file is empty, larger than a vault can be, or
	// not in the form that this package writes, byte for byte. vault.bak has the state before the last
	// save.
	CodeDamaged Code = "vault_damaged"
	// CodeVersion means that a later version of the format is needed.
	CodeVersion Code = "vault_version"
	// CodeRollback means that the file is whole but older than one that was
	// seen before, or made from one that is, see [Options].
	CodeRollback Code = "vault_rollback"
	// CodeLocked means that the provider could not give its key: the file or
	// variable is missing, nobody can be asked, the keyring did not answer.
	CodeLocked Code = "vault_locked"
	// CodeKey means that what the provider gave is not a key: it must be 32
	// bytes, a passphrase of 8 to 1,024 bytes, and a kind well formed.
	CodeKey Code = "vault_key_invalid"
	// CodeKeyUnsafe means that a key file may be read by others, belongs to
	// somebody else, has a second name, or lies inside the vault's directory.
	CodeKeyUnsafe Code = "vault_key_unsafe"
	// CodeBusy means that another holder kept the vault's lock until the
	// context ended, or for 10 seconds if that has no deadline.
	CodeBusy Code = "vault_busy"
	// CodePermissions means that the directory or a file in it is not private:
	// open to others, somebody else's, a link, or a file with a second name; or
	// that the operating system denies access to it.
	CodePermissions Code = "vault_permissions"
	// CodeMissing means that there is no vault in that directory.
	CodeMissing Code = "vault_missing"
	// CodeExists means that something has the name of the file to make.
	CodeExists Code = "vault_exists"
	// CodeProfileMissing means that the vault has no profile of that name.
	CodeProfileMissing Code = "vault_profile_missing"
	// CodeProfileExists means that the vault has a profile of that name.
	CodeProfileExists Code = "vault_profile_exists"
	// CodeProfileInUse means that the profile cannot be removed: it is
	// [Default], or the parent of another.
	CodeProfileInUse Code = "vault_profile_in_use"
	// CodeSecretMissing means that neither the profile nor one above it has a
	// secret of that name, or that it is hidden.
	CodeSecretMissing Code = "vault_secret_missing"
	// CodeRecordMissing means that neither the profile nor one above it has a
	// record of that name.
	CodeRecordMissing Code = "vault_record_missing"
	// CodeSlotMissing means that the vault has no slot of that id.
	CodeSlotMissing Code = "vault_slot_missing"
	// CodeInvalid means that an argument breaks the rules of its method.
	CodeInvalid Code = "vault_invalid"
	// CodeLimit means that a value is over a limit of this package.
	CodeLimit Code = "vault_limit"
	// CodeIO means that the operating system failed. The change is not
	// acknowledged. If only the very last step failed, it may be made all the
	// same; the next read shows it.
	CodeIO Code = "vault_io"
	// CodeClosed means that the vault was closed, or that the [Tx] has ended.
	CodeClosed Code = "vault_closed"
)

// Error is the only error type this package returns, except for the error of
// the function given to [Vault.Update], which is passed on as it is. No message
// and no field holds a value, a key or a passphrase.
type Error struct {
	// Code says why. It is never empty.
	Code Code
	// Op is the operation, one lower-case word such as "open".
	Op string
	// Profile and Name are what it happened to; they may be empty.
	Profile, Name string
	// Detail is a sentence about what happened; it may be empty.
	Detail string
	// Err is the cause, an error of the operating system, of a context or of a
	// caller's [KeyProvider], or nil.
	Err error
}

// Error returns the operation, what happened, to what, and the cause. Names
// are quoted, and shortened when they are long.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(e.text())
	if e.Profile != "" {
		fmt.Fprintf(&b, ": profile %.80q", e.Profile)
	}
	if e.Name != "" {
		fmt.Fprintf(&b, ": name %.80q", e.Name)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// text returns the part of the message that the code decides.
func (e *Error) text() string {
	if e.Code == CodePermissions && rootfs.CodeOf(e.Err) == rootfs.Permission {
		return "the system denies access to the vault; its directory needs mode 0700, its files 0600, and this user as their owner"
	}
	return texts[e.Code]
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code as plain text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// maxTold bounds how much of a name goes to a caller: all of one that can be.
const maxTold = maxName

// subject is what a caller on the wire is told an error happened to.
type subject struct {
	// Profile is Error.Profile.
	Profile string `json:"profile,omitempty"`
	// Name is Error.Name.
	Name string `json:"name,omitempty"`
}

// ErrorDetails returns profile and name as an object, each cut to 256 bytes, or
// nil if there is neither.
func (e *Error) ErrorDetails() any {
	if e.Profile == "" && e.Name == "" {
		return nil
	}
	return subject{Profile: wording.Clip(e.Profile, maxTold), Name: wording.Clip(e.Name, maxTold)}
}

// CodeOf returns the code of the first [*Error] in err's chain, and "" if err
// is nil or holds none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// texts has the part of a message that the code decides. It never changes.
var texts = map[Code]string{
	CodeWrongKey:       "the key does not open the vault; use the one it was made with",
	CodeTampered:       "the vault was altered by somebody without its key; restore the file from a copy",
	CodeDamaged:        "the file is not a vault; restore it from vault.bak or another copy",
	CodeVersion:        "the vault has a later format; use a newer program",
	CodeRollback:       "the vault is older than one that was seen before, or made from an older one; restore the newer file",
	CodeLocked:         "the key is not available",
	CodeKey:            "this is no key for a vault",
	CodeKeyUnsafe:      "the key file is not safe",
	CodeBusy:           "another process is changing the vault; try again",
	CodePermissions:    "the vault is not private; give it mode 0700, its files 0600, and no links",
	CodeMissing:        "there is no vault here; create one",
	CodeExists:         "there is one already; nothing was changed",
	CodeProfileMissing: "the vault has no such profile; create it",
	CodeProfileExists:  "the vault has such a profile already",
	CodeProfileInUse:   "the profile cannot be removed while others build on it",
	CodeSecretMissing:  "no such secret; list those there are, or set it",
	CodeRecordMissing:  "no such record; list them",
	CodeSlotMissing:    "the vault has no such key slot; list them",
	CodeInvalid:        "the argument is not well formed",
	CodeLimit:          "over the limit",
	CodeIO:             "input or output failed",
	CodeClosed:         "it is closed",
}

// fault makes an error about the vault as a whole.
func fault(code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Detail: fmt.Sprintf(format, args...)}
}

// codeOfFile says what a failure of rootfs means for a vault.
func codeOfFile(err error) Code {
	switch rootfs.CodeOf(err) {
	case rootfs.Locked:
		return CodeBusy
	case rootfs.Link, rootfs.HardLink, rootfs.NotRegular, rootfs.NotDir,
		rootfs.CrossDevice, rootfs.Escape, rootfs.Permission:
		return CodePermissions
	case rootfs.NotFound:
		return CodeMissing
	case rootfs.TooLarge:
		return CodeLimit
	case rootfs.Exists:
		return CodeExists
	}
	if errors.Is(err, fs.ErrClosed) {
		return CodeClosed
	}
	return CodeIO
}

// failed classifies an error of the file system. It returns nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	return &Error{Code: codeOfFile(err), Op: op, Err: err}
}

// ended returns the error of a context that has ended, or nil.
func ended(ctx context.Context, op string) error {
	if ctx.Err() == nil {
		return nil
	}
	return &Error{Code: CodeBusy, Op: op, Err: context.Cause(ctx)}
}
