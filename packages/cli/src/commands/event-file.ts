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
 * Makes the record of an event file: a bare envelope, or the document of a fixture (envelope-schema/fixtures).
 * The key is `key`, else the payload's OrderId. What is not JSON is sent as it is, to orderevents.
 */
export function readEventFile(file: string, key: string | undefined): EventRecord {
  const bytes = readBytes(file)
  const value = fixtureIn(parseObject(bytes)) ?? bytes
  const envelope = parseObject(value)
  return envelope
    ? { topic: topicOf(envelope.Name), key: key ?? keyOf(envelope), value }
    : { topic: orderEvents, key, value }
}

/** As envelope-schema/fixtures/README.md says; undefined of a file that is none. */
function fixtureIn(content: Json = {}): Buffer | undefined {
  const { Name, inputBase64, inputText, input, envelope } = content
  if (Name !== undefined) return undefined
  if (typeof inputBase64 === 'string') return Buffer.from(inputBase64, 'base64')
  if (typeof inputText === 'string') return Buffer.from(inputText)
  const document = input ?? envelope
  return isObject(document) ? Buffer.from(JSON.stringify(document)) : undefined
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
