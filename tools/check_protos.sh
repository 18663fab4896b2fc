#!/usr/bin/env bash
# Lints the protos with buf, and compares them with the contracts that were published: the git tag below. A clone
# without the tag has nothing to compare with, and the script says so.
set -euo pipefail
cd "$(dirname "$0")/.."

published=contracts-1

export PATH="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/bin:$PATH"

buf lint proto
echo "buf lint: no findings"

# A checkout may belong to another user than the one who checks it, as on build machines.
repository() { git -c safe.directory="$PWD" "$@"; }

if ! repository rev-parse --quiet --verify "refs/tags/$published" >/dev/null 2>&1; then
    echo "buf breaking: SKIPPED, this clone has no tag $published (git fetch --tags)"
    exit 0
fi
earlier=$(mktemp -d)
trap 'rm -rf "$earlier"' EXIT
repository archive "$published" proto | tar -x -C "$earlier"
cp proto/buf.yaml "$earlier/proto/buf.yaml"
buf breaking proto --against "$earlier/proto"
echo "buf breaking: compatible with $published"
