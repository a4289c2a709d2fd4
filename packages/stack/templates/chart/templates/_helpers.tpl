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

{{/* The settings of all pods. */}}
{{- define "pod" -}}
imagePullSecrets: {{ toJson .Values.images.pullSecrets }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
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

{{/* The list of a container's variables, from two maps as YAML: the values, and the Secrets with their keys. */}}
{{- define "environment" -}}
{{- range $variable, $value := index . 0 | fromYaml }}
- { name: {{ $variable }}, value: {{ $value | quote }} }
{{- end }}
{{- range $variable, $secret := index . 1 | fromYaml }}
{{ include "secret" (prepend $secret $variable) }}
{{- end }}
{{- end }}

{{/* The settings with which all programs connect to Kafka, without user and password. */}}
{{- define "kafkaVariables" -}}
Stream__Brokers: {{ required "kafka.brokers is not set: set it to Kafka's bootstrap servers" .Values.kafka.brokers | quote }}
Stream__AuthType: password
Stream__SaslMechanism: {{ .Values.kafka.saslMechanism }}
Stream__DisableTls: "false"
Stream__SessionTimeout: {{ .Values.kafka.sessionTimeout }}
{{- if not .Values.kafka.ca.name }}
Stream__CaCert: ""
{{- end }}
{{- end }}
{{- define "kafkaSecrets" -}}
{{- with .Values.kafka.ca }}
{{- if .name }}
Stream__CaCert: [{{ .name }}, {{ .key }}]
{{- end }}
{{- end }}
{{- end }}
{{- define "kafka" -}}
{{ include "environment" (list (include "kafkaVariables" .) (include "kafkaSecrets" .)) }}
{{- end }}

{{/* The settings that a service and its sidecar share. */}}
{{- define "sharedVariables" -}}
{{ include "kafkaVariables" (index . 0) }}
Stream__SaslUsername: {{ index . 1 }}
{{- end }}
{{- define "sharedSecrets" -}}
{{- $secrets := printf "%s-secrets" (index . 1) -}}
{{ include "kafkaSecrets" (index . 0) }}
Stream__SaslPassword: [{{ include "passwordSecret" . }}, {{ include "passwordKey" (index . 0) }}]
APP_API_TOKEN: [{{ $secrets }}, APP_API_TOKEN]
DAPR_API_TOKEN: [{{ $secrets }}, DAPR_API_TOKEN]
{{- end }}

{{/* The variables with which the setup job and operators connect to Kafka. */}}
{{- define "operator" -}}
{{ include "kafka" . }}
{{ include "secret" (list "Stream__SaslUsername" "operator-secrets" "Stream__SaslUsername") }}
{{ include "secret" (list "Stream__SaslPassword" "operator-secrets" "Stream__SaslPassword") }}
{{- end }}
