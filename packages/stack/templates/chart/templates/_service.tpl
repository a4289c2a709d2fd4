{{/* What the pods of a Deployment and of a rebuild have in common. The lists contain the root, the name of the service and its entry in application.json. */}}
{{- define "serviceEnvironment" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $service := index . 2 -}}
{{- $application := $root.Files.Get "files/application.json" | fromJson -}}
{{- $secrets := printf "%s-secrets" $name -}}
{{ include "environment" (list (include "sharedVariables" .) (include "sharedSecrets" .)) }}
- { name: Sidecar__HttpPort, value: "{{ $application.sidecar.http }}" }
- { name: Sidecar__GrpcPort, value: "{{ $application.sidecar.grpc }}" }
- { name: Metrics__Host, value: 0.0.0.0 }
- { name: Web__Hosts, value: {{ printf "%s,%s-metrics,%s.%s,%s.%s.svc,%s" $name $name $name $root.Release.Namespace $name $root.Release.Namespace $root.Values.settings.Web__Hosts | quote }} }
{{- if $service.isKnownBySignature }}
{{ include "secret" (list "Trust__SigningKeys" $secrets "Trust__SigningKeys") }}
{{- end }}
{{- if $service.hasStore }}
{{ include "secret" (list "DryRun__Token" $secrets "DryRun__Token") }}
{{- end }}
{{- if $service.watches }}
{{- range $stored := $service.dryRuns }}
{{ include "secret" (list $stored.variable (printf "%s-secrets" $stored.name) "DryRun__Token") }}
{{- end }}
{{- end }}
{{- range $variable, $value := $service.environment }}
- { name: {{ $variable }}, value: {{ $value | quote }} }
{{- end }}
{{- if $root.Values.apiKeys }}
- { name: Auth__ApiKeys, value: /auth/api-keys.json }
{{- end }}
- { name: OTEL_SERVICE_NAME, value: {{ $name }} }
{{- range $variable, $value := omit $root.Values.settings "Web__Hosts" }}
- { name: {{ $variable }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "serviceMounts" -}}
# A rebuild writes a large store into temporary files.
- { name: temporary, mountPath: /tmp }
- { name: trust, mountPath: /app/components/trust, readOnly: true }
{{- if .Values.apiKeys }}
- { name: api-keys, mountPath: /auth, readOnly: true }
{{- end }}
{{- end }}

{{- define "serviceVolumes" -}}
- name: temporary
  emptyDir: {}
- name: trust
  configMap: { name: {{ .Chart.Name }}-trust }
{{- if .Values.apiKeys }}
- name: api-keys
  secret: { secretName: {{ .Values.apiKeys }} }
{{- end }}
{{- end }}

{{/* The volume of a native sidecar. */}}
{{- define "sidecarVolume" -}}
- name: components
  configMap: { name: {{ .Chart.Name }}-components }
{{- end }}
