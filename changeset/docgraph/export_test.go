package docgraph

import "github.com/mcpcontract/mcpcontract/internal/rootfs"

// OpenTraced opens a project that tells trace of every operation on the file
// system.
func OpenTraced(dir string, opts Options, trace func(rootfs.Event)) (*Project, error) {
	opts.trace = trace
	return Open(dir, &opts)
}
