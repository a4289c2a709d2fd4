import { bundle } from '../schemas/schema-documents.ts'
import { partsOf, payloadSchemas, typeOf, type Variant, variants } from '../schemas/schemas.ts'
import type { ReceivedEnvelope } from '../schemas/types.ts'
import type { AsyncApiChannel, AsyncApiDocument, AsyncApiMessage, AsyncApiOperation, JsonSchema } from './types.ts'

export interface Traffic {
  title: string
  version: string
  applications: { name: string; produces: Record<string, readonly string[]>; consumes: readonly string[] }[]
  /** Names of the events that outside publishers may write, by topic. Only services write other topics. */
  outside: Record<string, readonly string[]>
  partitions: number
  /** Key fields of the Payload, by topic. */
  keys: Record<string, readonly string[]>
  /** Full envelopes with a description. The first envelope of each event type becomes the example of that type. */
  examples: { description: string; envelope: ReceivedEnvelope }[]
}

const description = `Every event is one JSON document in UTF-8: an envelope. It is the value of a Kafka record, without a wrapper. \
Publishers that use tracing send the full variant of the envelope. Receivers accept the received variant, \
which has six required fields. All objects are open: fields without a schema are accepted and kept.

Three rules apply to every JSON text, because JSON Schema cannot express them in all languages. Objects and lists nest at most 64 levels deep. \
Numbers fit a 64-bit double, and are read as one. Texts and keys contain neither U+0000 nor a lone surrogate.`

const idOf = (type: string, variant: Variant): string => `${type.replace('@', '.')}.${variant}`
const refTo = (path: string) => ({ $ref: `#/${path}` })

export function asyncApiDocument(traffic: Traffic): AsyncApiDocument {
  const topics = topicsOf(traffic)
  const types = [...topics.values()].flat()
  return {
    asyncapi: '3.0.0',
    info: { title: traffic.title, version: traffic.version, description },
    defaultContentType: 'application/json',
    servers,
    channels: Object.fromEntries(Array.from(topics, ([topic, own]) => [topic, channelOf(topic, own, traffic)])),
    operations: Object.fromEntries(operationsOf(traffic, topics)),
    components: {
      messages: Object.fromEntries(
        [...topics].flatMap(([topic, own]) =>
          own.flatMap((type) =>
            variants.map((variant) => [idOf(type, variant), messageOf(type, topic, variant, traffic)]),
          ),
        ),
      ),
      schemas: { ...sharedSchemas(types), headers },
      securitySchemes,
    },
  } as AsyncApiDocument
}

function topicsOf({ applications, outside }: Traffic): Map<string, string[]> {
  const topics = new Map<string, string[]>()
  for (const written of [...applications.map(({ produces }) => produces), outside]) {
    for (const [topic, names] of Object.entries(written)) {
      const types = [...payloadSchemas.keys()].filter((type) => names.includes(partsOf(type).Name))
      topics.set(topic, [...new Set([...(topics.get(topic) ?? []), ...types])])
    }
  }
  return topics
}

function channelOf(topic: string, types: string[], { outside, partitions }: Traffic): AsyncApiChannel {
  const isOpen = Object.hasOwn(outside, topic)
  const others = isOpen ? 'Outside publishers may also write it.' : 'Outside publishers may not write it.'
  return {
    address: topic,
    title: topic,
    description: `${others} Events that a consumer cannot handle are on ${topic}.dead.`,
    messages: Object.fromEntries(
      types.flatMap((type) =>
        variants.map((variant) => [idOf(type, variant), refTo(`components/messages/${idOf(type, variant)}`)]),
      ),
    ),
    servers: Object.keys(servers)
      .filter((name) => name !== 'gateway' || isOpen)
      .map((name) => refTo(`servers/${name}`)),
    bindings: { kafka: { topic, partitions, bindingVersion: '0.5.0' } },
  }
}

function operationsOf(traffic: Traffic, topics: Map<string, string[]>): [string, AsyncApiOperation][] {
  const operation = (
    who: string,
    action: AsyncApiOperation['action'],
    topic: string,
    of: readonly Variant[],
    names?: readonly string[],
  ) => {
    const types = (topics.get(topic) ?? []).filter((type) => names?.includes(partsOf(type).Name) ?? true)
    const ids = types.flatMap((type) => of.map((variant) => idOf(type, variant)))
    const id = `${who}.${action}.${topic}`.replaceAll(' ', '-')
    const group = { groupId: { type: 'string', const: who }, bindingVersion: '0.5.0' }
    const value = {
      action,
      channel: refTo(`channels/${topic}`),
      title: `${action === 'send' ? 'Sent' : 'Received'} by ${who}`,
      messages: ids.map((message) => refTo(`channels/${topic}/messages/${message}`)),
      ...(action === 'receive' && { bindings: { kafka: group } }),
    }
    return [id, value] as [string, AsyncApiOperation]
  }
  return [
    ...traffic.applications.flatMap(({ name, produces, consumes }) => [
      ...Object.entries(produces)
        // Leaves out a service that declares no events, because it forwards the events of outside publishers.
        .filter(([, names]) => names.length > 0)
        .map(([topic, names]) => operation(name, 'send', topic, ['full'], names)),
      ...consumes.map((topic) => operation(name, 'receive', topic, ['received'])),
    ]),
    ...Object.entries(traffic.outside).map(([topic, names]) =>
      operation('applications outside', 'send', topic, variants, names),
    ),
  ]
}

function messageOf(type: string, topic: string, variant: Variant, { examples, keys }: Traffic): AsyncApiMessage {
  const { title, description: summary, ...schema } = toDraft7(bundle(type, variant))
  const found = examples.find(({ envelope }) => typeOf(envelope) === type)
  const key = { type: 'string', description: keyDescription(keys[topic] ?? []) }
  const message = {
    name: type,
    title: title ?? type,
    summary: summary ?? '',
    contentType: 'application/json',
    correlationId: { location: '$message.payload#/CorrelationId' },
    headers: refTo('components/schemas/headers'),
    payload: schema as JsonSchema,
    bindings: { kafka: { key, bindingVersion: '0.5.0' } },
  }
  if (!found) return message
  const payload = variant === 'full' ? found.envelope : reducedOf(found.envelope, message.payload.required)
  return { ...message, examples: [{ name: variant, summary: found.description, payload: { ...payload } }] }
}

function keyDescription(fields: readonly string[]): string {
  const named = fields.length > 0 ? `Preferably the ${fields.join(', a slash, and the ')}. Any` : 'Any'
  return `${named} key or no key is allowed: only events with the same key stay in order.`
}

function reducedOf(envelope: object, required: string[] = []): object {
  return Object.fromEntries(Object.entries(envelope).filter(([name]) => required.includes(name)))
}

function sharedSchemas(types: string[]): Record<string, JsonSchema> {
  const all = types.flatMap((type) => variants.map((variant) => bundle(type, variant).$defs as object))
  const shared = new Map(all.flatMap((some) => Object.entries(some)))
  const sorted = [...shared].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, schema]) => [name, toDraft7(schema)]))
}

/** Converts a JSON Schema from 2020-12 to draft 7, where a reference must be the only keyword. Both schemas accept the same documents. */
function toDraft7(schema: unknown): JsonSchema {
  const { $schema: _, $id: __, $defs: ___, ...kept } = schema as JsonSchema
  return convert(kept) as JsonSchema
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert)
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...own } = value as JsonSchema
  const converted = Object.fromEntries(Object.entries(own).map(([key, inner]) => [key, convert(inner)]))
  if ($ref === undefined) return converted
  const reference = { $ref: $ref.replace('#/$defs/', '#/components/schemas/') }
  return Object.keys(own).length === 0 ? reference : { ...converted, allOf: [reference] }
}

/** Addresses of the stream after `make up` (docs/publishing.md). */
export const servers = {
  processes: {
    host: 'localhost:9092',
    protocol: 'kafka',
    description: 'Kafka as a process, reachable only from this machine. No login is required.',
  },
  containers: {
    host: 'localhost:9092',
    protocol: 'kafka-secure',
    description: 'Kafka in containers, over TLS. Each outside publisher has its own user (./orderflow publisher).',
    security: [{ $ref: '#/components/securitySchemes/scram' }],
  },
  gateway: {
    host: 'localhost:5020',
    pathname: '/v1/events',
    protocol: 'http',
    description:
      'event-gateway, for publishers without a Kafka client: POST /v1/events/{topic} accepts one event, a list of events, or JSON lines. With restricted access it requires an API key.',
  },
}

const securitySchemes = {
  scram: {
    type: 'scramSha512',
    description: 'SASL_SSL with SCRAM-SHA-512: the user and password of ./orderflow publisher.',
  },
}

export const headers: JsonSchema = {
  title: 'Headers of a record',
  type: 'object',
  properties: {
    traceparent: {
      title: 'Trace parent',
      description: 'W3C Trace Context. Its trace-id is the TraceId, without hyphens.',
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    },
    tracestate: { title: 'Trace state', description: 'W3C Trace Context.', type: 'string' },
    signature: {
      title: 'Signature',
      description: 'The HMAC-SHA-256 of the value, in base64url. Only services of the platform sign their records.',
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{43}$',
    },
  },
}
