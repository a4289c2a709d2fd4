import { deadLetterTopic } from '@orderflow/envelope-schema'
import { findErrorBy, type Producer } from '@platformatic/kafka'
import { type Place, parsePlace, placeText } from '../../stream/place.ts'
import { letterHeaders, noteHeaders, resentFrom } from '../../stream/record-headers.ts'
import type { LogReader } from '../log-reader.ts'
import { headerOf, type LogRecord } from '../log-record.ts'
import { refusalOf } from './check.ts'
import type { Attempt, Entry } from './entries.ts'

/** A record that is fit to be published. */
export interface Mended {
  /** Where its event first stood; it goes back to that topic and partition. */
  origin: Place
  /** The place whose failure it answers, as text. */
  of: string
  edited: boolean
  key: Buffer | undefined
  value: Buffer
  headers: LogRecord['headers']
}

/**
 * Makes the record that resends an attempt, or says why it must not. What stands at the place itself has its key and
 * headers as they were; the dead letter is enough when the log let go of it.
 */
export async function mend(
  log: LogReader,
  { origin }: Entry,
  { place, reason, stands }: Attempt,
  edited: Uint8Array | undefined,
): Promise<Mended | { why: string[] }> {
  const letter = await log.at(stands)
  if (!letter) return { why: [`the dead letter is not at ${placeText(stands)} any more`] }
  const why = refusalOf(edited ?? letter.value, edited ? undefined : reason)
  if (why.length > 0) return { why }
  const failing = parsePlace(place) ?? origin
  if (!(await log.has(failing))) return { why: [`there is no partition ${failing.partition} of ${failing.topic}`] }
  const failed = await log.at(failing)
  // Another record may stand there by now, when the topic was made anew.
  const { key, headers } = failed?.value.equals(letter.value) ? failed : remainsOf(letter)
  return {
    origin,
    of: place,
    edited: edited !== undefined,
    key,
    value: Buffer.from(edited ?? letter.value),
    headers: [...headers.filter(([name]) => name.toString() !== resentFrom), header(resentFrom, placeText(origin))],
  }
}

/** What a dead letter has of the record's key and headers. A binary key came URL-escaped (Go's url.QueryEscape). */
function remainsOf(letter: LogRecord): Pick<LogRecord, 'key' | 'headers'> {
  const headers = letter.headers.filter(([name]) => name.toString() === 'traceparent')
  const escaped = headerOf(letter, letterHeaders.key)
  if (escaped === undefined) return { key: letter.key, headers }
  const character = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  const key = escaped.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, character)
  return { key: Buffer.from(key, 'latin1'), headers }
}

type Client = Producer<Buffer, Buffer, Buffer, Buffer>
type Outgoing = Parameters<Client['send']>[0]['messages'][number]

/** Publishes a record and, on the dead-letter topic, the note that answers the failure. Throws what the client throws. */
export async function publishMended(
  producer: Client,
  { origin: { topic, partition }, of, edited, key, value, headers }: Mended,
): Promise<{ result: 'resent'; as: string } | { result: 'refused'; why: string[] }> {
  try {
    const as = await send(producer, { topic, partition, ...(key && { key }), value, headers: new Map(headers) })
    const note = [header(noteHeaders.of, of), header(noteHeaders.as, as)]
    if (edited) note.push(header(noteHeaders.edited, 'true'))
    await send(producer, { topic: deadLetterTopic(topic), value: Buffer.alloc(0), headers: new Map(note) })
    return { result: 'resent', as }
  } catch (error) {
    if (!findErrorBy(error as Error, 'apiId', 'MESSAGE_TOO_LARGE')) throw error
    return { result: 'refused', why: [`with its mark it is too large for ${topic}`] }
  }
}

/** Publishes to all replicas in sync and answers where the record stands. */
async function send(producer: Client, message: Outgoing): Promise<string> {
  const { offsets } = await producer.send({ messages: [message], acks: -1 })
  const { topic, partition, offset } = offsets?.[0] ?? { topic: message.topic, partition: 0, offset: 0n }
  return placeText({ topic, partition, offset: String(offset) })
}

function header(name: string, text: string): [Buffer, Buffer] {
  return [Buffer.from(name), Buffer.from(text)]
}
