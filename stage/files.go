package stage

import "github.com/mcpcontract/mcpcontract/internal/rootfs"

// files is all that this package does to a file system, so that the tests can
// put a model in its place that loses what was not synced.
type files = rootfs.Files
