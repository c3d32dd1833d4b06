package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func std() streams { return streams{os.Stdin, os.Stdout, os.Stderr} }

// readInput reads the named file, or the input for "-" and "". It gives the
// file's name for messages.
func (s streams) readInput(args []string) (text []byte, name string, err error) {
	switch {
	case len(args) > 1:
		return nil, "", fmt.Errorf("unexpected argument %q; give one file", args[1])
	case len(args) == 0 || args[0] == "-":
		text, err = io.ReadAll(io.LimitReader(s.in, normalize.DefaultMaxBytes+1))
		return text, "", err
	}
	path, err := filepath.Abs(args[0])
	if err != nil {
		return nil, "", err
	}
	text, err = rootfs.ReadNamed(path, normalize.DefaultMaxBytes)
	return text, args[0], err
}

// readVars reads a file of NAME=value lines. Values are literal.
func readVars(path, origin string) (normalize.Vars, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	data, err := rootfs.ReadNamed(path, normalize.DefaultMaxBytes)
	if err != nil {
		return nil, err
	}
	vars := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			vars[name] = value
		}
	}
	return func(name string) (string, string, bool) {
		value, ok := vars[name]
		return value, origin, ok
	}, nil
}

// processVars are the variables of this process.
func processVars(name string) (value, origin string, ok bool) {
	value, ok = os.LookupEnv(name)
	return value, "env", ok
}
