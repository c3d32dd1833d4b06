# Sourced by the scripts of this folder. Sets repo and work, a folder that goes at the end together with the server whose
# process is in pid; brings Node 22 and gives install.
# shellcheck shell=bash
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

not_run() {
  echo "$(basename "$0" .sh): not run, because $1"
  exit 0
}
command -v npm >/dev/null || not_run "there is no npm here"
install() { # install FOLDER PACKAGE...
  mkdir -p "$work/$1"
  (cd "$work/$1" && shift && npm init -y && npm install --no-audit --no-fund "$@") >"$work/npm.log" 2>&1 ||
    not_run "npm cannot install ${*:2}: $(tail -n 1 "$work/npm.log")"
}
if [ "$(node -p 'parseInt(process.versions.node)')" -lt 22 ]; then
  install node node@22.23.3
  PATH=$work/node/node_modules/node/bin:$PATH
fi
