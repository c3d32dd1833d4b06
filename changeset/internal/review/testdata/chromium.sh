#!/bin/sh
# Opens pages of this package in Debian's headless Chromium: a hostile changeset
# must cause no request, no dialog and no navigation, both as a file and over
# HTTP; no width makes the page scroll sideways; the accessibility tree is whole.
#
#	testdata/chromium.sh [DIRECTORY]
#
# With a directory it also writes screenshots at 400 and 1600 px in both themes.
set -eu
cd "$(dirname "$0")/.."
if ! command -v chromium >/dev/null; then
	echo "chromium is not installed (apt-get install chromium): skipped" >&2
	exit 0
fi
shots=${1:+$(mkdir -p "$1" && cd "$1" && pwd)}
tmp=$(mktemp -d) # the browser leaves things in the temporary directory
trap 'rm -rf "$tmp"' EXIT
TMPDIR=$tmp go test -tags chromium -count=1 -run '^TestChromium' -v . -args -shots="$shots"
