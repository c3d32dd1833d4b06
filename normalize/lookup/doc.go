// Package lookup turns a reference to an MCP server, such as the address of its
// repository, into exactly one record, or into an error that says what was asked
// and what came of it.
//
//	resolver := lookup.New(nil)
//	server, evidence, err := resolver.Resolve(ctx, "https://github.com/acme/notes-mcp")
//	fmt.Println(evidence) // one line for each step, also where err is set
//	if err != nil {
//		return err // an *Error: its code says why, and nothing was guessed
//	}
//	fmt.Println(server.Command, server.Args, server.Refs())
//
// # References
//
// A reference is one of these, in any common spelling:
//
//   - a repository on GitHub: https, ssh, git+https, git@github.com:OWNER/REPO,
//     OWNER/REPO or github:OWNER/REPO, with or without .git, query, fragment and
//     the path of a branch, folder or file;
//   - a name of the official registry, such as io.github.acme/notes, with
//     @VERSION for one version, or its address;
//   - a package: npm:NAME, pypi:NAME, nuget:NAME or oci:IMAGE, an image with a
//     tag or a host of its own, or the command line that runs it;
//   - a server of Smithery: smithery:@OWNER/NAME, its page, or the command line
//     that installs it;
//   - a page of the Glama directory;
//   - a package's bare name, or a few words. These may mean several things: they
//     become a record only if the registry knows one package of that name, or
//     an [Agent] can tell.
//
// # The chain
//
// The sources are asked in a fixed order: the registry; then, in the
// repository, server.json, package.json, pyproject.toml, the manifest of a
// bundle, smithery.yaml, committed client configurations and the README. The
// first that says how the server is run decides. Every later one that knows the
// same kind of way has to name the same program or address, else the lookup
// fails and shows both. The two files of packages only name what is run; where
// another source shows how, with which arguments and variables, its record is
// taken. Where one source gives several kinds of ways, the order
// is npm, PyPI, NuGet, container, address; the others are named in the
// evidence. Last, Glama is asked which variables the server requires, if nothing
// else said so.
//
// What a source holds is read by [normalize.Parse] and nothing else, so a record
// looks like that of any paste.
//
// # Values
//
// Every variable of a record is a reference and never a value, ${NAME}; what an
// entry of the registry fixes for one that is no secret becomes its default,
// ${NAME:-value}. Secrets in arguments, addresses and headers become references
// named after their option, parameter or header, with a note; a user in an address
// is dropped. Variables that change what programs load, run, trust or reach are
// dropped with a note, and so are a working folder and a file of variables.
//
// # Programs
//
// A record runs a package by a launcher or an image by a container program, under
// its bare name, or is an address. It is refused, and the evidence says why, where
// it has a launcher's option that may change what is fetched, from where, or what
// else runs; where the version is no version or tag, such as a path or an address;
// where a package stands for a repository that is not on GitHub; where a program is
// named that does not bear its package's name; and where a container gets more of
// the machine than variables. An entry whose package is in another registry than
// its launcher asks is refused too. All this holds for an agent's answer as well.
// Only --with of uv may stand in a command line that is itself the reference.
//
// # Trust
//
// All of this is what strangers publish. An entry of the registry counts for a
// repository only if it is in the namespace of the repository's owner or the
// repository names it or its package. Even then a record is a claim until a live
// probe agrees, and a person should approve its command first: lookup runs
// nothing but a configured [Command]. Packages are named and never fetched.
// Names that are archived or were never real are flagged in the evidence.
//
// # Network
//
// Requests go to the hosts of the base addresses in [Options] and to no other,
// over https unless a base says http, and so does every redirect. No
// credentials, cookies or referrers are sent. Answers are remembered for
// conditional requests, and a source that wants a pause gets it.
//
// # Errors
//
// Every error is an [*Error] with a [Code] and the [Evidence] so far. Of a source
// that could not be asked the message names the host and the kind of the cause (its
// status, DNS, TLS, refused, too slow, closed, no route, proxy) in words of this
// package; the cause itself is in [Error.Err], and may hold the address of a proxy.
//
// # Concurrency
//
// A [Resolver] is safe for concurrent use.
//
// # Limits
//
// A reference has at most 2048 bytes. One lookup makes at most 20 requests with
// at most 5 redirects each, in [Options.Timeout]; an answer has at most
// [Options.MaxBytes]. Of a README the first 256 KiB are read for servers, and other
// texts that are longer are left out; reading one cannot be stopped, so a lookup
// may pass its time by that much. A page of the registry has at most 100 entries.
// An agent sees at most 256 KiB of text and answers in at most 64 KiB.
package lookup
