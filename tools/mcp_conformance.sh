#!/usr/bin/env bash
# Runs the Model Context Protocol's conformance suite against Mneme's MCP server by HTTP. Needs npm, and .venv with the extra mcp.
# The suite and the Node that it needs (22) are installed into the cache.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.1.16
folder="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/mcpconformance-$version"
modules="$folder/node_modules"
if [[ ! -x "$modules/.bin/conformance" ]]; then
    mkdir -p "$folder"
    npm install --prefix "$folder" --silent --no-audit --no-fund "node@22" "@modelcontextprotocol/conformance@$version"
fi
port="$(.venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
PYTHONPATH=. .venv/bin/python tools/mcp_conformance.py "$port" 2>"$folder/server.log" &
trap 'kill $!' EXIT
for _ in $(seq 120); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.25
done
for requirements in 2025-06-18 2025-11-25; do
    echo "== requirements of $requirements"
    "$modules/.bin/node" "$modules/@modelcontextprotocol/conformance/dist/index.js" server --suite all \
        --url "http://127.0.0.1:$port/mcp" --spec-version "$requirements" --expected-failures tools/mcp_conformance.yaml
done
