import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { contractFolder } from '../schemas/contract-folder.ts'

/** A record as an outside publisher writes it. */
export interface OutgoingRecord {
  topic: string
  key: string | undefined
  value: Uint8Array
  headers?: Record<string, string>
}

/**
 * Returns the partition key of an event: the values of its topic's key fields in the Payload, joined by a slash. All events with one key
 * stay in order. Returns undefined for an event that lacks one of the fields; Kafka may write it to any partition.
 * @param fields one or several fields; default: the key fields that services.json declares for the event's topic
 */
export function keyOf(document: unknown, fields: string | readonly string[] = keyFields(document)): string | undefined {
  const payload = Object((document as { Payload?: unknown } | null)?.Payload) as Record<string, unknown>
  const values = [fields].flat().map((field) => (Object.hasOwn(payload, field) ? payload[field] : undefined))
  const isWhole = values.every((value) => typeof value === 'string' || typeof value === 'number')
  return isWhole && values.length > 0 ? values.join('/') : undefined
}

/**
 * Returns the fields that form the partition key of a topic. If the topic is missing or undeclared in services.json, the event's Name
 * determines the topic. Returns an empty list for an unknown event.
 */
export function keyFields(document: unknown, topic?: string): readonly string[] {
  topics ??= JSON.parse(readFileSync(new URL('topics.json', contractFolder), 'utf8')) as Record<string, Topic>
  const declared = topic !== undefined && Object.hasOwn(topics, topic) ? topics[topic] : undefined
  const name = (document as { Name?: unknown } | null)?.Name
  const own = Object.values(topics).find(({ events }) => events.includes(String(name)))
  return (declared ?? own)?.key ?? []
}

/** A topic's declaration in services.json. */
interface Topic {
  /** Fields of the Payload whose values form the partition key. */
  key: readonly string[]
  /** Names of the topic's events. */
  events: readonly string[]
}

/** The topics by name, read when a key is first needed, because `make generate` writes the file. */
let topics: Record<string, Topic> | undefined

/**
 * Returns the W3C trace headers of a full envelope: its TraceId, a new span id, and the flag for a recorded trace. Returns an empty object
 * if the TraceId is missing.
 */
export function traceHeaders(document: unknown): Record<string, string> {
  const id = (document as { TraceId?: unknown } | null)?.TraceId
  if (typeof id !== 'string') return {}
  const traceId = id.replaceAll('-', '').toLowerCase()
  return { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
}

/** Returns the dead-letter topic of a topic: the topic's name, then `.dead`. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dead`
}
