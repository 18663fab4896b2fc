#!/usr/bin/env bash
# Lints the protos with buf, and compares them with the published contracts: the image proto/contracts.txtpb, which is
# committed, so that every clone can compare, a shallow one too.
#
#   tools/check_protos.sh [folder]     checks the protos of a folder, `proto` by default
#   tools/check_protos.sh --publish    writes the image: what it says can only be added to from then on
set -euo pipefail
cd "$(dirname "$0")/.."

published=proto/contracts.txtpb
# An image has no configuration of its own. Neither the bytes nor the JSON of an older client may change their meaning, nor
# may generated code.
rules='{"version":"v2","breaking":{"use":["FILE"]}}'

export PATH="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/bin:$PATH"

if [ "${1:-}" = --publish ]; then
    buf build proto --exclude-source-info -o "$published"
    echo "published the contracts: commit $published"
    exit 0
fi
protos=${1:-proto}

buf lint "$protos"
echo "buf lint: no findings"

if [ ! -s "$published" ]; then
    echo "buf breaking: $published is missing; without it nothing says what the published contracts are" >&2
    exit 1
fi
image=$(mktemp --suffix=.binpb)
trap 'rm -f "$image"' EXIT
buf build "$protos" --exclude-source-info -o "$image"
if ! buf breaking "$image" --against "$published" --config "$rules"; then
    echo "buf breaking: the changes above break clients of the published contracts ($published)" >&2
    exit 1
fi
echo "buf breaking: compatible with the published contracts"
