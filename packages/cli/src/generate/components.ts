import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import {
  consumerComponents,
  outsideTopics,
  publishingComponent,
  type Service,
  services,
  type Urgency,
} from '../lib/services.ts'
import { generated } from './text.ts'

/** A setting of every Kafka component. The first one has the reasons as comments. */
interface Setting {
  name: string
  /** A text, or where the sidecar's environment has it. */
  value: string
  why?: string
}

const fromEnvironment = (variable: string) => `secretKeyRef: { name: ${variable}, key: ${variable} }`
const text = (value: string) => `value: ${value}`

/** Each look costs the broker one small request of each of a component's two clients. */
const metadataRefresh = '5s'

function settingsOf(component: string): Setting[] {
  const suffix = component.slice(publishingComponent.length)
  return [
    { name: 'brokers', value: fromEnvironment('Stream__Brokers') },
    {
      name: 'authType',
      value: fromEnvironment('Stream__AuthType'),
      why: 'none, or password with the SASL settings below (components/README.md).',
    },
    { name: 'saslMechanism', value: fromEnvironment('Stream__SaslMechanism') },
    { name: 'saslUsername', value: fromEnvironment('Stream__SaslUsername') },
    { name: 'saslPassword', value: fromEnvironment('Stream__SaslPassword') },
    { name: 'disableTls', value: fromEnvironment('Stream__DisableTls') },
    { name: 'caCert', value: fromEnvironment('Stream__CaCert') },
    {
      name: 'consumerGroup',
      value: text('"{appID}"'),
      why: 'One group per application: its replicas share the partitions, the others get every event too.',
    },
    {
      name: 'clientId',
      value: text(`"{appID}${suffix}"`),
      why: `Members get partitions in the order of their names, which begin with this: the first consumers of all replicas before any
second consumer, so each replica has its share.`,
    },
    {
      name: 'clientConnectionTopicMetadataRefreshInterval',
      value: text(metadataRefresh),
      why: 'Partitions that are added to a topic are published to after this time, and consumed after twice as long at the most; the default is 8m.',
    },
    {
      name: 'initialOffset',
      value: text('oldest'),
      why: 'A new group starts with the oldest event, so nothing published before its first start is skipped.',
    },
    {
      name: 'escapeHeaders',
      value: text('"true"'),
      why: 'Header values and keys travel through HTTP headers inside the sidecar: without escaping, odd bytes stall delivery.',
    },
    {
      name: 'excludeHeaderMetaRegex',
      value: text('"^__"'),
      why: 'Record headers would override the __key, __topic, __partition and __offset the sidecar adds: publishers must not.',
    },
    {
      name: 'maxMessageBytes',
      value: text('"2097152"'),
      why: 'Above every topic\'s max.message.bytes (packages/service-kit/src/stream/topic-settings.ts), so that the broker is the one that says "too large".',
    },
    {
      name: 'sessionTimeout',
      value: fromEnvironment('Stream__SessionTimeout'),
      why: `A killed sidecar's partitions are taken over after this time. Our brokers allow 3s (group.min.session.timeout.ms);
hosted brokers usually refuse less than 6s.`,
    },
    { name: 'heartbeatInterval', value: text('1s') },
  ]
}

/** components/kafka.yaml */
export function kafkaFile(): string {
  const components = [publishingComponent, ...consumerComponents]
  const documents = components.map((name, index) => componentText(name, index === 0))
  return `${generated(`Kafka, ${components.length} times alike but for name and client id. A component hands over one delivery at a time, whatever its
topics and partitions; so what a service reacts to comes through ${consumerComponents[0]} to ${consumerComponents.at(-1)}, which share its partitions, and ${publishingComponent} is for
publishing and for what is not urgent (docs/adr/0018). After an outage the others publish, too (docs/adr/0012).`)}${documents.join('---\n')}`
}

function componentText(name: string, isFirst: boolean): string {
  const settings = settingsOf(name).map(({ name: setting, value, why }) => {
    const reason = isFirst && why ? why.split('\n').map((line) => `    # ${line}\n`) : []
    return `${reason.join('')}    - name: ${setting}\n      ${value}\n`
  })
  return `apiVersion: dapr.io/v1alpha1
kind: Component
metadata:
  name: ${name}
auth:
  secretStore: env-secrets
spec:
  type: pubsub.kafka
  version: v1
  metadata:
${settings.join('')}`
}

/** packages/cli/release-image/boot-check/kafka.yaml */
export function bootCheckFile(): string {
  const documents = [publishingComponent, ...consumerComponents].map(
    (name) => `apiVersion: dapr.io/v1alpha1
kind: Component
metadata:
  name: ${name}
spec:
  type: pubsub.in-memory
  version: v1
  metadata: []
`,
  )
  return `${generated(`In place of components/kafka.yaml while an image is checked: a stream inside the sidecar, so that the check consumes and
publishes nothing anywhere.`)}${documents.join('---\n')}`
}

/** components/resiliency.yaml */
export function resiliencyFile(): string {
  const targets = [publishingComponent, ...consumerComponents].map(
    (name) => `      ${name}:
        inbound:
          retry: forever
          timeout: handler
`,
  )
  return `${generated(`Infrastructure faults are retried for ever, one second apart: an event is never given up while a store or broker is down.
(Dapr's exponential policy ends after 15 minutes whatever maxRetries says.) This must be a file of its own: the sidecar reads
only the first document of a file for resiliency. To change the times, edit resiliencyFile in
packages/cli/src/generate/components.ts.`)}apiVersion: dapr.io/v1alpha1
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

/** The longest time that a delivery waits for more records. */
const awaitMs: Record<Urgency, number> = { prompt: 60, background: 200 }
const mostRecords = 100

/** components/subscriptions.<service>.yaml: which topics a service gets, and through which components of kafka.yaml. */
export function subscriptionsFile(service: Service): string {
  const documents = Object.entries(service.consumes).flatMap(([topic, urgency]) =>
    urgency === 'prompt'
      ? consumerComponents.map((name, index) => subscription(service, topic, urgency, name, `-${index + 1}`))
      : [subscription(service, topic, urgency, publishingComponent, '')],
  )
  return `${generated(`What ${service.name} gets, and through which component of kafka.yaml. A sidecar loads the subscriptions whose scopes name its app-id.

What is reacted to (prompt) comes through ${consumerComponents.length} components, which share the partitions, so that their deliveries overlap (docs/adr/0018). What may
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

/**
 * components/trust/publishers.json: what each service publishes, by the AppId in its settings, and which topics others may write, too. A
 * service has no other way to know the AppIds of the others: an image has the settings of one service.
 */
export function publishersFile(): string {
  const own = services.map((service) => [appIdOf(service), { name: service.name, publishes: service.publishes }])
  const content = {
    $comment: 'Generated from services.json and the AppIds of appsettings.json by make generate.',
    outside: outsideTopics,
    services: Object.fromEntries(own),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

/** The AppId in a service's settings. */
export function appIdOf({ folder }: Service): string {
  const { App } = JSON.parse(readFileSync(join(repository, folder, 'appsettings.json'), 'utf8')) as {
    App: { Id: string }
  }
  return App.Id.toLowerCase()
}
