package normalize

import (
	"strconv"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// newNote makes a note of the expander, with its sentence.
func newNote(code Code, subject string) Note {
	n := Note{Code: code, Subject: subject}
	name := strconv.Quote(clip(subject))
	switch code {
	case Unresolved:
		n.Message = "nothing knows the variable " + name + ", so the reference stays as text"
	case NeedsInput:
		n.Message = "a value for " + name + " has to be asked for"
	case InputDefaultUsed:
		n.Message = "the default of " + name + " was taken"
	case InputUndefined:
		n.Message = "the paste refers to a prompt " + name + " that it does not declare"
	case EnvFromUnset:
		n.Message = "the variable " + name + ", which the server is to get from the host, is not set"
	case RefToEntryEnv:
		n.Message = name + " is a variable of the entry itself"
	case RefDenied:
		n.Message = "the variable " + name + " may not be read, so the reference stays as text"
	case PercentExpanded:
		n.Message = "the Windows variable " + name + " was resolved"
	case DockerEnvNoValue:
		n.Message = "the container is to get " + name + ", which is not set"
	case FileRef:
		n.Message = "the file " + name + " is not read, so the reference stays as text"
	default:
		n.Message = placeMessage(code)
	}
	return n
}

// placeMessage is the sentence of a code whose subject is the place itself.
func placeMessage(code Code) string {
	switch code {
	case BareVarLeft:
		return "a name after a plain dollar sign is not expanded; write it in braces"
	case Unsupported:
		return "only ${NAME} and ${NAME:-default} are expanded; this form stays as text"
	case MalformedRef:
		return "a reference without a valid name or without its closing brace stays as text"
	case SuspiciousBraceRef:
		return "a name in braces without a dollar sign before them stays as text; most clients want ${NAME}"
	case DollarBeforeRef:
		return "the first of two dollar signs stays and the reference after it is expanded"
	case SubstitutionRefused:
		return "a command inside a value is never run and stays as text"
	case Placeholder:
		return "a value has to be filled in here"
	case ValueLooksLikeRef:
		return "the value itself looks like a reference; it is literal and must not be expanded again"
	case PercentLeft:
		return "a name between percent signs is expanded only on Windows and only if it is set"
	case TildeExpanded:
		return "the leading tilde became the home folder"
	case TildeLeft:
		return "a leading tilde is expanded only in a command or a path, and only if the home folder is known"
	case WouldNotExpand:
		return "the client this was written for sends the reference as text"
	case SpaceInArgUnderCmd:
		return "cmd may split an argument with a blank; pass it through a variable or use a short path"
	}
	return ""
}

// limitError says that a bound of the expander was passed. The message holds
// no text of the field.
func limitError(code Code, field, message string) *Error {
	return &Error{Code: code, Subject: field, Message: message}
}

// clip bounds text that is quoted in a message.
func clip(s string) string { return wording.Clip(s, 80) }
