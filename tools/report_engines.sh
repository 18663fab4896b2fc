#!/usr/bin/env bash
# Says which engines and programs the tests will not find on this machine. What needs them is skipped.
set -euo pipefail

export PATH="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/bin:$PATH"

missing=()
command -v redis-server >/dev/null || missing+=("redis-server (Redis session store)")
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || command -v postgres >/dev/null ||
    missing+=("postgres (a server of its own; the embedded PostgreSQL is tested)")
command -v java >/dev/null || missing+=("java (Neo4j graph stores)")
command -v grpcurl >/dev/null || missing+=("grpcurl (reflection from the command line; \`make tools\` installs it)")

if ((${#missing[@]})); then
    echo "not on this machine, tests that need them are skipped:"
    printf '  %s\n' "${missing[@]}"
fi
