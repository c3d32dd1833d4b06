package resolve

import (
	"fmt"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// Code is the stable machine code of an [Error] or a [Notice]. Codes are lower
// snake case, are part of the contract, and never stand for two causes.
type Code string

// Codes of an [Error].
const (
	// RepoUnknown: the id is in no registry entry and names no folder directly
	// under the workspace root. Details list the nearest ids.
	RepoUnknown Code = "repo_unknown"
	// RepoMissing: the registry lists the repo, but its folder is not there, or
	// only behind a link.
	RepoMissing Code = "repo_missing"
	// ProbeForbidden: the id is not registered and looking for it is not
	// allowed, because heuristics are off or because the folder of that name
	// belongs to a registered repo, which is never probed.
	ProbeForbidden Code = "probe_forbidden"
	// PathNotDeclared: neither an entrypoint nor below a resource root, or not
	// a path the policy accepts at all. Details list what is declared.
	PathNotDeclared Code = "path_not_declared"
	// RootNotDeclared: the repo has no resource root of that type. Details
	// list the types.
	RootNotDeclared Code = "root_not_declared"
	// ViewNotDeclared: the repo does not have that view. Details list the
	// views it has.
	ViewNotDeclared Code = "view_not_declared"
	// FileMissing: the path is declared, but there is no file.
	FileMissing Code = "file_missing"
	// FileTooLarge: the file is over [Options.MaxFile].
	FileTooLarge Code = "file_too_large"
	// FileRefused: what lies at the path is not served: a link, a file with
	// several names, a folder, a device, or a file of another file system.
	FileRefused Code = "file_refused"
	// FileUnreadable: the operating system refused the read.
	FileUnreadable Code = "file_unreadable"
	// FileChanged: the file changed while it was read. Reading again helps.
	FileChanged Code = "file_changed"
	// NotText: the file is not UTF-8 text.
	NotText Code = "not_text"
	// TooManyEntries: a listing went over [Options.MaxEntries].
	TooManyEntries Code = "too_many_entries"
	// RepoClosed: the method was called after [Repo.Close].
	RepoClosed Code = "repo_closed"
)

// Codes of a [Notice].
const (
	// RepoRenamed: the id asked for is a former one.
	RepoRenamed Code = "repo_renamed"
	// RepoArchived: the repo is archived; the message names its successor when
	// the registry knows one.
	RepoArchived Code = "repo_archived"
	// RepoUnregistered: the repo was found by listing folders.
	RepoUnregistered Code = "repo_unregistered"
	// ManifestMissing: the registry declares a manifest that is not there.
	ManifestMissing Code = "manifest_missing"
	// ManifestInvalid: the declared manifest cannot be read as one.
	ManifestInvalid Code = "manifest_invalid"
	// ManifestProblem: one entry of the manifest is faulty and was left out.
	ManifestProblem Code = "manifest_problem"
	// ManifestIDDiffers: the manifest gives another repo id or an empty one;
	// the registry's id is the one that counts.
	ManifestIDDiffers Code = "manifest_id_differs"
	// ManifestPathRefused: a path of the manifest is outside what the registry
	// declares and was left out.
	ManifestPathRefused Code = "manifest_path_refused"
	// EntrypointMissing: a declared entrypoint is not there.
	EntrypointMissing Code = "entrypoint_missing"
	// EntrypointUnusable: a declared entrypoint is there and is not served.
	EntrypointUnusable Code = "entrypoint_unusable"
	// RootMissing: the registry records that a resource root is not there.
	RootMissing Code = "root_missing"
	// MoreNotices: some notices were left out to keep the list short.
	MoreNotices Code = "more_notices"
)

// Details is what an [Error] adds for a program: the alternatives that would
// have worked. Each list holds at most 50 values.
type Details struct {
	// RepoID is the id asked for, cut at 100 bytes.
	RepoID string `json:"repo_id,omitempty"`
	// Path is the path, view or resource type asked for, cut at 100 bytes.
	Path string `json:"path,omitempty"`
	// Nearest holds the registered ids most like the one asked for.
	Nearest []string `json:"nearest,omitempty"`
	// Entrypoints holds the declared entrypoints.
	Entrypoints []string `json:"entrypoints,omitempty"`
	// ResourceRoots maps each resource type to its folders. Where a folder was to
	// be read as a file, these are the types that list it.
	ResourceRoots map[string][]string `json:"resource_roots,omitempty"`
	// Views maps each view to its path.
	Views map[string]string `json:"views,omitempty"`
}

// Error is the error of this package. Its text says what was asked for, why it
// was not served and what to do; it holds no absolute path.
type Error struct {
	Code    Code
	Message string  // one sentence, safe to show to a model
	Details Details // the request and its alternatives
	Err     error   // the cause, nil when there is none
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, an error of the file layer or nil.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code as text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// ErrorDetails returns the [Details].
func (e *Error) ErrorDetails() any { return e.Details }

const (
	maxQuote    = 100 // bytes of an input that a message repeats
	maxReason   = 400 // bytes of a message about a manifest that a notice repeats
	maxDeclared = 50  // values per list in Details
	maxInText   = 8   // values per list in a message
)

// clip cuts s to what a message may repeat of an input.
func clip(s string) string { return wording.Clip(s, maxQuote) }

func quote(s string) string { return wording.Quote(s, maxQuote) }

// sample renders the first values of a list for a message.
func sample(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	shown := values[:min(len(values), maxInText)]
	text := make([]string, len(shown))
	for i, v := range shown {
		text[i] = clip(v)
	}
	if rest := len(values) - len(shown); rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(text, ", "), rest)
	}
	return strings.Join(text, ", ")
}

// fileError turns an error of the file layer into one of ours. The message
// never repeats the cause, which may name folders outside the repo. The limit is
// that of the operation: the bytes of a file, or the entries of a listing.
func fileError(repoID, path string, limit int64, err error) *Error {
	code, reason := FileUnreadable, "cannot be read"
	switch layer := rootfs.CodeOf(err); layer {
	case rootfs.NotFound:
		code, reason = FileMissing, "is declared but not there; run check on the registry"
	case rootfs.TooLarge:
		code, reason = FileTooLarge, fmt.Sprintf("has more than %d bytes, the most that this server reads of such a file; split it", limit)
	case rootfs.TooMany:
		code, reason = TooManyEntries, fmt.Sprintf("takes the listing over %d entries, the most it may have; declare smaller folders in the registry, or read files by their paths", limit)
	case rootfs.Changed:
		code, reason = FileChanged, "changed while it was read; read it again"
	case rootfs.PathInvalid:
		code, reason = PathNotDeclared, "is not an acceptable path"
	default:
		if why := refusal(layer); why != "" {
			code, reason = FileRefused, why
		}
	}
	return &Error{
		Code:    code,
		Message: fmt.Sprintf("repo %s: %s %s", quote(repoID), quote(path), reason),
		Details: Details{RepoID: clip(repoID), Path: clip(path)},
		Err:     err,
	}
}

// refusal says why something that is there is not served; "" if the code of the
// file layer means something else.
func refusal(code rootfs.Code) string {
	switch code {
	case rootfs.NotRegular:
		return "is not a plain file; only plain files are read"
	case rootfs.NotDir:
		return "is not a folder, or lies below what is none"
	case rootfs.Link:
		return "is a link, or behind one; links are not followed"
	case rootfs.HardLink:
		return "has another name (a hard link), which may lie outside the repo, so it is refused; put a copy in its place"
	case rootfs.CrossDevice:
		return "lies on another file system than the workspace; mounts are not entered"
	case rootfs.Escape:
		return "led out of the repo while it was opened"
	}
	return ""
}
