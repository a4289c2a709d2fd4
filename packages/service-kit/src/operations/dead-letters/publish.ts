import { deadLetterTopic } from '@orderflow/envelope-schema'
import { findErrorBy, type Producer } from '@platformatic/kafka'
import { noteHeaders, type Place, parsePlace, placeText, recordIdOf } from '../../stream/record.ts'
import type { LogReader } from '../log-reader.ts'
import type { Mended } from './mend.ts'

/** A client whose records are bytes as they are. */
export type Client = Producer<Buffer, Buffer, Buffer, Buffer>
type Outgoing = Parameters<Client['send']>[0]['messages'][number]

/** What came of one event: where it stands now, or why its topic does not take it. */
export type Published = { result: 'resent'; as: string } | { result: 'refused'; why: string[] }

/** Errors of the broker that are about this one record; any other one would meet the next record too. */
const refusals = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']

/**
 * Publishes a record, unless the log has it already, and, on the dead-letter topic, the note that answers the failure. Throws what the
 * client throws when it is not about this record.
 * @param log where the new record is read again, for its time and so its id
 */
export async function publishMended(
  producer: Client,
  { origin: { topic, partition }, of, record: ofRecord, edited, key, value, headers, publishedAs }: Mended,
  log: Pick<LogReader, 'at'>,
): Promise<Published> {
  const record = { topic, partition, ...(key && { key }), value, headers: new Map(headers) }
  const known = parsePlace(publishedAs)
  const sent = known ?? (await send(producer, record).catch((error: Error) => refusalIn(error, topic)))
  if (!('offset' in sent)) return sent
  const as = placeText(sent)
  const asRecord = await recordAt(log, sent)
  const note = {
    [noteHeaders.of]: of,
    [noteHeaders.as]: as,
    ...(ofRecord && { [noteHeaders.ofRecord]: ofRecord }),
    ...(asRecord && { [noteHeaders.asRecord]: asRecord }),
    ...(edited && { [noteHeaders.edited]: 'true' }),
  }
  const noteBytes = Object.entries(note).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const)
  await send(producer, { topic: deadLetterTopic(topic), value: Buffer.alloc(0), headers: new Map(noteBytes) })
  return { result: 'resent', as }
}

/** A record that cannot be read again is known by its place alone. It was published, so the note is written all the same. */
async function recordAt(log: Pick<LogReader, 'at'>, place: Place): Promise<string | undefined> {
  const record = await log.at(place).catch(() => undefined)
  return record && recordIdOf({ ...record, arrivedAt: record.timestamp })
}

function refusalIn(error: Error, topic: string): Published {
  const known = refusals.find((id) => findErrorBy(error, 'apiId', id))
  if (!known) throw error
  const why = known.endsWith('TOO_LARGE')
    ? `with its mark it is too large for ${topic}`
    : `${topic} refuses it: ${known}`
  return { result: 'refused', why: [why] }
}

/**
 * Publishes to all replicas in sync and answers where the record stands. The client leaves the offsets out only when it asked
 * the broker for none (acks: 0); a note of a place that nobody named would be worse than none.
 */
async function send(producer: Client, message: Outgoing): Promise<Place> {
  const { offsets } = await producer.send({ messages: [message], acks: -1 })
  const [place] = offsets ?? []
  if (!place) throw new Error(`the client does not say where the record for ${message.topic} stands`)
  return { ...place, offset: String(place.offset) }
}
