import { type Place, placeText, resentFrom, resentRecord } from '../../stream/record.ts'
import { signatureHeader } from '../../trust/signature.ts'
import type { Trust } from '../../trust/trust.ts'
import type { LogReader } from '../log-reader.ts'
import { headerOf, type LogRecord } from '../log-record.ts'
import { checkResend } from './check.ts'
import { type Attempt, recordOf } from './entries.ts'
import { lost, readEvent } from './event.ts'
import { withKnownIds } from './known-ids.ts'

/** A record that is fit to be published. */
export interface Mended {
  /** Where its event first stood; it goes back to that topic and partition. */
  origin: Place
  /** The place whose failure it answers, as text, and the id of the record there. */
  of: string
  record: string | undefined
  /** Names that record (`recordOf`). */
  failed: string
  edited: boolean
  key: Buffer | undefined
  value: Buffer
  headers: LogRecord['headers']
  /** Position of its record, as text, if an interrupted replay published it and only its note is missing. */
  publishedAs?: string
}

export interface MendOptions {
  /** What to publish in place of the event's own bytes. */
  edited: Uint8Array | undefined
  trust: Trust
  /** Id of the record that failed first (`Entry.record`). */
  first: string | undefined
  /** See `momentOf`. */
  positionIdsBefore: number | undefined
}

/**
 * Makes the record that resends an attempt, with the key and headers that it had, or says why it must not. An event of ours is signed
 * anew when it was edited, or is older than the time since when services sign.
 */
export async function mend(
  log: LogReader,
  attempt: Attempt,
  { edited, trust, first, positionIdsBefore }: MendOptions,
): Promise<Mended | { why: string[] }> {
  const { place, origin, record, reason, stands } = attempt
  // It goes back to its origin's partition, so that is the one that must be there: a client may well take 99 for 0.
  if (!(await log.has(origin))) return { why: [`there is no partition ${origin.partition} of ${origin.topic}`] }
  const event = await readEvent(log, attempt)
  if (!event) return { why: [`the dead letter is not at ${placeText(stands)} any more`] }
  const bytes = edited ?? event.value
  if (!bytes) return { why: [lost] }
  const value = withKnownIds(bytes, { event, origin, positionIdsBefore })
  const signature = headerOf(event, signatureHeader)
  const isVouchedFor = edited !== undefined || (signature === undefined && !trust.asksForSignature(event.appendedAt))
  const checked = checkResend(
    { topic: origin.topic, value, reason: edited ? undefined : reason, signature, isVouchedFor },
    trust,
  )
  if ('why' in checked) return checked
  const replaced = [resentFrom, resentRecord, ...(isVouchedFor ? [signatureHeader] : [])]
  const headers = event.headers.filter(([name]) => !replaced.includes(name.toString()))
  headers.push(header(resentFrom, placeText(origin)))
  if (first !== undefined) headers.push(header(resentRecord, first))
  if (isVouchedFor && checked.signature) headers.push(header(signatureHeader, checked.signature))
  return {
    origin,
    of: placeText(place),
    record,
    failed: recordOf(attempt),
    edited: edited !== undefined,
    key: event.key,
    value: Buffer.from(value),
    headers,
  }
}

const header = (name: string, text: string): LogRecord['headers'][number] => [Buffer.from(name), Buffer.from(text)]
