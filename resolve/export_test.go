package resolve

import "github.com/mcpcontract/mcpcontract/internal/rootfs"

// Trace makes r tell fn of every file operation.
func Trace(r *Resolver, fn func(rootfs.Event)) { r.rootfs.Trace = fn }
