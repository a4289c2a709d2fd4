import { hiddenErrors, invalid } from '@orderflow/service-kit'
import {
  type Attempt,
  checkResend,
  currentAttempt,
  type Entry,
  followNotes,
  type Place,
  parsePlace,
  placeText,
  type ReadUpTo,
  readEvent,
} from '@orderflow/service-kit/log'
import { editedValue, maxEditable } from '../model/masked.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { notKept } from './events.ts'

/** What the index has of a dead letter. @throws {MonitorError} `not-kept` */
export async function entryOf({ index }: Monitor, id: string) {
  const { entries, readUpTo } = await index.ask('rawEntries', [id])
  if (entries[0]) return { ...entries[0], readUpTo }
  throw notKept(`dead letter ${id}`)
}

/**
 * A dead letter, provided that its newest attempt is still the one that the caller looked at. The notes in the log decide, since the
 * index may not have the newest ones yet.
 * @throws {MonitorError} `not-kept`; `other-attempt` with what to do
 */
export async function entryAt(monitor: Monitor, id: string, editedAttempt: Place): Promise<Entry> {
  const { entry, readUpTo } = await entryOf(monitor, id)
  const attempt = currentAttempt(entry)
  const [edited, newest] = [placeText(editedAttempt), placeText(attempt.place)]
  const next = 'Get the dead letter again, and edit its newest attempt.'
  if (edited !== newest) {
    const isEarlier = entry.attempts.some(({ place: position }) => placeText(position) === edited)
    const what = isEarlier ? `You looked at the attempt at ${edited}.` : `It has no attempt at ${edited}.`
    throw new MonitorError('other-attempt', `${what} The newest attempt is at ${newest}. ${next}`)
  }
  const note = attempt.resent ?? (await noteOf(monitor, attempt, readUpTo))
  if (!note) return entry
  const what = `The attempt at ${edited} was already replayed as ${placeText(note.as)}.`
  throw new MonitorError('other-attempt', `${what} If it fails again: ${next}`)
}

/** A note that was added after the index read the dead-letter topic. */
async function noteOf({ log }: Monitor, attempt: Attempt, readUpTo: ReadUpTo) {
  return await log.read(async (reader) => {
    const notes = followNotes(reader, readUpTo)
    await notes.catchUp([attempt.origin.topic])
    return notes.noteOf(attempt)
  })
}

/** The bytes of the event that an entry is about, as the log or its dead letter has them; undefined when neither does. */
export async function bytesOf({ log }: Monitor, entry: Entry): Promise<Uint8Array | undefined> {
  return (await log.read((reader) => readEvent(reader, currentAttempt(entry))))?.value
}

/** As `bytesOf`. @throws {MonitorError} `not-in-log` */
export async function originalOf(monitor: Monitor, entry: Entry): Promise<Uint8Array> {
  const original = await bytesOf(monitor, entry)
  if (!original) throw lost()
  return original
}

export const lost = () => new MonitorError('not-in-log', 'Neither the dead letter nor the log has the event any more.')

/**
 * Why these bytes would end as a dead letter again, replayed to a topic by whoever asks, who answers for them; nothing when they would not.
 * @param reason of the dead letter, where the bytes are those that it is about
 */
export function refusalsOf({ trust }: Monitor, topic: string, value: Uint8Array, reason: string | undefined): string[] {
  const checked = checkResend({ topic, value, reason, signature: undefined, isVouchedFor: true }, trust)
  return 'why' in checked ? checked.why : []
}

/** The text that somebody made of an event, from a request's body; undefined where there is none. */
export function editedIn(edited: unknown): string | undefined {
  if (edited === undefined) return undefined
  const { text } = Object(edited) as { text?: unknown }
  if (typeof text === 'string' && text.length <= maxEditable) return text
  throw invalid([{ pointer: '/edited/text', detail: `is a JSON text of at most ${maxEditable / 1024} KiB` }])
}

/** The attempt that somebody looked at, from a request's body; undefined where there is none. */
export function attemptIn(attempt: unknown): Place | undefined {
  if (attempt === undefined) return undefined
  const { topic, partition, offset } = Object(attempt) as Partial<Place>
  const position = parsePlace(`${topic}/${partition}/${offset}`)
  if (position) return position
  throw invalid([{ pointer: '/attempt', detail: 'is a record position: a topic, a partition and an offset' }])
}

/** How both are described. */
export const editedSchema = {
  type: 'object',
  description: 'The event as JSON text. A placeholder such as `***{/Payload/Field}***` stands for the masked value.',
  properties: { text: { type: 'string' } },
}
export const attemptSchema = {
  type: 'object',
  description:
    'The `attempt` of the dead letter that you looked at. 409 if a newer one failed since, or it was replayed.',
  properties: { topic: { type: 'string' }, partition: { type: 'integer' }, offset: { type: 'string' } },
}

/** The bytes of that text, with the original's values where it names them. */
export function corrected(edited: string, original: Uint8Array): Buffer {
  const pointer = '/edited/text'
  let value: Buffer
  try {
    value = editedValue(edited, original)
  } catch {
    throw invalid([{ pointer, detail: 'is not JSON: check quotes, commas and brackets' }])
  }
  const errors = hiddenErrors(Buffer.from(edited))
  if (errors.length === 0) return value
  throw invalid(errors.map((error) => ({ pointer, detail: `${error.pointer || 'the event'} ${error.detail}` })))
}
