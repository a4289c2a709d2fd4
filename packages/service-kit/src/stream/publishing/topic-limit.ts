import type { StreamSettings } from '@orderflow/kafka-log'
import { type OutgoingEvent, SidecarError } from '../../sidecar/sidecar.ts'
import { shareAdmin } from '../log/shared-admin.ts'
import { settingsOf, topicResource } from './topic-settings.ts'

/** Returns the setting `max.message.bytes` that a topic has; undefined if Kafka does not report it. */
export type TopicLimit = (topic: string) => Promise<number | undefined>

const name = 'max.message.bytes'

/** Creates a function that asks Kafka itself, because sidecars do not report why Kafka refused a record (Dapr 1.18). */
export function createTopicLimit(settings: StreamSettings): TopicLimit {
  const use = shareAdmin(settings, 'orderflow-topic-limit', 1_000)
  return async (topic) => {
    const resources = [{ resourceType: topicResource, resourceName: topic, configurationKeys: [name] }]
    const found = await use((admin) => admin.describeConfigs({ resources })).catch(() => [])
    const value = found[0]?.configs.find((config) => config.name === name)?.value
    return value ? Number(value) : undefined
  }
}

/**
 * Throws an error if an event is larger than its topic should allow.
 * @param besideBytes the bytes of a key and of headers that the event does not have yet
 * @throws {SidecarError} `refused`
 */
export function requireSize(event: OutgoingEvent, besideBytes = 0): void {
  requireBelow(event, Number(settingsOf(event.topic)[name]) - besideBytes)
}

/** Throws an error if Kafka failed to accept an event that is larger than its topic allows. @throws {SidecarError} `refused` */
export async function requireLimit(event: OutgoingEvent, limitOf: TopicLimit): Promise<void> {
  requireBelow(event, (await limitOf(event.topic)) ?? Number.POSITIVE_INFINITY)
}

function requireBelow(event: OutgoingEvent, limit: number): void {
  const bytes = batchBytes(event)
  if (bytes <= limit) return
  const reason = `the record has ${bytes} bytes, and ${name} is ${limit}`
  throw new SidecarError(`publish to ${event.topic}`, reason, 'refused')
}

/** The headers that the sidecar adds to each record: the metadata of a bulk publish (sidecar/dapr-sidecar.ts). */
const addedHeaders = { rawPayload: 'true' }

/** Returns the bytes of a record batch that contains only this event (https://kafka.apache.org/documentation/#recordbatch). Kafka limits this size. */
export function batchBytes({ key, value, headers }: OutgoingEvent): number {
  const all = Object.entries({ ...headers, ...addedHeaders, ...(key !== undefined && { partitionKey: key }) })
  const body =
    fixedBytes +
    withLength(key) +
    withLength(value) +
    varintBytes(all.length) +
    all.reduce((sum, [name, text]) => sum + withLength(name) + withLength(text), 0)
  return batchHeaderBytes + varintBytes(body) + body
}

const batchHeaderBytes = 61
/** The attributes of a record, its time and its offset. The last two are differences, and thus 0 in a batch with one record. */
const fixedBytes = 3

const withLength = (part: string | Uint8Array | undefined): number => {
  const bytes = part === undefined ? 0 : Buffer.byteLength(part)
  return varintBytes(bytes) + bytes
}

/** Returns the bytes of a length, which Kafka writes as a zigzag varint. */
function varintBytes(length: number): number {
  let bytes = 1
  for (let rest = Math.floor((2 * length) / 128); rest > 0; rest = Math.floor(rest / 128)) bytes += 1
  return bytes
}
