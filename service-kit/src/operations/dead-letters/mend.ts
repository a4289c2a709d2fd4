import { type Place, placeText } from '../../stream/place.ts'
import { resentFrom } from '../../stream/record-headers.ts'
import type { LogReader } from '../log-reader.ts'
import type { LogRecord } from '../log-record.ts'
import { refusalOf } from './check.ts'
import type { Attempt } from './entries.ts'
import { lost, readEvent } from './event.ts'

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

/** Makes the record that resends an attempt, with the key and headers that it had, or says why it must not. */
export async function mend(
  log: LogReader,
  attempt: Attempt,
  edited: Uint8Array | undefined,
): Promise<Mended | { why: string[] }> {
  const { place, origin, reason, stands } = attempt
  // It goes back to its origin's partition, so that is the one that must be there: a client may well take 99 for 0.
  if (!(await log.has(origin))) return { why: [`there is no partition ${origin.partition} of ${origin.topic}`] }
  const event = await readEvent(log, attempt)
  if (!event) return { why: [`the dead letter is not at ${placeText(stands)} any more`] }
  const value = edited ?? event.value
  if (!value) return { why: [lost] }
  const why = refusalOf(value, edited ? undefined : reason)
  if (why.length > 0) return { why }
  const mark: LogRecord['headers'][number] = [Buffer.from(resentFrom), Buffer.from(placeText(origin))]
  return {
    origin,
    of: placeText(place),
    edited: edited !== undefined,
    key: event.key,
    value: Buffer.from(value),
    headers: [...event.headers.filter(([name]) => name.toString() !== resentFrom), mark],
  }
}
