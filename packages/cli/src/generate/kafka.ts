import { lanes, publishingComponent } from '../lib/services.ts'
import { generated } from './comment.ts'

/** What every Kafka component has but the first says why. */
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
  const lane = component.slice(publishingComponent.length)
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
      value: text(`"{appID}${lane}"`),
      why: `Members get partitions in the order of their names, which begin with this: the first lanes of all replicas before any
second lane, so each replica has its share.`,
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
  const components = [publishingComponent, ...lanes]
  const documents = components.map((name, index) => componentText(name, index === 0))
  return `${generated(`Kafka, ${components.length} times alike but for name and client id. A component hands over one delivery at a time, whatever its
topics and partitions; so what a service reacts to comes through ${lanes[0]} to ${lanes.at(-1)}, which share its partitions, and ${publishingComponent} is for
publishing and for what is not urgent (docs/adr/0011). After an outage the others publish, too (docs/adr/0012).`)}${documents.join('---\n')}`
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
