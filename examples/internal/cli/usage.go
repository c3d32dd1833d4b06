package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Operands takes the flags out of args, wherever they stand, and returns the
// rest. fs has explained an error by then: pass it to [BadUsage].
func Operands(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
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
