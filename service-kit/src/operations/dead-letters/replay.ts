import { deadLetterTopic } from '@orderflow/envelope-schema'
import { findErrorBy, Producer } from '@platformatic/kafka'
import { replayedFrom } from '../../delivery.ts'
import { type Place, parsePlace, placeText } from '../../place.ts'
import { type KafkaConnection, kafkaError } from '../kafka-connection.ts'
import { type LogReader, openLog } from '../log-reader.ts'
import { headerOf, type LogRecord } from '../log-record.ts'
import { refusalOf } from './check.ts'
import { type Attempt, type Entry, openAttempt } from './entries.ts'
import { noteHeaders } from './letter.ts'

/**
 * - `replayed`: published as the record at `as`; `ready`: would be, were this no dry run;
 * - `refused`: would end as a dead letter again, by `why`;
 * - `done`: was replayed before and has not failed since.
 */
export type Outcome = { entry: Entry } & (
  | { result: 'replayed'; as: string }
  | { result: 'ready' }
  | { result: 'refused'; why: string[] }
  | { result: 'done'; as: string }
)

export interface ReplayLettersOptions {
  /** Checks all and publishes nothing. */
  dryRun?: boolean
  /** What to publish in place of the event's own bytes; for a single entry. */
  edited?: Uint8Array | undefined
}

type Header = [name: Buffer, value: Buffer]
type Settled = { result: 'replayed'; as: string } | { result: 'ready' } | { result: 'refused'; why: string[] }

/** Kafka answers one publish after the other otherwise, a few milliseconds each. */
const atOnce = 50

/**
 * Publishes dead letters back to where they came from, after checking that they would not come back: the event's own
 * bytes (or the edited ones), key and headers, marked with `replayed-from`. A note beside the dead letter says so. The
 * order is publish, then note: who dies in between replays twice, and a duplicate has no effect.
 *
 * An event that failed in two apps is published once; both get it.
 */
export async function* replayDeadLetters(
  kafka: KafkaConnection,
  entries: Entry[],
  { dryRun = false, edited }: ReplayLettersOptions = {},
): AsyncGenerator<Outcome> {
  const log = openLog(kafka)
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'orderflow-operations', ...kafka })
  const settled = new Map<string, Settled>()
  try {
    for (let at = 0; at < entries.length; at += atOnce) {
      const chunk = entries.slice(at, at + atOnce)
      const due = new Map<string, { entry: Entry; attempt: Attempt }>()
      for (const entry of chunk) {
        const attempt = openAttempt(entry)
        if (attempt && !settled.has(attempt.place)) due.set(attempt.place, { entry, attempt })
      }
      const prepared: Prepared[] = []
      for (const { entry, attempt } of due.values()) {
        const checked = await prepare(log, entry, attempt, edited)
        if ('why' in checked) settled.set(attempt.place, { result: 'refused', why: checked.why })
        else if (dryRun) settled.set(attempt.place, { result: 'ready' })
        else prepared.push(checked)
      }
      for (const [place, result] of await publish(producer, kafka, prepared)) settled.set(place, result)
      for (const entry of chunk) yield { entry, ...outcomeOf(entry, settled) }
    }
  } finally {
    await Promise.all([log.close(), producer.close()])
  }
}

function outcomeOf(entry: Entry, settled: Map<string, Settled>): Settled | { result: 'done'; as: string } {
  const attempt = openAttempt(entry)
  const result = attempt && settled.get(attempt.place)
  return result ?? { result: 'done', as: entry.attempts.at(-1)?.replayed?.as ?? '' }
}

/** A record ready to be published, and the place whose failure it answers. */
interface Prepared {
  origin: Place
  of: string
  edited: boolean
  key: Buffer | undefined
  value: Buffer
  headers: Header[]
}

/** What stands at the place itself has key and headers as they were; the dead letter is enough if the log let go of it. */
async function prepare(
  log: LogReader,
  { origin }: Entry,
  { place, reason, stands }: Attempt,
  edited: Uint8Array | undefined,
): Promise<Prepared | { why: string[] }> {
  const letter = await log.at(stands)
  if (!letter) return { why: [`the dead letter is not at ${placeText(stands)} any more`] }
  const why = refusalOf(edited ?? letter.value, edited ? undefined : reason)
  if (why.length > 0) return { why }
  const failed = await log.at(parsePlace(place) ?? origin)
  const kept = failed?.value.equals(letter.value) ? failed : { key: keyOf(letter), headers: ownHeaders(letter) }
  const mark: Header = [Buffer.from(replayedFrom), Buffer.from(placeText(origin))]
  return {
    origin,
    of: place,
    edited: edited !== undefined,
    key: kept.key,
    value: Buffer.from(edited ?? letter.value),
    headers: [...kept.headers.filter(([name]) => name.toString() !== replayedFrom), mark],
  }
}

/** A binary key came URL-escaped, as the sidecar delivers it (Go's url.QueryEscape). */
function keyOf(letter: LogRecord): Buffer | undefined {
  const escaped = headerOf(letter, 'deadletter-key')
  if (escaped === undefined) return letter.key
  const bytes = escaped
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}

function ownHeaders(letter: LogRecord): Header[] {
  return letter.headers.filter(([name]) => name.toString() === 'traceparent')
}

type Client = Producer<Buffer, Buffer, Buffer, Buffer>

/** Publishes all and notes each that arrived, also when another one fails. */
async function publish(producer: Client, kafka: KafkaConnection, all: Prepared[]): Promise<Map<string, Settled>> {
  const results = await Promise.allSettled(all.map((prepared) => publishOne(producer, prepared)))
  const settled = new Map<string, Settled>()
  for (const [index, { of }] of all.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') settled.set(of, result.value)
  }
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw kafkaError('not all could be replayed', kafka, failure.reason)
  return settled
}

async function publishOne(producer: Client, { origin, of, edited, key, value, headers }: Prepared): Promise<Settled> {
  const { topic, partition } = origin
  try {
    const as = await send(producer, { topic, partition, ...(key && { key }), value, headers: new Map(headers) })
    const note = Object.entries({
      [noteHeaders.of]: of,
      [noteHeaders.as]: as,
      ...(edited && { [noteHeaders.edited]: 'true' }),
    })
    const noteFields = new Map(note.map(([name, text]) => [Buffer.from(name), Buffer.from(text)]))
    await send(producer, { topic: deadLetterTopic(topic), value: Buffer.alloc(0), headers: noteFields })
    return { result: 'replayed', as }
  } catch (error) {
    if (!findErrorBy(error as Error, 'apiId', 'MESSAGE_TOO_LARGE')) throw error
    return { result: 'refused', why: [`it is too large for ${topic}, which its mark made it`] }
  }
}

type Outgoing = Parameters<Client['send']>[0]['messages'][number]

/** Publishes to all replicas and answers where the record stands. */
async function send(producer: Client, message: Outgoing): Promise<string> {
  const { offsets } = await producer.send({ messages: [message], acks: -1 })
  const { topic, partition, offset } = offsets?.[0] ?? { topic: message.topic, partition: 0, offset: 0n }
  return placeText({ topic, partition, offset: String(offset) })
}
