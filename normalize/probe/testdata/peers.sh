#!/usr/bin/env bash
# Probes real servers: some of other makers, from npm, and the examples of the Go
# SDK. It needs npm with a network, and says so and ends where there is none.
set -u
cd "$(dirname "$0")/.." || exit 1

dir=$(mktemp -d)
started=()
clean() {
	for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
	rm -rf "$dir"
}
trap clean EXIT

failed=0
probe() {
	echo "--- $*"
	"$dir/peers" "$@" || failed=1
}
# listening waits until something listens on a local port.
listening() {
	for _ in $(seq 100); do
		(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
		sleep 0.1
	done
	echo "nothing listens on port $1"
	failed=1
}
# serve runs a command in the background, quietly.
serve() {
	"$@" >"$dir/log" 2>&1 &
	started+=($!)
}

go build -o "$dir/peers" ./testdata/peers || exit 1

sdk=$(go list -m -f '{{.Dir}}' github.com/modelcontextprotocol/go-sdk)
for name in hello everything memory sequentialthinking toolschemas; do
	go build -o "$dir/$name" "$sdk/examples/server/$name" && probe "$dir/$name"
done
go build -o "$dir/everything" "$sdk/examples/server/everything" && serve "$dir/everything" -http 127.0.0.1:39471 &&
	listening 39471 && probe http http://127.0.0.1:39471
go build -o "$dir/sse" "$sdk/examples/server/sse" && serve "$dir/sse" -host 127.0.0.1 -port 39472 &&
	listening 39472 && probe sse http://127.0.0.1:39472/greeter1

if ! command -v npm >/dev/null || ! npm --prefix "$dir" --no-fund --no-audit --loglevel=error install \
	@modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-memory; then
	echo "npm or the network is not there: the servers of other makers were not probed"
	exit "$failed"
fi
bin=$dir/node_modules/.bin
mkdir "$dir/files"
probe "$bin/mcp-server-everything"
probe "$bin/mcp-server-filesystem" "$dir/files"
probe "$bin/mcp-server-memory"
probe npx --prefix "$dir" --no-install mcp-server-memory
PORT=39473 serve "$bin/mcp-server-everything" streamableHttp && listening 39473 && probe http http://127.0.0.1:39473/mcp
PORT=39474 serve "$bin/mcp-server-everything" sse && listening 39474 && probe sse http://127.0.0.1:39474/sse
# Wrong on purpose: the folder is not there.
echo "--- a folder that is not there"
"$dir/peers" "$bin/mcp-server-filesystem" "$dir/none" && failed=1

exit "$failed"
