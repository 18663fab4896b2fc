#!/usr/bin/env bash
# Lints the protos with buf, and compares them with the last release, or before the first one with the
# last commit that changed them. Where history holds no earlier protos (a first commit, a shallow clone,
# an unpacked archive) there is nothing to compare with, and the script says so.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/bin:$PATH"

buf lint proto
echo "buf lint: no findings"

# A checkout may belong to another user than the one who checks it, as on build machines.
repository() { git -c safe.directory="$PWD" "$@" 2>/dev/null; }
has_protos() { [[ -n $(repository ls-tree -r --name-only "$1" -- proto/mneme | grep '\.proto$' || true) ]]; }

baseline() {
    local reference
    for reference in $(repository describe --tags --match 'v[0-9]*' --abbrev=0 || true); do
        has_protos "$reference" && { echo "$reference"; return; }
    done
    if ! repository diff --quiet HEAD -- proto/mneme ':!proto/gen'; then
        has_protos HEAD && { echo HEAD; return; }
    fi
    reference=$(repository log -1 --format=%H -- ':(glob)proto/mneme/**/*.proto')
    [[ -n $reference ]] && reference=$(repository rev-parse --verify --quiet "$reference^")
    [[ -n $reference ]] && has_protos "$reference" && echo "$reference"
}

if ! against=$(baseline) || [[ -z $against ]]; then
    echo "buf breaking: skipped, no earlier protos in this clone's history"
    exit 0
fi
earlier=$(mktemp -d)
trap 'rm -rf "$earlier"' EXIT
repository archive "$against" proto | tar -x -C "$earlier"
cp proto/buf.yaml "$earlier/proto/buf.yaml"
buf breaking proto --against "$earlier/proto"
echo "buf breaking: compatible with ${against:0:12}"
