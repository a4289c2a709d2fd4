import { readFileSync } from 'node:fs'
import { keyOf } from '@orderflow/envelope/kafka'
import { StackError } from '../lib/error.ts'
import { topicFor } from '../lib/services.ts'

export interface EventRecord {
  topic: string
  key: string | undefined
  value: Buffer
}

type Json = Record<string, unknown>

/**
 * Makes the record of an event file: a bare envelope, or the document of a fixture (envelope-schema/fixtures).
 * The key is `key`, else the fields of the payload that the topic is keyed by. What is not JSON is sent as it is, to the
 * first topic that applications outside may write.
 */
export function readEventFile(file: string, key: string | undefined): EventRecord {
  const bytes = readBytes(file)
  const value = fixtureIn(parseObject(bytes)) ?? bytes
  const envelope = parseObject(value)
  const topic = topicFor(envelope?.Name)
  if (!topic)
    throw new StackError(
      'usage',
      `no service publishes ${envelope?.Name ?? 'it'}, and no topic is open to applications outside`,
      {
        nextStep: 'set "outside": true for a topic in services.json, then make generate',
      },
    )
  return { topic: topic.name, key: key ?? (envelope && keyOf(envelope, topic.key)), value }
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
