#!/usr/bin/env bash
# Says which engines and programs the tests will not find on this machine. What needs them is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH="${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}/bin:$PATH"

missing=$(
    .venv/bin/python -m tools.engines missing
    command -v grpcurl >/dev/null || echo "grpcurl (reflection from the command line; \`make tools\` installs it)"
)
if [[ -n $missing ]]; then
    echo "not on this machine, tests that need them are skipped (\`make engines-install\` installs engines):"
    printf '%s\n' "$missing" | sed 's/^/  /'
fi
