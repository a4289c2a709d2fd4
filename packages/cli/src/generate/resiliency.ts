import { lanes, publishingComponent } from '../lib/services.ts'
import { generated } from './comment.ts'

/** components/resiliency.yaml */
export function resiliencyFile(): string {
  const targets = [publishingComponent, ...lanes].map(
    (name) => `      ${name}:
        inbound:
          retry: forever
          timeout: handler
`,
  )
  return `${generated(`Infrastructure faults are retried for ever, one second apart: an event is never given up while a store or broker is down.
(Dapr's exponential policy ends after 15 minutes whatever maxRetries says.) This must be a file of its own: the sidecar reads
only the first document of a file for resiliency.`)}apiVersion: dapr.io/v1alpha1
kind: Resiliency
metadata:
  name: resiliency
spec:
  policies:
    retries:
      forever:
        policy: constant
        duration: 1s
        maxRetries: -1
    timeouts:
      # A hung handler must not stall every topic: one delivery at a time is in flight per component.
      handler: 60s
  targets:
    components:
${targets.join('')}`
}
