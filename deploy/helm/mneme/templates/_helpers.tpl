{{- define "mneme.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "mneme.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "mneme.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "mneme.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* Labels of an object; the argument is a list of the root context and the component. */}}
{{- define "mneme.labels" -}}
{{- $root := index . 0 -}}
{{ include "mneme.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/part-of: mneme
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{- define "mneme.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "mneme.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "mneme.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "mneme.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "mneme.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end }}

{{- define "mneme.secret" -}}
{{- if .Values.engines.enabled -}}
{{ include "mneme.fullname" . }}-trial
{{- else -}}
{{ required "secrets.name is required: the Secret with the services' secret, the API keys and the engines' URLs (or set engines.enabled for a trial)" .Values.secrets.name }}
{{- end -}}
{{- end }}

{{- define "mneme.qdrantUrl" -}}
{{- if .Values.qdrant.url -}}
{{ .Values.qdrant.url }}
{{- else if .Values.engines.enabled -}}
http://{{ include "mneme.fullname" . }}-qdrant:6334
{{- end -}}
{{- end }}

{{- define "mneme.qdrantHasKey" -}}
{{- if or .Values.qdrant.apiKey .Values.engines.enabled -}}true{{- end -}}
{{- end }}

{{- define "mneme.neo4jUrl" -}}
{{- if .Values.neo4j.url -}}
{{ .Values.neo4j.url }}
{{- else if .Values.engines.enabled -}}
bolt://{{ include "mneme.fullname" . }}-neo4j:7687
{{- end -}}
{{- end }}

{{- define "mneme.tlsSecret" -}}
{{- $root := index . 0 -}}
{{- $service := index . 1 -}}
{{- index $root.Values.tls.secretNames $service | default (printf "%s-%s-tls" (include "mneme.fullname" $root) $service) -}}
{{- end }}

{{/* The engines that a component calls, as names of networkPolicy.ports, separated by commas. */}}
{{- define "mneme.enginesOf" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $neo4j := include "mneme.neo4jUrl" $root -}}
{{- $engines := list -}}
{{- if eq $component "session" -}}{{- $engines = append $engines "redis" -}}{{- end -}}
{{- if has $component (list "gateway" "episodic" "migrate") -}}{{- $engines = append $engines "postgres" -}}{{- end -}}
{{- if and (eq $component "episodic") (include "mneme.qdrantUrl" $root) -}}{{- $engines = append $engines "qdrant" -}}{{- end -}}
{{- if has $component (list "semantic" "agentic") -}}{{- $engines = append $engines (ternary "neo4j" "postgres" (ne $neo4j "")) -}}{{- end -}}
{{- if and (eq $component "migrate") $neo4j -}}{{- $engines = append $engines "neo4j" -}}{{- end -}}
{{- if and $root.Values.encryption.vault.address (has $component (list "gateway" "session" "episodic" "semantic" "agentic")) -}}{{- $engines = append $engines "vault" -}}{{- end -}}
{{- join "," $engines -}}
{{- end }}

{{/* The secrets that a service needs, as names of secrets.keys. */}}
{{- define "mneme.secretsOf" -}}
{{- $root := index . 0 -}}
{{- $service := index . 1 -}}
{{- $names := list "serviceSecret" -}}
{{- if eq $service "migrate" -}}{{- $names = list "postgresOwnerUrl" -}}{{- end -}}
{{- $engines := include "mneme.enginesOf" . | splitList "," -}}
{{- if has "redis" $engines -}}{{- $names = append $names "sessionStoreUrl" -}}{{- end -}}
{{- if and (has "postgres" $engines) (ne $service "migrate") -}}{{- $names = append $names "postgresUrl" -}}{{- end -}}
{{- if and (eq $service "gateway") $root.Values.secrets.keys.postgresDirectUrl -}}{{- $names = append $names "postgresDirectUrl" -}}{{- end -}}
{{- if and (has "qdrant" $engines) (include "mneme.qdrantHasKey" $root) -}}{{- $names = append $names "qdrantApiKey" -}}{{- end -}}
{{- if has "neo4j" $engines -}}{{- $names = append $names "neo4jPassword" -}}{{- end -}}
{{- if and $root.Values.encryption.keyFile (ne $service "migrate") -}}{{- $names = append $names "encryptionKeys" -}}{{- end -}}
{{- if and (has "vault" $engines) (not $root.Values.encryption.vault.tokenFile) -}}{{- $names = append $names "vaultToken" -}}{{- end -}}
{{- join "," $names -}}
{{- end }}

{{/* The variable that names the file of a secret. */}}
{{- define "mneme.secretVariable" -}}
{{- get (dict
  "serviceSecret" "MNEME_SERVICE_SECRET_FILE"
  "postgresUrl" "MNEME_POSTGRES_URL_FILE"
  "postgresDirectUrl" "MNEME_POSTGRES_DIRECT_URL_FILE"
  "postgresOwnerUrl" "MNEME_POSTGRES_OWNER_URL_FILE"
  "sessionStoreUrl" "MNEME_SESSION_STORE_URL_FILE"
  "qdrantApiKey" "MNEME_QDRANT_API_KEY_FILE"
  "neo4jPassword" "MNEME_NEO4J_PASSWORD_FILE"
  "encryptionKeys" "MNEME_ENCRYPTION_KEY_FILE"
  "vaultToken" "MNEME_VAULT_TOKEN_FILE") . -}}
{{- end }}

{{/* Environment of a service or of the migration: that of the chart, and extraEnv. */}}
{{- define "mneme.env" -}}
{{- $root := index . 0 -}}
{{- $service := index . 1 -}}
{{- $own := include "mneme.ownEnv" . -}}
{{ $own }}
{{- range $name, $value := (index $root.Values $service | default dict).extraEnv }}
{{- if contains (printf "- name: %s\n" $name) $own -}}
{{- fail (printf "%s.extraEnv.%s is set by the chart itself" $service $name) -}}
{{- end }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "mneme.ownEnv" -}}
{{- $root := index . 0 -}}
{{- $service := index . 1 -}}
{{- range (include "mneme.secretsOf" . | splitList ",") }}
- name: {{ include "mneme.secretVariable" . }}
  value: /run/secrets/mneme/{{ . }}
{{- end }}
- name: MNEME_LOG_LEVEL
  value: {{ $root.Values.logLevel | quote }}
{{- with $root.Values.otlpEndpoint }}
- name: MNEME_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- if and $root.Values.config (ne $service "migrate") }}
- name: MNEME_CONFIG
  value: /etc/mneme/mneme.toml
{{- end }}
{{- if has $service (list "semantic" "agentic" "migrate") }}
{{- with include "mneme.neo4jUrl" $root }}
- name: MNEME_NEO4J_URL
  value: {{ . | quote }}
- name: MNEME_NEO4J_USER
  value: {{ $root.Values.neo4j.user | quote }}
- name: MNEME_NEO4J_DATABASE
  value: {{ $root.Values.neo4j.database | quote }}
- name: MNEME_NEO4J_MIGRATE
  value: "false"
{{- end }}
{{- end }}
{{- if ne $service "migrate" }}
{{- with $root.Values.encryption.vault }}
{{- if .address }}
- name: MNEME_ENCRYPTION_DRIVER
  value: {{ $root.Values.encryption.driver | default "vault" }}
- name: MNEME_VAULT_ADDRESS
  value: {{ .address | quote }}
- name: MNEME_VAULT_KEY_NAME
  value: {{ .key | quote }}
- name: MNEME_VAULT_MOUNT
  value: {{ .mount | quote }}
{{- with .namespace }}
- name: MNEME_VAULT_NAMESPACE
  value: {{ . | quote }}
{{- end }}
{{- with .tokenFile }}
- name: MNEME_VAULT_TOKEN_FILE
  value: {{ . | quote }}
{{- end }}
{{- with .authorityFile }}
- name: MNEME_VAULT_TLS_AUTHORITY
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
- name: MNEME_LISTEN
  value: 0.0.0.0:7700
{{- if $root.Values.metrics.enabled }}
- name: MNEME_METRICS_LISTEN
  value: 0.0.0.0:{{ $root.Values.metrics.port }}
{{- end }}
- name: MNEME_DRAIN_SECONDS
  value: {{ $root.Values.drainSeconds | quote }}
- name: MNEME_POSTGRES_POOL_MAX
  value: {{ $root.Values.postgres.poolMax | quote }}
- name: MNEME_BEHIND_PGBOUNCER
  value: {{ $root.Values.postgres.behindPgbouncer | quote }}
{{- if eq $service "episodic" }}
{{- if $root.Values.lease.enabled }}
- name: MNEME_LEASE_NAME
  value: {{ include "mneme.fullname" $root }}-maintenance
{{- end }}
{{- with include "mneme.qdrantUrl" $root }}
- name: MNEME_QDRANT_URL
  value: {{ . | quote }}
{{- else }}
- name: MNEME_QDRANT_DIR
  value: /var/lib/mneme/qdrant
- name: MNEME_WATCHED_DIR
  value: /var/lib/mneme
{{- end }}
{{- end }}
{{- if eq $service "gateway" }}
- name: MNEME_API_KEYS_FILE
  value: /run/secrets/api-keys/api-keys.json
{{- if $root.Values.gateway.http.enabled }}
- name: MNEME_HTTP_LISTEN
  value: 0.0.0.0:7780
{{- end }}
{{- range list "session" "episodic" "semantic" "agentic" }}
- name: MNEME_{{ upper . }}_TARGET
  value: dns:///{{ include "mneme.fullname" $root }}-{{ . }}:7700
{{- end }}
{{- else }}
- name: MNEME_SIGNED_IDENTITIES_ONLY
  value: "true"
{{- end }}
{{- if $root.Values.tls.enabled }}
- name: MNEME_TLS_CERTIFICATE
  value: /run/secrets/tls/tls.crt
- name: MNEME_TLS_KEY
  value: /run/secrets/tls/tls.key
{{- if ne $service "gateway" }}
- name: MNEME_TLS_AUTHORITY
  value: /run/secrets/tls/ca.crt
{{- else }}
- name: MNEME_TIER_TLS_AUTHORITY
  value: /run/secrets/tls/ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "mneme.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Pods of the services and of the migration run as the user of the image. */}}
{{- define "mneme.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* Whether the process takes calls, whatever its stores do. Kubernetes' gRPC probes know no TLS. */}}
{{- define "mneme.liveness" -}}
{{- if .Values.tls.enabled -}}
tcpSocket: {port: grpc}
{{- else -}}
grpc: {port: 7700, service: liveness}
{{- end }}
timeoutSeconds: 3
{{- end }}

{{/* Health of the service, which follows its stores. With TLS the probe of the image asks: less often, since it starts a process. */}}
{{- define "mneme.readiness" -}}
{{- if .Values.tls.enabled -}}
exec: {command: [python, -m, services.cli.probe]}
timeoutSeconds: 10
periodSeconds: 10
{{- else -}}
grpc: {port: 7700}
timeoutSeconds: 3
periodSeconds: 5
{{- end }}
{{- end }}

{{- define "mneme.secretVolume" -}}
{{- $root := index . 0 -}}
- name: secrets
  secret:
    secretName: {{ include "mneme.secret" $root }}
    items:
      {{- range (include "mneme.secretsOf" . | splitList ",") }}
      - {key: {{ index $root.Values.secrets.keys . | quote }}, path: {{ . }}}
      {{- end }}
{{- end }}
