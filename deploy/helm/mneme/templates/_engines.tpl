{{/* What is special about each trial engine: a part of its container. The same settings as in deploy/compose. */}}

{{- define "mneme.engine.postgres" -}}
env:
  - {name: POSTGRES_DB, value: mneme}
  - {name: POSTGRES_PASSWORD_FILE, value: /run/secrets/postgres_password}
  - {name: POSTGRES_INITDB_ARGS, value: --auth-host=scram-sha-256 --data-checksums}
  - {name: PGDATA, value: /var/lib/postgresql/data/pgdata}
readinessProbe:
  # Over TCP: during initialization the server listens on its socket alone.
  exec: {command: [pg_isready, --quiet, --host=127.0.0.1, --username=postgres, --dbname=mneme]}
  periodSeconds: 5
volumeMounts:
  - {name: data, mountPath: /var/lib/postgresql/data}
  - {name: roles, mountPath: /docker-entrypoint-initdb.d, readOnly: true}
  - {name: run, mountPath: /var/run/postgresql}
  - {name: tmp, mountPath: /tmp}
{{- range list "postgres_password" "postgres_owner_password" "postgres_app_password" }}
  - {name: secrets, mountPath: /run/secrets/{{ . }}, subPath: {{ . }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "mneme.engine.redis" -}}
command: [redis-server, /run/secrets/redis_config, --dir, /data, --appendonly, "yes", --maxmemory, 512mb, --maxmemory-policy, noeviction]
readinessProbe:
  exec:
    command: [sh, -c, 'REDISCLI_AUTH="$(cat /run/secrets/redis_password)" redis-cli ping | grep -q PONG']
  periodSeconds: 5
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
{{- range list "redis_config" "redis_password" }}
  - {name: secrets, mountPath: /run/secrets/{{ . }}, subPath: {{ . }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "mneme.engine.qdrant" -}}
env:
  - {name: QDRANT__TELEMETRY_DISABLED, value: "true"}
  - {name: QDRANT_INIT_FILE_PATH, value: /qdrant/init/.qdrant-initialized}
readinessProbe:
  httpGet: {path: /readyz, port: 6333}
  periodSeconds: 5
volumeMounts:
  - {name: data, mountPath: /qdrant/storage}
  - {name: snapshots, mountPath: /qdrant/snapshots}
  - {name: init, mountPath: /qdrant/init}
  - {name: tmp, mountPath: /tmp}
  - {name: secrets, mountPath: /qdrant/config/local.yaml, subPath: qdrant_config, readOnly: true}
{{- end }}

{{- define "mneme.engine.neo4j" -}}
env:
  - {name: NEO4J_AUTH_FILE, value: /run/secrets/neo4j_auth}
  - {name: NEO4J_server_memory_heap_initial__size, value: 1g}
  - {name: NEO4J_server_memory_heap_max__size, value: 1g}
  - {name: NEO4J_server_memory_pagecache_size, value: 512m}
readinessProbe:
  tcpSocket: {port: neo4j}
  periodSeconds: 5
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: secrets, mountPath: /run/secrets/neo4j_auth, subPath: neo4j_auth, readOnly: true}
{{- end }}
