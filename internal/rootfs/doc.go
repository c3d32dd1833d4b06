// Package rootfs reads and writes the files below one directory, and follows
// no link while it does so.
//
//	root, err := rootfs.Open(dir, nil)
//	if err != nil {
//		return err
//	}
//	defer root.Close()
//	data, err := root.ReadFile("docs/plan.md", 1<<20)
//	if rootfs.CodeOf(err) == rootfs.NotFound {
//		err = root.WriteFile("docs/plan.md", []byte("# Plan\n"), 0o644)
//	}
//
// Everything an agent, a document or a registry names goes through a [Root].
// Somebody else may own the tree and change it at any time: a file becomes a
// pipe, a directory becomes a link to /etc between two calls. An operation
// then fails with a [Code]; it never reads, writes or blocks elsewhere.
//
// # Paths
//
// Paths are relative to the root, in slash form, and pass [Check] before
// anything is opened: the same names are refused on every system, so that
// what one accepts all can hold. Two names that some file system takes for one
// have the same [FoldKey]; [Root.Collision] looks for such a twin on disk.
//
// # Opening
//
// On Linux the openat2 system call resolves a path in one step and refuses
// links, mount points and ways out. Elsewhere, or where a sandbox forbids that
// call, each part is looked at, opened through [os.Root] and compared with
// what was looked at. That finds another file system mounted inside, but not a
// second mount of the same one, which only an administrator can make. A file
// is opened without waiting, and read only if it is regular, has one name, and
// is no larger than the caller accepts; it must be unchanged afterwards.
//
// # Writing
//
// [Root.WriteFile] replaces a file as a whole and durably. Who needs several
// files to change together composes [Root.Copy], [Root.Create], [Root.Rename],
// [Root.Remove] and [Root.SyncDir], under a [Lock] if other processes do the
// same. A file that is there is never written to.
//
// # Concurrency
//
// A [Root] is safe for concurrent use. Any number of them, in any number of
// processes, may work on one directory. A [Walker] belongs to one goroutine at a
// time.
//
// # Errors
//
// Every failure is an [*Error] with a stable code and the path at fault; its
// message repeats no content. Walk and Lock also pass on the error of their
// context.
//
// # Limits
//
// Names, paths and depth are bounded by [MaxName], [MaxPath] and [MaxDepth],
// files by the limit of each call, listings and walks by theirs. The
// package builds on Linux, macOS, the BSDs and Windows. On Windows a directory
// cannot be made durable: writing is atomic there, and durable as far as the
// system makes it so. Locks on network file systems are as good as those.
package rootfs
