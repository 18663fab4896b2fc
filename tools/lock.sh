#!/usr/bin/env bash
# Resolves requirements/*.in into locked files for every platform and for Python 3.11 and newer, with the
# hash of every wheel. Versions already locked stay unless --upgrade or --upgrade-package=NAME is given.
set -euo pipefail
cd "$(dirname "$0")/.."

uv=$(PATH="$PWD/.venv/bin:$PATH" command -v uv) || { echo "make lock needs uv (pip install uv)" >&2; exit 1; }

for name in runtime http llm mcp dev; do
    same=()
    [[ $name == runtime ]] || same=(--constraint requirements/runtime.txt)
    # No header and no index: the files name packages and hashes, never where they came from.
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-emit-index-url --no-emit-find-links \
        --override requirements/overrides.txt "${same[@]}" "requirements/$name.in" --output-file "requirements/$name.txt" "$@"
done
