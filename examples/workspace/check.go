package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/registry"
)

// The exit codes of check.
const (
	errProblems   = cli.ExitError(1)
	errCannotLook = cli.ExitError(2)
)

// check prints how the registry and the disk differ, for people and as a gate of a
// build.
func check(ctx context.Context, c config) error {
	reg, file, _, err := c.load()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		if faults, ok := errors.AsType[*registry.Error](err); ok && faults.Err == nil {
			return errProblems // it was read, and what it says is wrong
		}
		return errCannotLook
	}
	start := time.Now()
	opts, _, stop := progress("checking")
	found, err := registry.Check(ctx, reg, opts)
	stop()
	if err != nil {
		if faults, ok := printFaults(err); ok {
			err = &faultyError{file, faults, "compared with the disk"}
		}
		fmt.Fprintln(os.Stderr, "error:", err)
		return errCannotLook
	}
	problems, warnings := 0, 0
	for _, p := range append(reg.Warnings(), found...) {
		label := "warning: "
		if counts(p) {
			label = ""
			problems++
		} else {
			warnings++
		}
		fmt.Printf("%s%s\n", label, cli.Visible(p.String()))
	}
	fmt.Fprintf(os.Stderr, "%s, %s, %s, %s\n", repos(reg.Len()), cli.Count(problems, "problem", "problems"),
		cli.Count(warnings, "warning", "warnings"), time.Since(start).Round(time.Millisecond))
	if problems > 0 || c.strict && warnings > 0 {
		return errProblems
	}
	return nil
}

// counts tells a problem from a warning: a reader of the registry would fail, or the
// registry has fallen behind the disk. What a fresh registry may have too, such as
// an owner that is still a placeholder, is a warning.
func counts(p registry.Problem) bool {
	switch p.Code {
	case registry.StatusStale, registry.ManifestUndeclared:
		return true
	case registry.TooManyProblems:
		return true // nobody knows what is not listed
	}
	return p.Severity == registry.Reject
}
