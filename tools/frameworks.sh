#!/usr/bin/env bash
# Installs each agent framework of clients/frameworks, pinned, into a virtual environment of its own outside the repository.
#
# Usage: frameworks.sh [NAME ...]     all by default; what is there already is left alone
# MNEME_FRAMEWORKS_DIR   where they go; by default a folder in the user's cache
set -euo pipefail
cd "$(dirname "$0")/../clients/frameworks"

folder=${MNEME_FRAMEWORKS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/frameworks}
names=("$@")
((${#names[@]})) || names=(*/)
for name in "${names[@]%/}"; do
    cmp -s "$name/requirements.txt" "$folder/$name/installed.txt" && continue
    echo "installing $name"
    "${PYTHON:-../../.venv/bin/python}" -m venv --clear "$folder/$name"
    "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
        -r "$name/requirements.txt"
    cp "$name/requirements.txt" "$folder/$name/installed.txt"
done
