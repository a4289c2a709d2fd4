import { type Place, placeText } from '../../stream/place.ts'
import { resentFrom } from '../../stream/record-headers.ts'
import { signatureHeader } from '../../trust/signature.ts'
import type { Trust } from '../../trust/trust.ts'
import type { LogReader } from '../log-reader.ts'
import { headerOf, type LogRecord } from '../log-record.ts'
import { checkResend } from './check.ts'
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
  /** Position of its record, as text, if an interrupted replay published it and only its note is missing. */
  publishedAs?: string
}

/**
 * Makes the record that resends an attempt, with the key and headers that it had, or says why it must not. An event of ours is signed
 * anew when it was edited, or is older than the time since when services sign.
 */
export async function mend(
  log: LogReader,
  attempt: Attempt,
  edited: Uint8Array | undefined,
  trust: Trust,
): Promise<Mended | { why: string[] }> {
  const { place, origin, reason, stands } = attempt
  // It goes back to its origin's partition, so that is the one that must be there: a client may well take 99 for 0.
  if (!(await log.has(origin))) return { why: [`there is no partition ${origin.partition} of ${origin.topic}`] }
  const event = await readEvent(log, attempt)
  if (!event) return { why: [`the dead letter is not at ${placeText(stands)} any more`] }
  const value = edited ?? event.value
  if (!value) return { why: [lost] }
  const signature = headerOf(event, signatureHeader)
  const isVouchedFor = edited !== undefined || (signature === undefined && !trust.asksForSignature(event.arrivedAt))
  const checked = checkResend(
    { topic: origin.topic, value, reason: edited ? undefined : reason, signature, isVouchedFor },
    trust,
  )
  if ('why' in checked) return checked
  const replaced = isVouchedFor ? [resentFrom, signatureHeader] : [resentFrom]
  const headers = event.headers.filter(([name]) => !replaced.includes(name.toString()))
  headers.push(header(resentFrom, placeText(origin)))
  if (isVouchedFor && checked.signature) headers.push(header(signatureHeader, checked.signature))
  return {
    origin,
    of: placeText(place),
    edited: edited !== undefined,
    key: event.key,
    value: Buffer.from(value),
    headers,
  }
}

const header = (name: string, text: string): LogRecord['headers'][number] => [Buffer.from(name), Buffer.from(text)]
