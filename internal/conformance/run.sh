#!/usr/bin/env bash
# Runs the official MCP conformance suite against the conformance server of the
# Go SDK, as it is and with package result installed, and fails if package
# result loses a scored scenario. It needs npm, and gets Node 22 from there.
set -euo pipefail
. "$(dirname "$0")/node.sh"

install frozen @modelcontextprotocol/conformance@0.1.16
install next @modelcontextprotocol/conformance@0.2.0-alpha.12

sdk=$(cd "$repo" && go list -m -f '{{.Dir}}' github.com/modelcontextprotocol/go-sdk)
for kind in plain shaped; do
  mkdir "$work/$kind"
  cp "$sdk"/conformance/everything-server/*.go "$work/$kind/"
  chmod u+w "$work/$kind"/*.go
  cp "$repo/go.sum" "$work/$kind/"
  sed -e 's|^module .*|module conformance|' "$repo/go.mod" >"$work/$kind/go.mod"
  (
    cd "$work/$kind"
    if [ "$kind" = shaped ]; then
      go mod edit -require=github.com/mcpcontract/mcpcontract@v0.0.0 -replace=github.com/mcpcontract/mcpcontract="$repo"
      sed -i -e 's|^\tregisterPrompts(server)$|&\n\tresult.Install(server, nil)|' \
        -e 's|^\t"github.com/modelcontextprotocol/go-sdk/mcp"$|&\n\t"github.com/mcpcontract/mcpcontract/result"|' main.go
      grep -q 'result.Install' main.go
    fi
    go build -mod=mod -o server .
  )
done

# suite KIND PORT STATELESS PACKAGE ARGUMENTS...: prints the failed checks, sorted.
suite() {
  local kind=$1 port=$2 stateless=$3 package=$4 out code=0
  shift 4
  "$work/$kind/server" -http="127.0.0.1:$port" -stateless="$stateless" 2>"$work/$kind.log" &
  pid=$!
  for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
    sleep 0.1
  done
  out=$(cd "$work/$package" && node node_modules/@modelcontextprotocol/conformance/dist/index.js \
    server --url "http://127.0.0.1:$port" "$@" -o "$work/out-$kind-$port" 2>&1) || code=$?
  kill "$pid" && wait "$pid" 2>/dev/null || true
  pid=
  printf '%s\n' "$out" | tail -n 60 >"$work/$kind-$port.txt"
  printf '%-7s %-45s exit %s, %s\n' "$kind" "$*" "$code" "$(grep -E '^(Total|Passed)|passed' "$work/$kind-$port.txt" | tail -n 1)"
  return "$code"
}

failed=0
both() { # both PORT ARGUMENTS...: the plain server sets the measure
  local port=$1
  shift
  if suite plain "$port" "$@" && ! suite shaped $((port + 1)) "$@"; then
    cat "$work/shaped-$((port + 1)).txt"
    failed=1
  fi
}
both 18101 false frozen --spec-version 2025-11-25
both 18103 false next --requirements 2025-11-25
both 18105 true next --requirements 2026-07-28
exit "$failed"
