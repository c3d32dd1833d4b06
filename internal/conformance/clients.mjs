// Lists and calls every tool of a server with the clients of the TypeScript SDKs, as each identity, and fails if one of
// them throws or a call does not end as expected.
//
// usage: node clients.mjs CALLS URL COMMAND...
//
// It runs in a folder with the packages installed. CALLS names a file of calls, one a line: tool, "ok" or "fails", and
// the arguments, with tabs between. The server is called at URL and as a child process, COMMAND.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(pathToFileURL(`${process.cwd()}/x.js`));
const load = (name) => import(pathToFileURL(resolve(name)));
const v1 = {
  ...(await load("@modelcontextprotocol/sdk/client/index.js")),
  ...(await load("@modelcontextprotocol/sdk/client/stdio.js")),
  ...(await load("@modelcontextprotocol/sdk/client/streamableHttp.js")),
};
const v2 = { ...(await load("@modelcontextprotocol/client")), ...(await load("@modelcontextprotocol/client/stdio")) };

const [callsFile, url, command, ...args] = process.argv.slice(2);
const calls = readFileSync(callsFile, "utf8").trim().split("\n").map((line) => {
  const [name, outcome, json] = line.split("\t");
  return { name, fails: outcome === "fails", arguments: JSON.parse(json) };
});

const clients = [
  { title: "sdk 1.x", sdk: v1, options: {} },
  { title: "client 2.x, sessions", sdk: v2, options: {} },
  { title: "client 2.x, 2026-07-28", sdk: v2, options: { versionNegotiation: { mode: "auto" } }, version: "2026-07-28" },
];
const identities = [
  ["codex-mcp-client", "0.98.0"], ["codex", "1.0.0"], ["claude-code", "2.0.20"], ["claude-code", "2.0.21"], ["claude-code", "2.1.332"],
  ["claude-code", "2.1.0 (Claude Code)"], ["claude-code", "v2.0.21"], ["Zed", "0.210.0"], ["cursor-vscode", "1.0.0"],
  ["Visual Studio Code", "1.110.0"], ["gemini-cli-mcp-client", "0.0.1"], ["claude-code (via mcp-remote 0.15.1)", "2.1.332"], ["inspector-cli", "2.12.0"],
].map(([name, version]) => ({ name, version }));
const transports = {
  stdio: (sdk) => new sdk.StdioClientTransport({ command, args }),
  http: (sdk) => new sdk.StreamableHTTPClientTransport(new URL(url)),
};

let made = 0;
let bad = 0;
function fault(where, what) {
  bad++;
  console.log(`${where}: ${what}`);
}

async function session(where, client) {
  const { tools } = await client.listTools(); // from here on the client checks results against the schemas
  for (const tool of tools.filter((t) => !calls.some((c) => c.name === t.name))) {
    fault(where, `nothing calls ${tool.name}`);
  }
  for (const { name, fails, arguments: given } of calls) {
    made++;
    try {
      const result = await client.callTool({ name, arguments: given });
      if (Boolean(result.isError) !== fails) {
        fault(where, `${name} ${JSON.stringify(given)}: ${JSON.stringify(result).slice(0, 300)}`);
      }
    } catch (error) {
      fault(where, `${name} ${JSON.stringify(given)} throws ${error}`);
    }
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource({ uri });
  for (const { uriTemplate: uri } of resourceTemplates) {
    await client.complete({ ref: { type: "ref/resource", uri }, argument: { name: "repo", value: "" } });
  }
}

for (const { title, sdk, options, version } of clients) {
  for (const [transport, open] of Object.entries(transports)) {
    const before = [made, bad];
    for (const identity of identities) {
      const where = `${title}, ${transport}, ${identity.name} ${identity.version}`;
      const client = new sdk.Client(identity, options);
      try {
        await client.connect(open(sdk));
        const spoken = client.getNegotiatedProtocolVersion?.();
        if (version && spoken !== version) fault(where, `speaks ${spoken}`);
        await session(where, client);
      } catch (error) {
        fault(where, `throws ${error}`);
      } finally {
        await client.close();
      }
    }
    console.log(`${title}, ${transport}: ${identities.length} identities, ${made - before[0]} calls, ${bad - before[1]} faults`);
  }
}
process.exit(bad ? 1 : 0);
