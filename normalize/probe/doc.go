// Package probe finds out whether an MCP server runs, by talking to it once.
//
//	report, err := probe.Check(ctx, launch, nil)
//	if err != nil {
//		return err // a *probe.Error: what went wrong, and what the server said on stderr
//	}
//	fmt.Println(report.Name, report.Protocol, report.Tools)
//
// # What is done
//
// [Check] starts the program of a [normalize.Launch] or connects to its address,
// opens a session with the client of the Go SDK, lists all tools and ends the
// session. It calls no tool. The handshake is server/discover (protocol
// 2026-07-28) where the server knows it and initialize where not. One that stays
// silent gets initialize after 10 seconds, or a third of the time where that is
// less. A program that ends because it does not expect server/discover is
// started a second time, and gets initialize alone.
//
// Running a stranger's program is a decision of its own: ask a person first.
//
// # Local servers
//
// A program gets the variables that its launch names, and of the host's only
// these: PATH, HOME, USER, LOGNAME, SHELL, TMPDIR, LANG, LC_ALL, LC_CTYPE and TZ,
// and on Windows those that find programs, the system and the user's folders. It
// is looked for in the PATH that it has then. It runs in a process group of its
// own, and the whole group has ended when Check returns: its standard input is
// closed, after a grace period the group is asked to end (SIGTERM), then killed,
// all within a quarter of the time and at most 3 seconds. Only a
// process that has left the group on purpose escapes that, except on Windows,
// where a job object holds all of them. A file of variables (Launch.EnvFile) is
// not read, and Launch.Image is not looked at.
//
// A launch with a program and an address is started and then reached at the
// address, as soon as it listens there. The probe fails if something listens there
// before, or if the program has ended before its tools are listed: what answers is
// then not what the launch runs, and may be anybody.
//
// # Remote servers
//
// The headers of a launch go to its own host only: a redirect to another one, or
// a stream that names an endpoint elsewhere, ends the probe. Proxies are taken
// from the host's environment. There is no sign-in: a server that wants one
// gives an error that says so.
//
// # What the server may ask
//
// The client declares no capabilities. Requests for a sample of a model or for
// input are refused, requests for roots get none.
//
// # Concurrency
//
// Check may be called any number of times at once. Every probe has a process and
// connections of its own, and starts no goroutine that outlives it.
//
// # Errors
//
// Errors are [*Error], except that of a canceled context, which comes back as it
// is. No text of an error holds a value of the launch's environment or headers, a
// secret-like argument or part of the address, what in any of these looks like a
// secret (what follows a scheme such as Bearer, strings of JSON, the values of
// pairs), a value of [Options.Hide], or a common encoding of one: "***" stands
// there. Values that no name marks as secrets stay where they are shorter than 4
// bytes, or a word, number or address that may stand in any message. Strings that
// a server reports about itself are treated the same way for values whose names or
// shapes mark them as secrets.
//
// # Limits
//
// A probe takes at most 30 seconds, its end included. One message has at most 4
// MiB, all that a server sends 8 MiB ([Options.MaxBytes]), a catalog 2,000 tools
// ([Options.MaxTools]) on 200 pages. A message is nested at most 1,000 levels
// deep. Of stderr the last 8 KiB are kept, of a name 256 bytes. Up to 64 lines and
// 64 KiB on stdout that are no messages are skipped and counted.
package probe
