import { bundle } from '../schemas/schema-documents.ts'
import { partsOf, payloadSchemas, typeOf, type Variant, variants } from '../schemas/schemas.ts'
import type { ReceivedEnvelope } from '../schemas/types.ts'
import type { AsyncApiChannel, AsyncApiDocument, AsyncApiMessage, AsyncApiOperation, JsonSchema } from './types.ts'

/** The applications that write and read each topic. */
export interface Traffic {
  /** Version of the contract. */
  version: string
  applications: { name: string; produces: Record<string, readonly string[]>; consumes: readonly string[] }[]
  /** Names of the events that applications outside may write, by topic. All other topics are those of services alone. */
  outside: Record<string, readonly string[]>
  /** Partitions of each topic, where it runs in containers. */
  partitions: number
  /** Fields of the Payload that are the partition key, by topic. */
  keys: Record<string, readonly string[]>
  /** Full envelopes, with what each is: the first of an event type is its example. */
  examples: { description: string; envelope: ReceivedEnvelope }[]
}

const description = `Every event is one JSON document in one envelope, as UTF-8, and is the value of a Kafka record itself: nothing is \
wrapped around it. The full variant of an envelope is what a publisher sends that wants to be traced; a receiver accepts the received one, \
of which six fields are required. All objects are open: fields that no schema names pass and are kept.

Three rules hold for every JSON text, which no schema can say in all languages: objects and lists nest at most 64 levels deep; numbers fit \
a 64-bit double, and are read as one; texts and keys hold neither U+0000 nor a lone surrogate.`

const idOf = (type: string, variant: Variant): string => `${type.replace('@', '.')}.${variant}`
const refTo = (path: string) => ({ $ref: `#/${path}` })

/** Returns the AsyncAPI 3.0 document of all topics, from the schemas and the traffic. */
export function asyncApiDocument(traffic: Traffic): AsyncApiDocument {
  const topics = topicsOf(traffic)
  const types = [...topics.values()].flat()
  return {
    asyncapi: '3.0.0',
    info: { title: 'orderflow', version: traffic.version, description },
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

/** Returns the event types of each topic. */
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
  const others = isOpen ? 'Applications outside may write it, too.' : 'Nobody outside may write it.'
  return {
    address: topic,
    title: topic,
    description: `${others} What a consumer cannot take is on ${topic}.dead.`,
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
        // Who publishes nothing of its own hands on what applications outside say.
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
  const key = {
    type: 'string',
    description: keyDescription(keys[topic] ?? []),
  }
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
  const named = fields.length > 0 ? `The ${fields.join(', a slash, and the ')}; any` : 'Any'
  return `${named} other, or none, will do: order holds for one key alone.`
}

/** Returns an envelope with only its required fields. */
function reducedOf(envelope: object, required: string[] = []): object {
  return Object.fromEntries(Object.entries(envelope).filter(([name]) => required.includes(name)))
}

/** Returns the schemas to which the messages refer, each once. */
function sharedSchemas(types: string[]): Record<string, JsonSchema> {
  const all = types.flatMap((type) => variants.map((variant) => bundle(type, variant).$defs as object))
  const entries = Object.entries(
    all.reduce((merged, some) => Object.assign(merged, some), {} as Record<string, unknown>),
  ).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, schema]) => [name, toDraft7(schema)]))
}

/**
 * Converts a schema of 2020-12 to draft 7, which allows no keyword beside a reference. Shared rules are where AsyncAPI expects them. Both
 * schemas accept the same documents.
 */
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

/** Addresses of the stream, as `make up` starts it (docs/publishing.md). */
export const servers = {
  processes: {
    host: 'localhost:9092',
    protocol: 'kafka',
    description: 'Kafka as a process of one machine, on loopback: nobody is asked who he is.',
  },
  containers: {
    host: 'localhost:9092',
    protocol: 'kafka-secure',
    description: 'Kafka in containers, over TLS: an application outside has a user of its own (./orderflow publisher).',
    security: [{ $ref: '#/components/securitySchemes/scram' }],
  },
  gateway: {
    host: 'localhost:5020',
    pathname: '/v1/events',
    protocol: 'http',
    description:
      'event-gateway, for those without a Kafka client: POST /v1/events/{topic} takes one event, a list, or lines. Where access is closed it asks for an API key.',
  },
}

const securitySchemes = {
  scram: {
    type: 'scramSha512',
    description: 'SASL_SSL with SCRAM-SHA-512: the user and password of ./orderflow publisher.',
  },
}

/** Headers of a record, all optional. */
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
      description: 'Of services of the platform alone: the HMAC-SHA-256 of the value, in base64url.',
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{43}$',
    },
  },
}
