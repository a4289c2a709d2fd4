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
 * Returns the partition key of an event: the values of its key fields, joined by a slash. Returns undefined if a field is missing; Kafka
 * may then use any partition.
 * @param fields default: the key fields that services.json declares for the event's topic
 */
export function keyOf(document: unknown, fields: string | readonly string[] = keyFields(document)): string | undefined {
  const payload = Object((document as { Payload?: unknown } | null)?.Payload) as Record<string, unknown>
  const names = typeof fields === 'string' ? [fields] : fields
  const values = names.map((field) => (Object.hasOwn(payload, field) ? payload[field] : undefined))
  const isWhole = values.every((value) => typeof value === 'string' || typeof value === 'number')
  return isWhole && values.length > 0 ? values.join('/') : undefined
}

/** Returns the key fields of `topic`. If services.json does not declare `topic`, returns those of the event's own topic. */
export function keyFields(document: unknown, topic?: string): readonly string[] {
  const declared = declaredTopics()
  const name = topic !== undefined && Object.hasOwn(declared, topic) ? topic : topicOf(document)
  return name === undefined ? [] : (declared[name]?.key ?? [])
}

/** Returns the topic of an event if it differs from `topic`. Returns undefined if both are equal, or if the contract lacks the event or `topic`. */
export function otherTopicOf(document: unknown, topic: string): string | undefined {
  const own = topicOf(document)
  return own !== topic && Object.hasOwn(declaredTopics(), topic) ? own : undefined
}

function topicOf(document: unknown): string | undefined {
  return topicOfEvent(String((document as { Name?: unknown } | null)?.Name))
}

/** Returns the topic of an event; undefined if the contract lacks it. */
export function topicOfEvent(name: string): string | undefined {
  const topics = declaredTopics()
  // An event needs its topic several times, so this search creates no lists.
  for (const topic in topics) if (topics[topic]?.events.includes(name)) return topic
  return undefined
}

/** Returns true if other applications may publish the event, too. */
export function isFromOutside(name: string): boolean {
  return Object.values(declaredTopics()).some(({ outside }) => outside.includes(name))
}

interface Topic {
  /** Fields of the Payload whose values form the partition key. */
  key: readonly string[]
  events: readonly string[]
  /** The events that other applications may publish. */
  outside: readonly string[]
}

/** The content of topics.json, which is read at the first use, because `make generate` writes the file. */
let topics: Record<string, Topic> | undefined

function declaredTopics(): Record<string, Topic> {
  topics ??= JSON.parse(readFileSync(new URL('topics.json', contractFolder), 'utf8')) as Record<string, Topic>
  return topics
}

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
