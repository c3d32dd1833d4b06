#!/usr/bin/env bash
# Proves on the system calls of the real server that it never probes: it serves 200 registered repos, half of them with a
# manifest, resolves each, reads all that is declared in each, and counts the failed file operations inside them.
#
# usage: examples/workspace/strace.sh       needs strace and the right to trace
#
# The second run has one fault in its registry. It must be seen, or the first run proves nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."

tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
go build -o "$tmp/server" ./examples/workspace

repos=200
ws=$tmp/ws
mkdir "$ws"
{
	printf 'schema_version: "1.0"\nkind: workspace_registry\nrepos:\n'
	for i in $(seq -f %03g 1 $repos); do
		mkdir -p "$ws/repo-$i/docs"
		echo "# repo-$i" >"$ws/repo-$i/README.md"
		echo "index" >"$ws/repo-$i/docs/index.md"
		printf '  - repo_id: repo-%s\n    entrypoints: [README.md, docs/index.md, mkdocs.yml]\n' "$i"
		printf '    entrypoint_status: {mkdocs.yml: missing}\n    resource_roots: {docs: docs}\n'
		if ((10#$i % 2)); then
			printf '    manifest_source: generated\n'
			continue
		fi
		printf '    manifest_source: repo\n    manifest_path: docs/agent/manifest.yaml\n'
		mkdir "$ws/repo-$i/docs/agent"
		printf 'schema_version: "1.0"\nkind: repo_manifest\nrepo_id: repo-%s\nentrypoints: [docs/index.md, docs/none/gone.md, README.md]\n' \
			"$i" >"$ws/repo-$i/docs/agent/manifest.yaml"
	done
} >"$ws/workspace-registry.yaml"

# The requests of a client of protocol 2026-07-28, one a line.
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"strace","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'
n=0
call() {
	n=$((n + 1))
	printf '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"name":"%s","arguments":{"repo_id":"%s"%s}}}\n' $n "$meta" "$1" "$2" "$3"
}
requests=$tmp/requests
for i in $(seq -f %03g 1 $repos); do
	call resolve_repo "repo-$i" ''
	for path in README.md docs/index.md mkdocs.yml; do
		call read_entrypoint "repo-$i" ',"path":"'$path'"'
	done
	for view in manifest start-here capabilities workflows contracts; do
		call read_view "repo-$i" ',"view":"'$view'"'
	done
	call scan_root "repo-$i" ',"type":"docs"'
done >"$requests"
total=$(wc -l <"$requests")

# run traces the server through all requests and sets failed, calls and answers.
run() {
	: >"$tmp/replies"
	mkfifo "$tmp/in"
	strace -f -y -qq -o "$tmp/trace" \
		-e trace=open,openat,openat2,stat,lstat,newfstatat,statx,access,faccessat,faccessat2,readlink,readlinkat,getdents64 \
		"$tmp/server" -root "$ws" <"$tmp/in" >"$tmp/replies" &
	server=$!
	exec 3>"$tmp/in"
	cat "$requests" >&3
	for _ in $(seq 600); do
		[ "$(wc -l <"$tmp/replies")" -ge "$total" ] && break
		sleep 0.2
	done
	exec 3>&-
	wait "$server"
	server=
	rm "$tmp/in"
	# A call that another thread interrupts takes two lines, of which only the first names the path.
	awk '/<unfinished \.\.\.>$/ { open[$1] = $0; next }
		/<\.\.\. [a-z0-9]+ resumed>/ { $0 = open[$1] " " $0 }
		{ print }' "$tmp/trace" >"$tmp/calls"
	answers=$(grep -c '"structuredContent"\|"content"' "$tmp/replies" || true)
	# Inside a repo: below a handle on it, or by a path below the handle on the workspace.
	grep -E "$ws/repo-|<$ws>, \"repo-" "$tmp/calls" >"$tmp/inside" || true
	calls=$(wc -l <"$tmp/inside")
	failed=$(grep -c ' = -1 E' "$tmp/inside" || true)
	echo "$1: $answers answers to $total requests, $calls file operations inside repos, $failed failed"
	[ "$answers" -eq "$total" ]
}

run "right registry"
if [ "$failed" -ne 0 ]; then
	grep ' = -1 E' "$tmp/inside" | head -5
	exit 1
fi
sed -i '0,/mkdocs.yml: missing/s//mkdocs.yml: present/' "$ws/workspace-registry.yaml"
run "one fault"
if [ "$failed" -eq 0 ]; then
	echo "the fault was not seen: nothing is proven"
	exit 1
fi
