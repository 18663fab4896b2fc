#!/usr/bin/env bash
# Builds the image with docker, podman or buildah, whichever works here.
#
# IMAGE      its name and tag; by default mneme with the version in pyproject.toml
# BASE       image to build on, with Python 3.11 to 3.14; by default the Dockerfile's
# BUILDER    docker, podman or buildah; by default the first that is there
# BUILD_ARGS further arguments of the builder, for example "--no-cache"
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
revision=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)

builder=${BUILDER:-}
for candidate in docker podman buildah; do
    # Asked for its state, since docker without its daemon builds nothing.
    if [[ -z $builder ]] && "$candidate" info >/dev/null 2>&1; then builder=$candidate; fi
done
if [[ -z $builder ]]; then
    echo "an image is built by docker, podman or buildah, and none of them works here" >&2
    exit 1
fi

arguments=(build --file deploy/docker/Dockerfile --tag "${IMAGE:-mneme:$version}")
arguments+=(--build-arg "VERSION=$version" --build-arg "REVISION=$revision")
[[ -z ${BASE:-} ]] || arguments+=(--build-arg "BASE=$BASE")
# Images of the OCI's format have no health check.
[[ $builder == docker ]] || arguments+=(--format docker)
read -r -a further <<<"${BUILD_ARGS:-}"
exec "$builder" "${arguments[@]}" ${further[@]+"${further[@]}"} .
