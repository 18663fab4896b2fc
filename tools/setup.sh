#!/usr/bin/env bash
# Creates .venv and installs the locked requirements and this project into it. Does nothing when the
# virtual environment already holds what the lock files name, so that every target may call it.
#
# PYTHON   the interpreter to build on, also in place of the one that .venv has; by default the first usable one of 3.11 to 3.14, the system's own before
#          others: distributions build theirs optimised (-O2 with profiles, without calls through a shared library),
#          version managers mostly do not; docs/speed.md tells what that costs a Recall
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
inputs=(requirements/runtime.txt requirements/http.txt requirements/llm.txt requirements/mcp.txt requirements/dev.txt pyproject.toml setup.py tools/setup.sh)

digest() {
    if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi | cut -c1-64 | tr -d '\n'
}

stamp=$venv/.mneme-setup
usable() { "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; }
installation() { "$1" -c 'import sys; print(sys.base_prefix, sys.version)' 2>/dev/null; }

is_other=false # whether .venv is of another interpreter than the one that is asked for
if [[ -n ${PYTHON:-} ]]; then
    usable "$PYTHON" || { echo "PYTHON=$PYTHON is no Python 3.11 to 3.14 with the venv module" >&2; exit 1; }
    [[ $(installation "$PYTHON") == "$(installation "$venv/bin/python")" ]] || is_other=true
fi

wanted="$PWD $(digest "${inputs[@]}")"
if ! $is_other && [[ -x $venv/bin/python && -f $stamp && $(<"$stamp") == "$wanted" ]] && "$venv/bin/python" -c '' 2>/dev/null; then
    exit 0
fi

find_python() {
    local candidate
    if [[ -n ${PYTHON:-} ]]; then echo "$PYTHON"; return; fi
    for candidate in {/usr/bin/,}python3{.11,.12,.13,.14,}; do
        if command -v "$candidate" >/dev/null && usable "$candidate"; then echo "$candidate"; return; fi
    done
    cat >&2 <<'TEXT'
Mneme needs Python 3.11 to 3.14 with its venv module, and found none on the PATH.
  Debian, Ubuntu:  apt-get install python3 python3-venv
  macOS:           brew install python@3.12
  elsewhere:       make setup PYTHON=/path/to/python3
TEXT
    return 1
}

if $is_other || ! { [[ -x $venv/bin/python ]] && usable "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; }; then
    python=$(find_python)
    echo "creating $venv with $("$python" -V)"
    "$python" -m venv --clear "$venv"
fi

pip() { PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/python" -m pip --quiet "$@"; }

echo "installing the locked requirements, which takes a minute or more"
pip install --no-deps --require-hashes -r requirements/runtime.txt -r requirements/http.txt -r requirements/llm.txt \
    -r requirements/mcp.txt \
    -r requirements/dev.txt || {
    echo "The requirements are not installed. Without a network pip takes them from a folder of their wheels:" >&2
    echo "  PIP_NO_INDEX=1 PIP_FIND_LINKS=/path/to/wheels make setup" >&2
    exit 1
}
# The project itself, in place: nothing is downloaded, the build runs on the locked setuptools.
pip install --no-deps --no-build-isolation --no-index -e .
printf '%s' "$wanted" >"$stamp"
