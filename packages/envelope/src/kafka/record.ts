import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { contractFolder } from '../schemas/contract-folder.ts'

/** A record as an application outside writes it. */
export interface OutgoingRecord {
  topic: string
  key: string | undefined
  value: Uint8Array
  headers?: Record<string, string>
}

/**
 * Returns the partition key of an event: the values of the fields of its Payload that its topic is keyed by, joined by a slash. All events
 * with one key stay in order. Returns undefined for an event that lacks one of the fields: Kafka may put it into any partition.
 * @param fields a field, or several; without, those of the event's topic by services.json
 */
export function keyOf(document: unknown, fields: string | readonly string[] = keyFields(document)): string | undefined {
  const payload = Object((document as { Payload?: unknown } | null)?.Payload) as Record<string, unknown>
  const values = [fields].flat().map((field) => (Object.hasOwn(payload, field) ? payload[field] : undefined))
  const isWhole = values.every((value) => typeof value === 'string' || typeof value === 'number')
  return isWhole && values.length > 0 ? values.join('/') : undefined
}

/**
 * Returns the fields that are the partition key of a topic. Without a topic, or for one that services.json does not declare, those of the
 * topic to which the event belongs by its Name; none for an unknown event.
 */
export function keyFields(document: unknown, topic?: string): readonly string[] {
  topics ??= JSON.parse(readFileSync(new URL('topics.json', contractFolder), 'utf8')) as Record<string, Topic>
  const declared = topic !== undefined && Object.hasOwn(topics, topic) ? topics[topic] : undefined
  const name = (document as { Name?: unknown } | null)?.Name
  const own = Object.values(topics).find(({ events }) => events.includes(String(name)))
  return (declared ?? own)?.key ?? []
}

/** What services.json declares about a topic. */
interface Topic {
  /** Fields of the Payload whose values are the partition key. */
  key: readonly string[]
  /** Names of the topic's events. */
  events: readonly string[]
}

/** The topics by name, read when a key is first needed: `make generate` writes the file. */
let topics: Record<string, Topic> | undefined

/**
 * Returns the W3C trace headers of a full envelope: its TraceId, a new span id, and the flag that the trace is recorded. An envelope
 * without a TraceId has no headers.
 */
export function traceHeaders(document: unknown): Record<string, string> {
  const id = (document as { TraceId?: unknown } | null)?.TraceId
  if (typeof id !== 'string') return {}
  const traceId = id.replaceAll('-', '').toLowerCase()
  return { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
}

/** Returns the topic that holds the dead letters of a topic: the topic's name, then `.dead`. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dead`
}
