import { isUtf8 } from 'node:buffer'
import {
  completeEnvelope,
  describeProblem,
  type Envelope,
  type Problem,
  parseEnvelope,
  type ReceivedEnvelope,
} from '@orderflow/envelope-schema'
import { idSourceOf, type Place, placeText } from '../../stream/record.ts'
import { whileHandling } from '../../telemetry/handling.ts'
import { maskedText } from '../../telemetry/mask.ts'
import { table } from '../terminal.ts'
import { type DeadLetters, type Entry, newestAttempt, openAttempt } from './entries.ts'
import { type FailedEvent, lost } from './event.ts'
import { type Group, groupOf, groupsOf } from './groups.ts'
import type { Outcome } from './resend.ts'
import { shownValue } from './shown.ts'

const shortId = ({ id }: Entry) => id.slice(0, 8)
const stateOf = (entry: Entry) => (openAttempt(entry) ? 'open' : 'resent')

export function groupLines({ entries, others }: DeadLetters): string[] {
  const foreign = others > 0 ? [`${others} other records on the dead-letter topics are none of ours`] : []
  if (entries.length === 0) return ['no dead letters', ...foreign]
  return [
    ...table([['GROUP', 'ENTRIES', 'OPEN', 'OLDEST', 'NEWEST'], ...groupsOf(entries).map(groupRow)]),
    ...foreign,
    '',
    'next: make dead-letters LIST=... lists its entries',
    '      make dead-letters RESEND=all DRY_RUN=1 says what could be resent',
  ]
}

function groupRow({ name, entries }: Group): string[] {
  const times = entries.flatMap(({ attempts }) => attempts.map(({ time }) => time)).sort()
  const open = entries.filter(openAttempt).length
  return [name, String(entries.length), String(open), times[0] ?? '', times.at(-1) ?? '']
}

export function entryTable(entries: Entry[]): string[] {
  const rows = entries.map((entry) => {
    const { reason, time } = newestAttempt(entry)
    const origin = placeText(entry.origin)
    return [shortId(entry), stateOf(entry), String(entry.attempts.length), time, origin, reason, entry.app]
  })
  return [
    ...table([['ID', 'STATE', 'ATTEMPTS', 'NEWEST', 'ORIGIN', 'REASON', 'APP'], ...rows]),
    '',
    'next: make dead-letters SHOW=ID, make dead-letters RESEND=ID',
  ]
}

/**
 * All about one entry.
 * @param event what its newest dead letter tells of
 * @param values whether to show personal data too
 * @param positionIdsBefore see `momentOf`
 */
export function entryLines(
  entry: Entry,
  event: FailedEvent | undefined,
  values: boolean,
  positionIdsBefore?: number,
): string[] {
  const story = entry.attempts.flatMap(({ place, time, reason, resent }) => [
    `  ${time}  ${placeText(place)} failed: ${reason}`,
    ...(resent ? [`  ${resent.time}  resent${resent.edited ? ', edited,' : ''} as ${placeText(resent.as)}`] : []),
  ])
  return [
    `${entry.id}  ${stateOf(entry)}`,
    `${newestAttempt(entry).reason} in ${entry.app}, first at ${placeText(entry.origin)}`,
    ...story,
    ...claimLines(entry),
    '',
    ...(event
      ? eventLines(event, idsIn(event, newestAttempt(entry).origin, positionIdsBefore), values)
      : ['the dead letter is not in the log any more']),
  ]
}

/** A record that was resent without a note is that of a command that was killed, or of a publisher who pretends. */
function claimLines({ attempts: [first] }: Entry): string[] {
  if (!first || placeText(first.origin) === placeText(first.place)) return []
  return [`  it says that it was resent from ${placeText(first.origin)}, of which there is no note`]
}

function eventLines(event: FailedEvent, { TraceId, CorrelationId }: TraceIds, values: boolean): string[] {
  const { key, value } = event
  return [
    ...problemsOf(event, values).map((line) => `  ${line}`),
    '',
    `key ${key ? shownKey(key, values) : '(none)'}`,
    `trace ${TraceId}, in logs by ${CorrelationId}`,
    ...(value ? shownValue(value, values) : `(${lost})`).split('\n'),
  ]
}

type TraceIds = Pick<Envelope, 'TraceId' | 'CorrelationId'>

/** Returns the ids by which traces and logs know an event (stream/consumer.ts): its own, or those that derive from its record. */
function idsIn({ value, key, arrivedAt }: FailedEvent, origin: Place, positionIdsBefore?: number): TraceIds {
  const none = {} as ReceivedEnvelope
  const source = idSourceOf({ value: value ?? Buffer.alloc(0), key, arrivedAt, origin }, positionIdsBefore)
  try {
    return completeEnvelope(value ? parseEnvelope(value) : none, source)
  } catch {
    return completeEnvelope(none, source)
  }
}

/** A detail is a list of problems, which hold no values, or a sentence; letters that older services wrote may have some in that. */
function problemsOf({ detail, value }: FailedEvent, values: boolean): string[] {
  try {
    return (JSON.parse(detail) as Problem[]).map(describeProblem)
  } catch {
    return [values ? detail : whileHandling(value, () => maskedText(detail))]
  }
}

/** A key is a GUID, or whatever the publisher thought of. */
function shownKey(key: Buffer, values: boolean): string {
  const text = isUtf8(key) ? key.toString() : `0x${key.toString('hex')}`
  return values || /^[0-9a-f-]{36}$/i.test(text) ? text : `*** (${text.length} characters)`
}

export function outcomeLines(outcome: Outcome): string[] {
  const line = `${shortId(outcome.entry)}  ${groupOf(outcome.entry)}`
  switch (outcome.result) {
    case 'resent':
      return [`${line}  resent as ${outcome.as}`]
    case 'ready':
      return [`${line}  would be resent`]
    case 'done':
      return [`${line}  already replayed as ${outcome.as}`]
    case 'refused':
      return [`${line}  refused`, ...outcome.why.map((why) => `          ${why}`)]
  }
}

export function summaryLines(counts: Record<Outcome['result'], number>, dryRun: boolean): string[] {
  const { resent, ready, refused, done } = counts
  const next =
    refused > 0
      ? ['next: make dead-letters RESEND=ID EDIT=1 mends one that is refused']
      : ready > 0
        ? ['next: the same without DRY_RUN']
        : []
  const first = dryRun ? `${ready} would be resent` : `${resent} resent`
  return ['', `${first}, ${refused} refused, ${done} resent before`, ...next]
}
