#!/usr/bin/env bash
# Runs the Model Context Protocol's conformance suite against Mneme's MCP server by HTTP. Needs npm, and .venv with the extra mcp.
# The suite and the Node that it needs (22) are installed into the cache.
set -euo pipefail
cd "$(dirname "$0")/.."
# The latest release, 0.1.16, has no frozen requirements, and polls a closed stream in the name of a revision that knows no polling
# (https://github.com/modelcontextprotocol/conformance/pull/366).
version=0.2.0-alpha.12
folder="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/mcpconformance-$version"
modules="$folder/node_modules"
if [[ ! -x "$modules/.bin/conformance" ]]; then
    mkdir -p "$folder"
    npm install --prefix "$folder" --silent --no-audit --no-fund "node@22" "@modelcontextprotocol/conformance@$version"
fi
port="$(.venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
PYTHONPATH=. .venv/bin/python tools/mcp_conformance.py "$port" 2>"$folder/server.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    kill -0 "$server" 2>/dev/null || { cat "$folder/server.log" >&2; exit 1; }
    sleep 0.25
done
suite() { "$modules/.bin/node" "$modules/@modelcontextprotocol/conformance/dist/index.js" server --url "http://127.0.0.1:$port/mcp" "$@"; }
# What each revision requires, as the suite froze it. Extensions run too and are reported, but decide nothing.
for revision in 2025-11-25 2026-07-28; do
    echo "== requirements of $revision"
    suite --requirements "$revision"
done
# All scenarios of a revision without extensions, where a warning is a failure too.
for revision in 2025-06-18 2025-11-25 2026-07-28; do
    echo "== all scenarios of $revision"
    suite --suite all --spec-version "$revision" --expected-failures tools/mcp_conformance.yaml
done
