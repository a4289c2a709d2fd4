{{- define "labels" -}}
{{- $root := index . 0 -}}
{{ include "selector" . }}
app.kubernetes.io/part-of: {{ $root.Chart.Name }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
{{- end }}

{{- define "image" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $image := printf "%s/%s-%s" $root.Values.images.registry $root.Chart.Name $name -}}
{{- $digest := index $root.Values.images.digests $name -}}
{{ if $digest }}{{ $image }}@{{ $digest }}{{ else }}{{ $image }}:{{ $root.Values.images.tag }}{{ end }}
{{- end }}

{{- define "podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* A variable from a Secret: its name, the Secret, and the key. */}}
{{- define "secret" -}}
- name: {{ index . 0 }}
  valueFrom: { secretKeyRef: { name: {{ index . 1 }}, key: {{ index . 2 }} } }
{{- end }}

{{/* The Secret with a service's password for Kafka, and its key. Strimzi creates a Secret with the name of each user. */}}
{{- define "passwordSecret" -}}
{{- $root := index . 0 -}}
{{- if $root.Values.strimzi.enabled }}{{ index . 1 }}{{ else }}{{ index . 1 }}-secrets{{ end -}}
{{- end }}
{{- define "passwordKey" -}}
{{- if .Values.strimzi.enabled }}password{{ else }}Stream__SaslPassword{{ end -}}
{{- end }}

{{/* The settings with which services, sidecars and the exporter connect to Kafka, without user and password. */}}
{{- define "kafka" -}}
- { name: Stream__Brokers, value: {{ required "kafka.brokers is not set: set it to Kafka's bootstrap servers" .Values.kafka.brokers | quote }} }
- { name: Stream__AuthType, value: password }
- { name: Stream__SaslMechanism, value: {{ .Values.kafka.saslMechanism }} }
- { name: Stream__DisableTls, value: "false" }
- { name: Stream__SessionTimeout, value: {{ .Values.kafka.sessionTimeout }} }
{{- if .Values.kafka.ca.name }}
{{ include "secret" (list "Stream__CaCert" .Values.kafka.ca.name .Values.kafka.ca.key) }}
{{- else }}
- { name: Stream__CaCert, value: "" }
{{- end }}
{{- end }}

{{/* The settings that the service and its sidecar share. */}}
{{- define "shared" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{ include "kafka" $root }}
- { name: Stream__SaslUsername, value: {{ $name }} }
{{ include "secret" (list "Stream__SaslPassword" (include "passwordSecret" .) (include "passwordKey" $root)) }}
{{ include "secret" (list "APP_API_TOKEN" (printf "%s-secrets" $name) "APP_API_TOKEN") }}
{{ include "secret" (list "DAPR_API_TOKEN" (printf "%s-secrets" $name) "DAPR_API_TOKEN") }}
{{- end }}

{{/* The variables with which the setup job and operators connect to Kafka. */}}
{{- define "operator" -}}
{{ include "kafka" . }}
{{ include "secret" (list "Stream__SaslUsername" "operator-secrets" "Stream__SaslUsername") }}
{{ include "secret" (list "Stream__SaslPassword" "operator-secrets" "Stream__SaslPassword") }}
{{- end }}
