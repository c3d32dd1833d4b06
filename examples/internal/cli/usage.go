package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Operands takes the flags out of args, wherever they stand, and returns the
// rest. After "--" all are operands, also what looks like a flag. fs has explained
// an error by then: pass it to [BadUsage].
func Operands(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		left := fs.Args()
		if read := len(args) - len(left); len(left) == 0 || read > 0 && args[read-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// BadUsage is the error of a command whose flags cannot be read: the usual exit
// code, or err if it asks for help.
func BadUsage(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return ExitError(2)
}

// Misuse writes to log what is wrong with a command line, beyond what package
// flag sees, and returns the error to end with.
func Misuse(log io.Writer, format string, args ...any) error {
	_, _ = fmt.Fprintf(log, "error: "+format+"; run with -h for help\n", args...)
	return ExitError(2)
}
