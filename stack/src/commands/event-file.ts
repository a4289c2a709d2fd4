import { readFileSync } from 'node:fs'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { keyOf } from '@orderflow/envelope-schema/kafka'
import { StackError } from '../lib/error.ts'

export interface EventRecord {
  topic: string
  key: string | undefined
  value: Buffer
}

type Json = Record<string, unknown>

/**
 * Makes the record of an event file: a bare envelope, or a fixture of envelope-schema ({description, variant, envelope}).
 * The key is `key`, else the payload's OrderId. A file that is not JSON is sent as it is, to orderevents.
 */
export function readEventFile(file: string, key: string | undefined): EventRecord {
  const bytes = readBytes(file)
  const content = parseObject(bytes)
  if (!content) return { topic: orderEvents, key, value: bytes }
  const isFixture = isObject(content.envelope) && !('Name' in content)
  const envelope = isFixture ? (content.envelope as Json) : content
  return {
    topic: topicOf(envelope.Name),
    key: key ?? keyOf(envelope),
    value: isFixture ? Buffer.from(JSON.stringify(envelope)) : bytes,
  }
}

/** Payment events have a topic of their own; all else goes where outside publishers publish. */
function topicOf(name: unknown): string {
  return typeof name === 'string' && name.startsWith('Payment') ? paymentEvents : orderEvents
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new StackError('usage', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

function parseObject(bytes: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
