import { partsOf, typeOf } from '../schemas/event-type.ts'
import { bundle } from '../schemas/schema-documents.ts'
import { payloadSchemas, type Variant, variants } from '../schemas/schemas.ts'
import type { ReceivedEnvelope } from '../schemas/types.ts'
import { toDraft7 } from './draft-7.ts'
import { headers, securitySchemes, servers } from './stream.ts'
import type { AsyncApiChannel, AsyncApiDocument, AsyncApiMessage, AsyncApiOperation, JsonSchema } from './types.ts'

/** Who writes and reads what. */
export interface Traffic {
  /** Of the contract. */
  version: string
  applications: { name: string; produces: Record<string, readonly string[]>; consumes: readonly string[] }[]
  /** Topics that applications outside may write. */
  outside: readonly string[]
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

/** The AsyncAPI 3.0 document of all topics: it follows from the schemas, and from who writes and reads what. */
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

/** The event types of each topic. */
function topicsOf({ applications }: Traffic): Map<string, string[]> {
  const topics = new Map<string, string[]>()
  for (const { produces } of applications) {
    for (const [topic, names] of Object.entries(produces)) {
      const types = [...payloadSchemas.keys()].filter((type) => names.includes(partsOf(type).Name))
      topics.set(topic, [...new Set([...(topics.get(topic) ?? []), ...types])])
    }
  }
  return topics
}

function channelOf(topic: string, types: string[], { outside, partitions }: Traffic): AsyncApiChannel {
  const others = outside.includes(topic) ? 'Applications outside may write it, too.' : 'Nobody outside may write it.'
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
      .filter((name) => name !== 'gateway' || outside.includes(topic))
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
    ...traffic.outside.map((topic) => operation('applications outside', 'send', topic, variants)),
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

/** With the fields that must be there, and no others. */
function reducedOf(envelope: object, required: string[] = []): object {
  return Object.fromEntries(Object.entries(envelope).filter(([name]) => required.includes(name)))
}

/** What the messages refer to, each once. */
function sharedSchemas(types: string[]): Record<string, JsonSchema> {
  const all = types.flatMap((type) => variants.map((variant) => bundle(type, variant).$defs as object))
  const entries = Object.entries(
    all.reduce((merged, some) => Object.assign(merged, some), {} as Record<string, unknown>),
  ).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, schema]) => [name, toDraft7(schema)]))
}
