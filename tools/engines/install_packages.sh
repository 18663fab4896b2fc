#!/usr/bin/env bash
# Installs Debian packages, as root. Their own servers are neither started now nor at the next boot, and no
# PostgreSQL cluster is made: the engines run from the same programs, in folders of their own.
#
# Usage: install_packages.sh package...
set -euo pipefail

policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
fi
if [[ ! -e /etc/postgresql-common/createcluster.conf ]]; then
    mkdir -p /etc/postgresql-common/createcluster.d
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/mneme.conf
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@" >/dev/null
if [[ -d /run/systemd/system ]]; then
    for unit in redis-server redis-sentinel postgresql pgbouncer; do
        [[ " $* " == *" $unit "* ]] && systemctl disable --quiet "$unit" || true
    done
fi
