{{/* The variables of a sidecar. */}}
{{- define "sidecarVariables" -}}
{{ include "sharedVariables" . }}
# Collects garbage when the heap has tripled, instead of doubled. Above GOMEMLIMIT, it collects more often.
GOGC: "200"
GOMEMLIMIT: {{ (index . 0).Values.sidecarMemory }}
OTEL_SERVICE_NAME: {{ index . 1 }}-sidecar
{{- range $variable, $value := (index . 0).Values.settings }}
{{- if hasPrefix "OTEL_" $variable }}
{{ $variable }}: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- define "sidecarSecrets" -}}
{{ include "sharedSecrets" . }}
{{- if (index . 2).hasStore }}
State__ConnectionString: [{{ index . 1 }}-secrets, State__ConnectionString]
{{- end }}
{{- end }}

{{- define "nativeSidecar" -}}
{{- $root := index . 0 -}}
{{- $service := index . 2 -}}
{{- $sidecar := ($root.Files.Get "files/application.json" | fromJson).sidecar -}}
- name: daprd
  image: {{ $sidecar.image }}
  # An initial container with this policy runs as long as the pod. It starts before the service and ends after it.
  restartPolicy: Always
  command: [/daprd]
  args: {{- toYaml $service.sidecar | nindent 4 }}
  ports:
    - { name: sidecar-health, containerPort: {{ $sidecar.public }} }
    - { name: sidecar-metrics, containerPort: {{ $sidecar.metrics }} }
  env:
    {{- include "environment" (list (include "sidecarVariables" .) (include "sidecarSecrets" .)) | nindent 4 }}
  livenessProbe:
    httpGet: { path: /v1.0/healthz/outbound, port: sidecar-health }
    initialDelaySeconds: 60
    periodSeconds: 10
    timeoutSeconds: 5
  resources: {{- toYaml $root.Values.sidecarResources | nindent 4 }}
  securityContext: {{- include "containerSecurity" $root | nindent 4 }}
  volumeMounts:
    - { name: components, mountPath: /components, readOnly: true }
{{- end }}

{{/* The annotations from which Dapr's injector creates the same sidecar. */}}
{{- define "annotations" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $service := index . 2 -}}
{{- $sidecar := ($root.Files.Get "files/application.json" | fromJson).sidecar -}}
{{- $resources := $root.Values.sidecarResources -}}
dapr.io/enabled: "true"
dapr.io/app-id: {{ $name }}
dapr.io/app-port: "{{ $service.ports.channel }}"
dapr.io/app-protocol: http
dapr.io/config: configuration
dapr.io/sidecar-image: {{ $sidecar.image }}
dapr.io/grpc-port: "{{ $sidecar.grpc }}"
dapr.io/metrics-port: "{{ $sidecar.metrics }}"
dapr.io/max-body-size: {{ $sidecar.maxBodySize }}
dapr.io/enable-native-sidecar: "true"
dapr.io/sidecar-seccomp-profile-type: RuntimeDefault
# The services use neither actors, workflows nor jobs.
dapr.io/placement-host-address: ""
dapr.io/scheduler-host-address: ""
dapr.io/disable-builtin-k8s-secret-store: "true"
{{- with $resources.requests }}
dapr.io/sidecar-cpu-request: {{ .cpu }}
dapr.io/sidecar-memory-request: {{ .memory }}
{{- end }}
{{- with $resources.limits }}
{{- with .cpu }}
dapr.io/sidecar-cpu-limit: {{ . }}
{{- end }}
dapr.io/sidecar-memory-limit: {{ .memory }}
{{- end }}
dapr.io/env: {{ $pairs := list -}}
{{- range $variable, $value := include "sidecarVariables" . | fromYaml }}{{ $pairs = append $pairs (printf "%s=%s" $variable $value) }}{{ end -}}
{{ join "," $pairs | quote }}
{{ $pairs = list -}}
{{- range $variable, $secret := include "sidecarSecrets" . | fromYaml }}{{ $pairs = append $pairs (printf "%s=%s:%s" $variable (index $secret 0) (index $secret 1)) }}{{ end -}}
dapr.io/env-from-secret: {{ join "," $pairs | quote }}
{{- end }}
