#!/usr/bin/env bash
# Calls every tool of the workspace server with clients that others wrote, over stdio and HTTP and in both protocol eras:
# the inspector's CLI, which in strict mode also judges the schemas, and the clients of the TypeScript SDKs as many
# identities. It needs npm, and gets Node 22 from there.
set -euo pipefail
. "$(dirname "$0")/node.sh"

install inspector @modelcontextprotocol/inspector@2.12.0
install clients @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0

(cd "$repo" && GOFLAGS=-buildvcs=false go build -o "$work/workspace" ./examples/workspace)
cp -r "$repo/examples/workspace/sample" "$work/ws"
server=("$work/workspace" -root "$work/ws")
: >"$work/http.log"
"${server[@]}" -http 127.0.0.1:0 2>"$work/http.log" &
pid=$!
for _ in $(seq 100); do
  grep -q '^serving' "$work/http.log" && break
  sleep 0.1
done
url=$(sed -n 's/^serving //p' "$work/http.log")

# tool, outcome and arguments
tr '|' '\t' >"$work/calls" <<'CALLS'
list_repos|ok|{}
list_repos|ok|{"includeArchived":true,"owner":"nobody"}
list_repos|fails|{"lifecycle":"dead"}
resolve_repo|ok|{"repo_id":"ledger"}
resolve_repo|ok|{"repo_id":"storefront"}
resolve_repo|ok|{"repo_id":"oldbooks"}
resolve_repo|ok|{"repo_id":"notebook"}
resolve_repo|fails|{"repo_id":"none"}
read_entrypoint|ok|{"repo_id":"storefront","path":"mkdocs.yml"}
read_entrypoint|fails|{"repo_id":"storefront","path":"../ledger/README.md"}
read_view|ok|{"repo_id":"ledger","view":"start-here"}
read_view|fails|{"repo_id":"storefront","view":"contracts"}
scan_root|ok|{"repo_id":"ledger","type":"adr"}
scan_root|fails|{"repo_id":"ledger","type":"none"}
check_registry|ok|{}
check_registry|fails|{"cursor":"x"}
diagnostic_read|fails|{"diagnosticId":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}
CALLS

failed=0
inspect() { # inspect CODE ERA TRANSPORT ARGUMENTS...
  local want=$1 era=$2 transport=$3 code=0 target=()
  shift 3
  case $transport in
  stdio) set -- "$@" -- "${server[@]}" ;;
  http) target=("$url" --transport http) ;;
  esac
  HOME=$work "$work/inspector/node_modules/.bin/mcp-inspector" --cli "${target[@]}" --quiet --format json \
    --protocol-era "$era" "$@" >"$work/out" 2>&1 || code=$?
  if [ "$code" -ne "$want" ]; then
    echo "inspector, $era, $transport: exit $code, want $want: $*"
    tail -n 5 "$work/out"
    failed=1
  fi
}
for era in legacy modern; do
  for transport in stdio http; do
    inspect 0 "$era" "$transport" --method tools/list --strict
    inspect 0 "$era" "$transport" --method resources/read --uri repo://index
    inspect 0 "$era" "$transport" --method tools/call --tool-name resolve_repo --tool-args-json '{"repo_id":"ledger"}'
    inspect 5 "$era" "$transport" --method tools/call --tool-name resolve_repo --tool-args-json '{"repo_id":"none"}'
  done
done
[ "$failed" -ne 0 ] || echo "inspector: both eras and transports as expected, no fault in the schemas"

(cd "$work/clients" && node "$repo/internal/conformance/clients.mjs" "$work/calls" "$url" "${server[@]}") || failed=1
exit "$failed"
