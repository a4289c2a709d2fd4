import type { Service, Urgency } from '../lib/services.ts'
import { lanes, publishingComponent } from '../lib/services.ts'
import { generated } from './comment.ts'

/** How long a delivery of fewer than the most records waits for company, at most. */
const awaitMs: Record<Urgency, number> = { prompt: 60, background: 200 }
const mostRecords = 100

/** components/subscriptions.<service>.yaml: which topics a service gets, and through which components of kafka.yaml. */
export function subscriptionsFile(service: Service): string {
  const documents = Object.entries(service.consumes).flatMap(([topic, urgency]) =>
    urgency === 'prompt'
      ? lanes.map((lane, index) => subscription(service, topic, urgency, lane, `-${index + 1}`))
      : [subscription(service, topic, urgency, publishingComponent, '')],
  )
  return `${generated(`What ${service.name} gets, and through which component of kafka.yaml. A sidecar loads the subscriptions whose scopes name its app-id.

What is reacted to (prompt) comes through ${lanes.length} components, which share the partitions, so that their deliveries overlap (docs/adr/0011). What may
take longer (background) comes through one, and in larger batches.

Each partition hands over what it has when it has maxMessagesCount records, or when its own ticker of maxAwaitDurationMs fires: an
event waits half of that on average. A shorter one costs more than it gives, as deliveries of a few records cost almost as much as full
ones. A delivery has no limit in bytes but the count (packages/service-kit/src/stream/app-channel.ts).`)}${documents.join('---\n')}`
}

function subscription(service: Service, topic: string, urgency: Urgency, component: string, suffix: string): string {
  return `apiVersion: dapr.io/v2alpha1
kind: Subscription
metadata:
  name: ${service.role}-${topic}${suffix}
spec:
  pubsubname: ${component}
  topic: ${topic}
  routes:
    default: /subscriptions/${topic}
  metadata:
    rawPayload: "true"
  bulkSubscribe:
    enabled: true
    maxMessagesCount: ${mostRecords}
    maxAwaitDurationMs: ${awaitMs[urgency]}
scopes:
  - ${service.name}
`
}
