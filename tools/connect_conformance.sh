#!/usr/bin/env bash
# Runs the Connect project's conformance suite against the stack of the gateway's HTTP port. Needs Go, and .venv.
# Arguments go to the runner, for example: tools/connect_conformance.sh --run '**/unary/**' -v
set -euo pipefail
cd "$(dirname "$0")/.."
version=v1.0.5
folder="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/connectconformance-$version"
[[ -x "$folder/connectconformance" ]] ||
    GOBIN="$folder" CGO_ENABLED=0 go install "connectrpc.com/conformance/cmd/connectconformance@$version"
module="$( (cd / && go mod download -json "connectrpc.com/conformance@$version") |
    .venv/bin/python -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')"
export MNEME_CONFORMANCE_PROTOS="$module/proto" PYTHONPATH=.:proto/gen
exec "$folder/connectconformance" --mode server --conf tools/connect_conformance.yaml --max-servers 1 --parallel 4 "$@" \
    -- .venv/bin/python tools/connect_conformance.py
