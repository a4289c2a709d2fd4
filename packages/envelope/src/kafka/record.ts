import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { contractFolder } from '../schemas/contract-folder.ts'

export interface OutgoingRecord {
  topic: string
  key: string | undefined
  value: Uint8Array
  headers?: Record<string, string>
}

/**
 * Returns the partition key of an event: the values of its key fields, joined by a slash. Returns undefined if it lacks one of the fields;
 * Kafka may then use any partition.
 * @param fields default: the key fields that services.json declares for the event's topic
 */
export function keyOf(document: unknown, fields: string | readonly string[] = keyFields(document)): string | undefined {
  const payload = Object((document as { Payload?: unknown } | null)?.Payload) as Record<string, unknown>
  const values = [fields].flat().map((field) => (Object.hasOwn(payload, field) ? payload[field] : undefined))
  const isWhole = values.every((value) => typeof value === 'string' || typeof value === 'number')
  return isWhole && values.length > 0 ? values.join('/') : undefined
}

/** Returns the key fields of a topic. If services.json does not declare it, the event's Name determines the topic. */
export function keyFields(document: unknown, topic?: string): readonly string[] {
  topics ??= JSON.parse(readFileSync(new URL('topics.json', contractFolder), 'utf8')) as Record<string, Topic>
  const declared = topic !== undefined && Object.hasOwn(topics, topic) ? topics[topic] : undefined
  const name = (document as { Name?: unknown } | null)?.Name
  const own = Object.values(topics).find(({ events }) => events.includes(String(name)))
  return (declared ?? own)?.key ?? []
}

interface Topic {
  /** Fields of the Payload whose values form the partition key. */
  key: readonly string[]
  events: readonly string[]
}

/** Read when first needed, because `make generate` writes the file. */
let topics: Record<string, Topic> | undefined

/** Returns the W3C trace headers of a full envelope, or an empty object if the TraceId is missing. */
export function traceHeaders(document: unknown): Record<string, string> {
  const id = (document as { TraceId?: unknown } | null)?.TraceId
  if (typeof id !== 'string') return {}
  const traceId = id.replaceAll('-', '').toLowerCase()
  return { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
}

export function deadLetterTopic(topic: string): string {
  return `${topic}.dead`
}
