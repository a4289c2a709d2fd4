import { type Place, placeText } from '../../stream/place.ts'
import { letterHeaders, resentFrom } from '../../stream/record-headers.ts'
import type { LogReader } from '../log-reader.ts'
import { headerOf, type LogRecord } from '../log-record.ts'
import { refusalOf } from './check.ts'
import type { Attempt } from './entries.ts'

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
  { place, origin, reason, stands }: Attempt,
  edited: Uint8Array | undefined,
): Promise<Mended | { why: string[] }> {
  // It goes back to its origin's partition, so that is the one that must be there: a client may well take 99 for 0.
  if (!(await log.has(origin))) return { why: [`there is no partition ${origin.partition} of ${origin.topic}`] }
  const letter = await log.at(stands)
  if (!letter) return { why: [`the dead letter is not at ${placeText(stands)} any more`] }
  const why = refusalOf(edited ?? letter.value, edited ? undefined : reason)
  if (why.length > 0) return { why }
  const failed = await log.at(place)
  // Another record may stand there by now, when the topic was made anew.
  const { key, headers } = failed?.value.equals(letter.value) ? failed : remainsOf(letter)
  const mark: LogRecord['headers'][number] = [Buffer.from(resentFrom), Buffer.from(placeText(origin))]
  return {
    origin,
    of: placeText(place),
    edited: edited !== undefined,
    key,
    value: Buffer.from(edited ?? letter.value),
    headers: [...headers.filter(([name]) => name.toString() !== resentFrom), mark],
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
