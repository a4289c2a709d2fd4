import { parsePosition, positionText, type RecordPosition } from '@orderflow/kafka-log'
import { hiddenErrors, invalid } from '@orderflow/service-kit'
import {
  type Attempt,
  checkReplay,
  currentAttempt,
  type Entry,
  type FailedEvent,
  followNotes,
  type ReadUpTo,
  readEvent,
} from '@orderflow/service-kit/log'
import { editedValue, MisplacedPlaceholder, maxEditable } from '../model/masked.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { notKept } from './events.ts'

/** @throws {MonitorError} `not-kept` */
export async function entryOf({ index }: Monitor, id: string) {
  const { entries, readUpTo } = await index.ask('rawEntries', [id])
  if (entries[0]) return { ...entries[0], readUpTo }
  throw notKept(`dead letter ${id}`)
}

/**
 * Returns the entry if the edited attempt is still its newest attempt, and no note in the log reports a replay of it.
 * @throws {MonitorError} `not-kept`, or `other-attempt` with the next step
 */
export async function entryAt(monitor: Monitor, id: string, editedAttempt: RecordPosition): Promise<Entry> {
  const { entry, readUpTo } = await entryOf(monitor, id)
  const attempt = currentAttempt(entry)
  const [edited, newest] = [positionText(editedAttempt), positionText(attempt.position)]
  const next = 'Get the dead letter again, and edit its newest attempt.'
  if (edited !== newest) {
    const isEarlier = entry.attempts.some(({ position }) => positionText(position) === edited)
    const what = isEarlier ? `You edited the attempt at ${edited}.` : `The dead letter has no attempt at ${edited}.`
    throw new MonitorError('other-attempt', `${what} The newest attempt is at ${newest}. ${next}`)
  }
  const note = attempt.replayed ?? (await noteOf(monitor, attempt, readUpTo))
  if (!note) return entry
  const what = `The attempt at ${edited} was already replayed as ${positionText(note.as)}.`
  throw new MonitorError('other-attempt', `${what} If the replay fails: ${next}`)
}

/** Returns the note about a replay of the attempt, even if the index does not contain the note yet. */
async function noteOf({ log }: Monitor, attempt: Attempt, readUpTo: ReadUpTo) {
  return await log.read(async (reader) => {
    const notes = followNotes(reader, readUpTo)
    await notes.catchUp([attempt.origin.topic])
    return notes.noteOf(attempt)
  })
}

type Original = Pick<FailedEvent, 'key'> & { value: Buffer }

/** Returns the event's bytes and key from the dead letter or the log; undefined if they are lost. */
export async function contentOf({ log }: Monitor, entry: Entry): Promise<Original | undefined> {
  const { value, key } = (await log.read((reader) => readEvent(reader, currentAttempt(entry)))) ?? {}
  return value && { value, key }
}

/** @throws {MonitorError} `not-in-log` */
export async function originalOf(monitor: Monitor, entry: Entry): Promise<Original> {
  const original = await contentOf(monitor, entry)
  if (!original) throw lost()
  return original
}

export const lost = () =>
  new MonitorError(
    'not-in-log',
    'The event is no longer in the dead letter or in the log. Ask its publisher to send it again.',
  )

/**
 * Returns the reasons why a replay of these bytes would be rejected.
 * @param reason the reason of the dead letter; undefined for an edited event
 */
export function refusalsOf({ trust }: Monitor, topic: string, value: Uint8Array, reason: string | undefined): string[] {
  const checked = checkReplay({ topic, value, reason, signature: undefined, isVouchedFor: true }, trust)
  return 'why' in checked ? checked.why : []
}

export function editedIn(edited: unknown): string | undefined {
  if (edited === undefined) return undefined
  const { text } = Object(edited) as { text?: unknown }
  if (typeof text === 'string' && text.length <= maxEditable) return text
  throw invalid([{ pointer: '/edited/text', detail: `must be a JSON text of at most ${maxEditable / 1024} KiB` }])
}

export function attemptIn(attempt: unknown): RecordPosition | undefined {
  if (attempt === undefined) return undefined
  const position = positionIn(attempt)
  if (position) return position
  throw invalid([{ pointer: '/attempt', detail: 'must be a record position: a topic, a partition and an offset' }])
}

export function positionIn(value: unknown): RecordPosition | undefined {
  const { topic, partition, offset } = Object(value) as Partial<RecordPosition>
  const isPosition = typeof topic === 'string' && typeof partition === 'number' && typeof offset === 'string'
  return isPosition ? parsePosition(positionText({ topic, partition, offset })) : undefined
}

export const editedSchema = {
  type: 'object',
  description:
    'The event as JSON text. The original values replace placeholders such as `***{/Payload/Field}***`, which are valid once, in their own field.',
  properties: { text: { type: 'string' } },
}
export const attemptSchema = {
  type: 'object',
  description:
    'The `attempt` of the dead letter that you edited. Returns 409 if this attempt was replayed, or if a newer attempt has failed.',
  properties: { topic: { type: 'string' }, partition: { type: 'integer' }, offset: { type: 'string' } },
}

export function corrected(edited: string, original: Uint8Array): Buffer {
  const pointer = '/edited/text'
  let value: Buffer
  try {
    value = editedValue(edited, original)
  } catch (error) {
    if (error instanceof MisplacedPlaceholder) throw invalid([{ pointer, detail: error.message }])
    throw invalid([{ pointer, detail: 'must be JSON: check quotes, commas and brackets' }])
  }
  const errors = hiddenErrors(Buffer.from(edited))
  if (errors.length === 0) return value
  throw invalid(errors.map((error) => ({ pointer, detail: `${error.pointer || 'the event'} ${error.detail}` })))
}
