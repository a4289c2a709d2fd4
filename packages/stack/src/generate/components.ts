import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../application/paths.ts'
import {
  consumerComponents,
  outsideEvents,
  publishingComponent,
  type Service,
  services,
  storedServices,
  type Urgency,
} from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { generated } from './text.ts'

/** A setting of a component. The reason (`why`) becomes a comment, but only in the first component of the file. */
interface Setting {
  name: string
  /** YAML that contains the value, or names a variable of the sidecar. */
  value: string
  why?: string
}

const fromEnvironment = (variable: string) => `secretKeyRef: { name: ${variable}, key: ${variable} }`
const text = (value: string) => `value: ${value}`

/** The interval at which each of a component's two Kafka clients sends one small request for metadata. */
const metadataRefresh = '5s'

function settingsOf(component: string): Setting[] {
  const suffix = component.slice(publishingComponent.length)
  return [
    { name: 'brokers', value: fromEnvironment('Stream__Brokers') },
    {
      name: 'authType',
      value: fromEnvironment('Stream__AuthType'),
      why: 'Set it to none, or to password to use the SASL settings below.',
    },
    { name: 'saslMechanism', value: fromEnvironment('Stream__SaslMechanism') },
    { name: 'saslUsername', value: fromEnvironment('Stream__SaslUsername') },
    { name: 'saslPassword', value: fromEnvironment('Stream__SaslPassword') },
    { name: 'disableTls', value: fromEnvironment('Stream__DisableTls') },
    { name: 'caCert', value: fromEnvironment('Stream__CaCert') },
    {
      name: 'consumerGroup',
      value: text('"{appID}"'),
      why: 'Each application has its own group. The replicas of an application share the partitions.',
    },
    {
      name: 'clientId',
      value: text(`"{appID}${suffix}"`),
      why: `Kafka assigns partitions in the order of the members' names, which begin with this id. The first consumers of all replicas
therefore come before all second consumers, so each replica gets a share.`,
    },
    {
      name: 'clientConnectionTopicMetadataRefreshInterval',
      value: text(metadataRefresh),
      why: "Publishers find new partitions after this time, and consumers after at most twice this time. Dapr's default is 8m.",
    },
    {
      name: 'initialOffset',
      value: text('oldest'),
      why: 'A new group starts with the oldest event, so it also gets the events published before its first start.',
    },
    {
      name: 'escapeHeaders',
      value: text('"true"'),
      why: 'The sidecar passes header values and keys in HTTP headers. Without escaping, invalid bytes would block delivery.',
    },
    {
      name: 'excludeHeaderMetaRegex',
      value: text('"^__"'),
      why: 'Excludes record headers that would replace the __key, __topic, __partition and __offset that the sidecar adds.',
    },
    {
      name: 'maxMessageBytes',
      value: text('"2097152"'),
      why: 'Larger than max.message.bytes of every topic, so that the broker refuses large records.',
    },
    {
      name: 'sessionTimeout',
      value: fromEnvironment('Stream__SessionTimeout'),
      why: `Other members get the partitions of a killed sidecar after this time. Our brokers allow 3s (group.min.session.timeout.ms).
Hosted brokers usually require at least 6s.`,
    },
    { name: 'heartbeatInterval', value: text('1s') },
  ]
}

export function kafkaFile(): string {
  const components = [publishingComponent, ...consumerComponents]
  const documents = components.map((name, index) => componentText(name, index === 0))
  return `${generated(`Contains ${components.length} Kafka components, which differ only in name and client id. A component makes one delivery at a time for all its
topics and partitions. Urgent events therefore come through the components ${consumerComponents[0]} to ${consumerComponents.at(-1)}, which share the partitions. ${publishingComponent} publishes, and
delivers other events (docs/adr/0018). If ${publishingComponent} cannot publish, a service publishes through other components (docs/adr/0012).`)}${documents.join('---\n')}`
}

const reasonForInitTimeout = `  # If several sidecars start on a busy machine, their connections to Kafka take longer than Dapr's default of 5s. The sidecar would end.
`

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
${isFirst ? reasonForInitTimeout : ''}  initTimeout: 30s
  metadata:
${settings.join('')}${scopesOf(services)}`
}

/** Returns the end of a resource: the services whose sidecars load it. */
export function scopesOf(users: readonly Service[]): string {
  return `scopes:\n${users.map(({ name }) => `  - ${name}\n`).join('')}`
}

export function resiliencyFile(): string {
  const targets = [publishingComponent, ...consumerComponents].map(
    (name) => `      ${name}:
        inbound:
          retry: forever
          timeout: handler
`,
  )
  return `${generated(`Retries a delivery every second without limit, so events survive an outage of a store or broker. Dapr's exponential policy
ends after 15 minutes for every value of maxRetries. Resiliency needs its own file, because the sidecar reads only the first
document of a file.`)}apiVersion: dapr.io/v1alpha1
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
      # Ends a handler that hangs. A component makes only one delivery at a time, so this handler would block all its topics.
      handler: 60s
  targets:
    components:
${targets.join('')}${scopesOf(services)}`
}

/** Returns components/postgresql/statestore-save.yaml. Its functions are in packages/service-kit/src/sidecar/save-documents.ts. */
export function savingComponentFile(): string {
  return `${generated(`Saves all documents of a batch with one statement (docs/stores.md). The sidecar itself saves each document with a statement of its own.`)}apiVersion: dapr.io/v1alpha1
kind: Component
metadata:
  name: statestore-save
auth:
  secretStore: env-secrets
spec:
  type: bindings.postgresql
  version: v1
  metadata:
    - name: connectionString
      secretKeyRef: { name: State__ConnectionString, key: State__ConnectionString }
    - name: database
      value: "{appID}"
    # Replaces the user of connectionString. This user may only call two functions (docs/security.md).
    - name: user
      value: "{appID}"
    - name: maxConns
      value: "8"
${scopesOf(storedServices)}`
}

/** The longest time that a delivery waits for more records, in milliseconds. */
const awaitMs: Record<Urgency, number> = { prompt: 60, background: 200 }
const mostRecords = 200

/** Returns components/subscriptions.<service>.yaml: the components that deliver each consumed topic. */
export function subscriptionsFile(service: Service): string {
  const documents = Object.entries(service.consumes).flatMap(([topic, urgency]) =>
    urgency === 'prompt'
      ? consumerComponents.map((name, index) => subscription(service, topic, urgency, name, `-${index + 1}`))
      : [subscription(service, topic, urgency, publishingComponent, '')],
  )
  return `${generated(`The topics of ${service.name} and their components in kafka.yaml. A sidecar loads the subscriptions whose scopes name its app-id.

Urgent topics (prompt) use ${consumerComponents.length} components, which share the partitions, so deliveries overlap (docs/adr/0018). Other topics (background) use
one component and larger batches.

The sidecar delivers the records of a partition when it has maxMessagesCount of them, or when the partition's ticker fires. The ticker
fires every maxAwaitDurationMs, so an event waits half of this time on average.
Only maxMessagesCount limits the size of a delivery.`)}${documents.join('---\n')}`
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
${scopesOf([service])}`
}

/**
 * Returns components/trust/publishers.json: the events of services by AppId, and the events of outside publishers by topic.
 * @throws {CliError} `settings` if two services have the same AppId
 */
export function publishersFile(all = services): string {
  for (const [index, service] of all.entries()) {
    const other = all.slice(0, index).find((each) => appIdOf(each) === appIdOf(service))
    if (!other) continue
    throw new CliError('settings', `${service.name} has the AppId of ${other.name}`, {
      nextStep: `write a new GUID into App.Id of ${service.folder}/appsettings.json`,
    })
  }
  const own = all.map((service) => [appIdOf(service), { name: service.name, publishes: service.publishes }])
  const content = {
    $comment: 'Generated from services.json and the AppIds of appsettings.json by make generate.',
    outside: outsideEvents,
    services: Object.fromEntries(own),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

export function appIdOf({ folder }: Service): string {
  const { App } = JSON.parse(readFileSync(join(repository, folder, 'appsettings.json'), 'utf8')) as {
    App: { Id: string }
  }
  return App.Id.toLowerCase()
}
