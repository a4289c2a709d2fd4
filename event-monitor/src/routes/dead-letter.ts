import { checkResend, type Entry, newestAttempt, openAttempt, readEvent } from '@orderflow/service-kit/log'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { notKept } from './events.ts'

/** What the index has of a dead letter. @throws {MonitorError} `not-kept` */
export async function entryOf({ index }: Monitor, id: string) {
  const [found] = await index.ask('rawEntries', [id])
  if (found) return found
  throw notKept(`dead letter ${id}`)
}

/** The attempt that is open; of an entry that was resent, the last one. */
export const attemptOf = (entry: Entry) => openAttempt(entry) ?? newestAttempt(entry)

/** The bytes of the event that an entry is about, as the log or its dead letter has them; undefined when neither does. */
export async function bytesOf({ log }: Monitor, entry: Entry): Promise<Uint8Array | undefined> {
  return (await log.read((reader) => readEvent(reader, attemptOf(entry))))?.value
}

/** As `bytesOf`. @throws {MonitorError} `not-in-log` */
export async function originalOf(monitor: Monitor, entry: Entry): Promise<Uint8Array> {
  const original = await bytesOf(monitor, entry)
  if (!original) throw lost()
  return original
}

export const lost = () => new MonitorError('not-in-log', 'Neither the dead letter nor the log has the event any more.')

/**
 * Why these bytes would end as a dead letter again, resent to a topic by whoever asks, who answers for them; nothing when they would not.
 * @param reason of the dead letter, where the bytes are those that it is about
 */
export function refusalsOf({ trust }: Monitor, topic: string, value: Uint8Array, reason: string | undefined): string[] {
  const checked = checkResend({ topic, value, reason, signature: undefined, isVouchedFor: true }, trust)
  return 'why' in checked ? checked.why : []
}
