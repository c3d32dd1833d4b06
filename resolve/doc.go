// Package resolve finds the repos of a workspace, registry first, and reads
// nothing in them but what is declared.
//
//	reg, err := registry.Load("workspace-registry.yaml", nil)
//	if err != nil {
//		return err
//	}
//	repo, err := resolve.New(resolve.Static(reg), nil).Resolve(ctx, "ledger")
//	if err != nil {
//		return err
//	}
//	defer repo.Close()
//	for _, e := range repo.Entrypoints {
//		fmt.Println(repo.Mode, e.Path)
//	}
//
// # Three modes
//
// The registry is asked first, always. What it says decides the [Mode]:
//
//   - [ManifestBacked]: it declares a manifest, and the manifest was read. The
//     manifest decides about content: the order of the entrypoints, what has
//     authority, class and owner.
//   - [RegistryFallback]: it declares no manifest, or one that is missing or
//     cannot be read, which is a [Notice]. Its own declarations are used.
//   - [Heuristic]: it does not know the id, but a folder of exactly that name
//     lies directly under the workspace root. The usual places of entrypoints
//     are listed; what is found there can be read, and nothing else.
//
// Heuristics never touch the folder of a registered repo, and
// [Options.NoHeuristics] turns them off.
//
// # Who decides what may be read
//
// The registry routes: only its entrypoints, its views and what lies below its
// resource roots is ever opened. A manifest may order and add within that; a
// path of a manifest outside of it is left out with a notice. The id, the
// lifecycle and the signals are the registry's.
//
// # No blind probes
//
// Where the registry is right about a repo, no file operation fails, whatever
// the manifest says. What the registry records as missing is not opened. What
// only a manifest names, and the default paths of views, are looked for by
// listing folders from a declared one down. The default paths are
// docs/agent/start-here.md and docs/context/{capabilities,workflows,contracts}.md;
// they count for repos with a manifest only.
//
// Files are opened without following links, from the workspace root down; a file
// that is a link, has several names, or is no plain file, is refused, and so is a
// repo behind a link.
//
// # Concurrency
//
// A [Resolver] and a [Repo] are safe for concurrent use. A Repo opens the
// workspace when something is first read and keeps it open until [Repo.Close].
//
// # Errors
//
// Every error is an [*Error] with a [Code], or the error of the context. What is
// wrong with a registered repo as a whole is no error but a [Notice] of the
// [Repo]: agents go on with what there is.
//
// # Limits
//
// A file has at most 4 MiB, a manifest 256 KiB, a listing 10,000 entries; see
// [Options]. A repo has at most 41 notices, an unregistered one 30 entrypoints.
package resolve
