import { deadLetterTopic } from '@orderflow/envelope-schema'
import { findErrorBy, type Producer } from '@platformatic/kafka'
import { placeText } from '../../stream/place.ts'
import { noteHeaders } from '../../stream/record-headers.ts'
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
 */
export async function publishMended(
  producer: Client,
  { origin: { topic, partition }, of, edited, key, value, headers, publishedAs }: Mended,
): Promise<Published> {
  const record = { topic, partition, ...(key && { key }), value, headers: new Map(headers) }
  const sent = publishedAs ?? (await send(producer, record).catch((error: Error) => refusalIn(error, topic)))
  if (typeof sent !== 'string') return sent
  const note = { [noteHeaders.of]: of, [noteHeaders.as]: sent, ...(edited && { [noteHeaders.edited]: 'true' }) }
  const noteBytes = Object.entries(note).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const)
  await send(producer, { topic: deadLetterTopic(topic), value: Buffer.alloc(0), headers: new Map(noteBytes) })
  return { result: 'resent', as: sent }
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
async function send(producer: Client, message: Outgoing): Promise<string> {
  const { offsets } = await producer.send({ messages: [message], acks: -1 })
  const [place] = offsets ?? []
  if (!place) throw new Error(`the client does not say where the record for ${message.topic} stands`)
  return placeText({ ...place, offset: String(place.offset) })
}
