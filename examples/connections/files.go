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

// readInput reads the named file, or the input for "-" and none. It gives the
// file's name for messages.
func (s streams) readInput(args []string) (text []byte, name string, err error) {
	if len(args) == 0 || args[0] == "-" {
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

// readVars reads a file of NAME=value lines. Values are literal. Lines that are empty
// or begin with "#" say nothing; another line is an error, which does not repeat it.
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
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q, line %d: it is not NAME=value", path, number)
		}
		vars[name] = value
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
