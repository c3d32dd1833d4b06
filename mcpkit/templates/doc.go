// Package templates serves a set of immutable text templates to MCP clients.
//
//	//go:embed templates
//	var files embed.FS
//
//	sub, err := fs.Sub(files, "templates")
//	if err != nil {
//		log.Fatal(err)
//	}
//	set, err := templates.Load(sub, nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "docs", Version: "1.0.0"}, nil, set.Install)
//	if err != nil {
//		log.Fatal(err)
//	}
//	if err := server.Run(context.Background(), &mcpkit.StdioTransport{}); err != nil {
//		log.Fatal(err)
//	}
//
// # The set
//
// The file templates.yaml names the set and says for each template, by its logical id, in which file it is, where the
// artifact made from it belongs in a project, and of which type it is:
//
//	schema_version: "1"
//	set: v2
//	templates:
//	  decision-record:
//	    file: records/decision.md
//	    artifact_path: docs/decisions/decision.md
//	    media_type: text/markdown
//	    sha256: 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
//
// The sha256 of a file may be left out; where it is given, [Load] refuses a file that differs. Clients never see the path
// of a file in the set, only the logical id, the URI, the path of the artifact, the type and the SHA-256.
//
// # On the wire
//
// Each template is a resource, template://SET/ID. The tool template_get_many returns several at once:
//
//	ids          1 to 32 logical ids, without duplicates
//	contentMode  embedded_resource (if absent) or text: how clients that read text get the bodies
//
// Its result is {"items": [{"id", "uri", "artifactPath", "mediaType", "sha256", "size", "content"}]} in the order of ids.
// Each body is sent once. A client that reads structured content gets it as "content"; a client that reads text gets one
// block for each template, in the same order, and then the JSON without content. A request with an unknown id fails as a
// whole, with the code template_unknown.
//
// # Concurrency
//
// A [Set] is immutable and safe for concurrent use. It is read once, by Load, and kept in memory, so that no later change
// of a file shows.
//
// # Errors
//
// Every failure is an [*Error] with a [Code].
//
// # Limits
//
// 256 templates in a set, 256 KiB in one template unless [Options] say otherwise, 1 MiB in templates.yaml. What a call of
// the tool returns is bounded by the budget of the server for a result; a template beyond it can be read as a resource.
package templates
