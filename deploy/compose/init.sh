#!/usr/bin/env bash
# Makes what an installation needs before its first start: passwords in secrets/, the image, and an API key, which it
# prints. Safe to run again: what is there stays.
#
#   ./init.sh [TENANT [NAME]]      whose memories the first key opens, and who uses it
#
# COMPOSE   the program to use, for example "podman-compose"; by default "docker compose"
set -euo pipefail
cd "$(dirname "$0")"

tenant=${1:-default} name=${2:-first-app}
read -r -a compose <<<"${COMPOSE:-docker compose}"
secrets=secrets

# The folder is for its owner alone. The files in it are readable: they reach containers with these permissions, and
# each container has a user of its own.
umask 022
mkdir -p "$secrets"
chmod 0700 "$secrets"

put() { # name: writes standard input, unless there is such a file
    if [[ -s $secrets/$1 ]]; then
        cat >/dev/null # who writes must not meet a closed pipe
        return
    fi
    cat >"$secrets/.$1.new"
    chmod 0444 "$secrets/.$1.new"
    mv -f "$secrets/.$1.new" "$secrets/$1"
}
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; } # hexadecimal: needs no quoting anywhere
secret() { cat "$secrets/$1"; }

for password in service_secret redis_password postgres_password postgres_owner_password postgres_app_password \
    qdrant_api_key neo4j_password; do
    random | put "$password"
done
put redis_config <<<"requirepass $(secret redis_password)"
put session_store_url <<<"redis://:$(secret redis_password)@redis:6379/0"
put postgres_owner_url <<<"postgresql://mneme_owner:$(secret postgres_owner_password)@postgres:5432/mneme"
put postgres_url <<<"postgresql://mneme_app:$(secret postgres_app_password)@postgres:5432/mneme"
put qdrant_config <<<"service: {api_key: \"$(secret qdrant_api_key)\"}"
printf 'neo4j/%s' "$(secret neo4j_password)" | put neo4j_auth
echo "secrets are in $PWD/$secrets" >&2

"${compose[@]}" build gateway
known=$("${compose[@]}" run --rm -T keys list)
if [[ $known == *" valid"* ]]; then
    echo "there is an API key; another: ${compose[*]} run --rm keys create --tenant TENANT --name NAME" >&2
else
    echo "an API key, shown this once:" >&2
    "${compose[@]}" run --rm -T keys create --tenant "$tenant" --name "$name"
fi
