#!/bin/sh
# Runs the service that the first argument names, or else the command line `mneme` with all arguments.
set -eu

# Secrets that settings hold as text can be given as files, by the name with _FILE: then they are not part of the
# container's configuration, which everybody who may inspect containers can read.
for name in MNEME_POSTGRES_URL MNEME_POSTGRES_OWNER_URL MNEME_POSTGRES_DIRECT_URL MNEME_POSTGRES_PURGE_URL \
    MNEME_SESSION_STORE_URL MNEME_SESSION_STORE_SENTINEL_PASSWORD MNEME_QDRANT_API_KEY MNEME_LLM_API_KEY; do
    eval "file=\${${name}_FILE:-}"
    if [ -n "$file" ]; then
        value=$(cat "$file")
        export "$name=$value"
        unset "${name}_FILE"
    fi
done

case "${1:-}" in
session | episodic | semantic | agentic | gateway)
    service=$1
    shift
    exec python -m "services.$service" "$@"
    ;;
*) exec mneme "$@" ;;
esac
