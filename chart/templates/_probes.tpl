{{- /* The probes of a service. */}}
{{- define "serviceProbes" }}
startupProbe:
  # Passes when the service has reached its sidecar, its store and Kafka once. So a wrong password stops a rollout. Waits for
  # an hour, because the pod should not restart while Kafka is away.
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 1800
readinessProbe:
  # Fails only for faults of this pod. In an outage of Kafka or the store, clients get an answer that explains it. Clients also reach a
  # service that has stopped a topic.
  httpGet: { path: "/readyz?exclude=stream&exclude=store", port: http }
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  httpGet: { path: /livez, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
{{- end }}
