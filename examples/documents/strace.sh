#!/usr/bin/env bash
# Proves on the system calls of the real server that it starts no process, changes nothing outside of its own folder, and
# reads only the document that changed: it serves 300 documents and calls every kind of tool.
#
# usage: examples/documents/strace.sh       needs strace and the right to trace
set -euo pipefail
cd "$(dirname "$0")/../.."

tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
go build -o "$tmp/server" ./examples/documents

project=$tmp/project
mkdir -p "$project/docs"
printf 'schema_version: "1.0"\nproject: {id: traced}\ndocs: docs\noutputs: [{view: outline, path: site/outline.html}]\ncandidates: {allow: ["plans/*.md"]}\n' \
	>"$project/mcpdocs.yaml"
for i in $(seq -f %03g 1 300); do
	printf -- '---\nid: n%s\n---\n# Node %s\n\nIt links to [[n001]].\n' "$i" "$i" >"$project/docs/n$i.md"
done

mkfifo "$tmp/in" "$tmp/out"
strace -f -y -qq -o "$tmp/trace" \
	-e trace=execve,execveat,fork,vfork,clone,clone3,open,openat,openat2,creat,read,pread64,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmodat \
	"$tmp/server" --project-root "$project" --proposal-writer tracer <"$tmp/in" >"$tmp/out" &
server=$!
exec 3>"$tmp/in" 4<"$tmp/out"

# call makes one call as a client of protocol 2026-07-28 and sets reply.
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"codex","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'
n=0
call() {
	n=$((n + 1))
	printf '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"name":"%s","arguments":%s}}\n' $n "$meta" "$1" "$2" >&3
	IFS= read -r -t 60 reply <&4
}

# reads counts the documents that were read from since the mark.
reads() { tail -n "+$((mark + 1))" "$tmp/trace" | { grep -E 'p?read(64)?\(' || true; } | { grep -oE '/docs/n[0-9]+\.md>' || true; } | sort -u | wc -l; }
mark() { mark=$(wc -l <"$tmp/trace"); }

sleep 0.2 # a file that was just written is read twice
mark
call project_info '{}'
first=$(reads)
sleep 0.2
call project_info '{}'
mark
call search '{"query":"node"}'
again=$(reads)
echo "One more line." >>"$project/docs/n150.md"
mark
call search '{"query":"line"}'
changed=$(reads)

call create_changeset '{"title":"traced"}'
id=$(grep -o 'cs-[a-z2-7]\{26\}' <<<"$reply" | head -1)
call propose_node_update '{"changesetId":"'$id'","id":"n002","text":"other"}'
call propose_node_create '{"changesetId":"'$id'","id":"new","kind":"page","title":"New","path":"new.md","text":"new"}'
call propose_node_move '{"changesetId":"'$id'","id":"n003","path":"moved.md"}'
call propose_node_delete '{"changesetId":"'$id'","id":"n004"}'
for tool in get_changeset validate_changeset get_changeset_diff; do call $tool '{"changesetId":"'$id'"}'; done
call preview_changeset '{"changesetId":"'$id'","view":"review"}'
for tool in project_status get_contract filter_nodes validate_project render_status list_changesets; do call $tool '{}'; done
for tool in get_node backlinks dependencies impact get_context; do call $tool '{"id":"n001"}'; done
call candidate_prepare '{"candidateId":"plan","expectedFiles":["plans/a.md"]}'
mkdir -p "$project/.mcpdocs/stage/plan/plans"
echo plan >"$project/.mcpdocs/stage/plan/plans/a.md"
call candidate_inspect '{"candidateId":"plan"}'
call candidate_apply '{"request":{"op":"prepare","candidateId":"plan"}}'
token=$(grep -o 'x1_token_[A-Za-z0-9_-]*' <<<"$reply" | head -1)
call candidate_apply '{"request":{"op":"apply","proposalToken":"'$token'"}}'
grep -q '"commandStatus":"applied"' <<<"$reply"
call candidate_discard '{"candidateId":"plan"}'
call operation_recover '{}'
exec 3>&- 4<&-
wait "$server"
server=

starts=$(grep -cE 'execve(at)?\(|[^a-z]v?fork\(' "$tmp/trace" || true)
forks=$(grep -E 'clone3?\(' "$tmp/trace" | grep -vc CLONE_THREAD || true)
grep -E 'O_(WRONLY|RDWR|CREAT|TRUNC)|creat\(|mkdir(at)?\(|rename(at2?)?\(|unlink(at)?\(|link(at)?\(|truncate\(|chmod(at)?\(' "$tmp/trace" | grep -v 'ENOENT\|EEXIST' >"$tmp/writes" || true
# Below a handle on a folder, or by a path below it: the server's own folder, and where the candidate was promoted to.
outside=$(grep -v "<$project/\.mcpdocs\|<$project/plans\|<$project>, \"\.mcpdocs\|<$project>, \"plans\|<\(/dev/null\|pipe:\|/proc\|/sys\)\|\"/\(dev/null\|proc\|sys\)" "$tmp/writes" | grep -c . || true)
echo "$n calls; operations that write: $(wc -l <"$tmp/writes"), elsewhere: $outside; programs started, with the server: $starts; processes forked: $forks"
echo "documents read: $first at first, $again when nothing changed, $changed after one changed"
if [ "$outside" -ne 0 ]; then
	grep -v "<$project/\.mcpdocs\|<$project/plans" "$tmp/writes" | head -5
	exit 1
fi
# The trace shows what it is searched for: the candidate was promoted, and by a rename.
grep -q "renameat.*<$project/plans>" "$tmp/writes"
[ "$starts" -eq 1 ] && [ "$forks" -eq 0 ] && [ "$first" -eq 300 ] && [ "$again" -eq 0 ] && [ "$changed" -eq 1 ] && [ "$(wc -l <"$tmp/writes")" -gt 20 ]
