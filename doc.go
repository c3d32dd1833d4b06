// Package mcpcontract is a map of a library of contract primitives for MCP
// servers that are built on the official Go SDK. Each package owns one
// contract, a promise that a server makes to the agents that call it, and can
// be imported alone:
//
//   - [github.com/mcpcontract/mcpcontract/registry]: a workspace file declares,
//     per repo, what may be read and who has authority.
//   - [github.com/mcpcontract/mcpcontract/resolve]: a repo is found registry
//     first, by guessing last, and the answer says which.
//   - [github.com/mcpcontract/mcpcontract/normalize]: any pasted client
//     configuration becomes one safe record, and goes back to any client.
//   - [github.com/mcpcontract/mcpcontract/normalize/lookup]: a GitHub address,
//     registry name or package becomes exactly one record, or a loud failure
//     with evidence.
//   - [github.com/mcpcontract/mcpcontract/normalize/probe]: a record is proven
//     by a live handshake before anyone stores it.
//   - [github.com/mcpcontract/mcpcontract/vault]: secrets and records sealed at
//     rest, in profiles that inherit.
//   - [github.com/mcpcontract/mcpcontract/changeset]: agents propose changes of
//     documents that never touch canonical files; people see a diff and a page.
//   - [github.com/mcpcontract/mcpcontract/changeset/docgraph]: a folder of
//     Markdown as the project behind a changeset: graph, search, bounded reads.
//   - [github.com/mcpcontract/mcpcontract/token]: approval tokens that survive
//     crashes and cannot be replayed, sealed cursors, retained contexts.
//   - [github.com/mcpcontract/mcpcontract/stage]: candidate files are staged and
//     promoted exactly as a human approved them, or not at all.
//   - [github.com/mcpcontract/mcpcontract/result]: each result and error has
//     the one representation that the calling client can read, within budget.
//   - [github.com/mcpcontract/mcpcontract/mcpkit]: the promises wired into a
//     server; one sub-package for each, so that a server links only what it
//     uses.
//
// This package itself holds no code.
package mcpcontract
