import { isUtf8 } from 'node:buffer'
import { completeEnvelope, type Envelope, maskedEvent, parseEnvelope, type ReceivedEnvelope } from '@orderflow/envelope'
import { keyFields } from '@orderflow/envelope/kafka'
import { positionText } from '@orderflow/kafka-log'
import { mayShowKey } from '../../stream/log/record-key.ts'
import { table } from '../terminal.ts'
import { type DeadLetters, type Entry, groupOf, groupsOf, newestAttempt, openAttempt } from './entries.ts'
import { type FailedEvent, lost, problemsOf } from './records.ts'
import type { Outcome } from './replay.ts'
import { documentIn } from './replay-record.ts'

const shortId = ({ id }: Entry) => id.slice(0, 8)
const stateOf = (entry: Entry) => (openAttempt(entry) ? 'open' : 'replayed')

export function groupLines({ entries, others }: DeadLetters): string[] {
  const foreign = others > 0 ? [`${others} other records on the dead-letter topics are not from our services`] : []
  if (entries.length === 0) return ['no dead letters', ...foreign]
  return [
    ...table([['GROUP', 'ENTRIES', 'OPEN', 'OLDEST', 'NEWEST'], ...groupsOf(entries).map(groupRow)]),
    ...foreign,
    '',
    'next: make dead-letters LIST=GROUP lists its entries',
    '      make dead-letters REPLAY=all DRY_RUN=1 shows which entries can be replayed',
  ]
}

function groupRow([name, entries]: [name: string, entries: Entry[]]): string[] {
  const times = entries.flatMap(({ attempts }) => attempts.map(({ time }) => time)).sort()
  const open = entries.filter(openAttempt).length
  return [name, String(entries.length), String(open), times[0] ?? '', times.at(-1) ?? '']
}

export function entryTable(entries: Entry[]): string[] {
  const rows = entries.map((entry) => {
    const { reason, time } = newestAttempt(entry)
    const origin = positionText(entry.origin)
    return [shortId(entry), stateOf(entry), String(entry.attempts.length), time, origin, reason, entry.app]
  })
  return [
    ...table([['ID', 'STATE', 'ATTEMPTS', 'NEWEST', 'ORIGIN', 'REASON', 'APP'], ...rows]),
    '',
    'next: make dead-letters SHOW=ID, make dead-letters REPLAY=ID',
  ]
}

/**
 * @param event the event of the entry's newest dead letter
 * @param values true to show personal data
 */
export function entryLines(entry: Entry, event: FailedEvent | undefined, values: boolean): string[] {
  const story = entry.attempts.flatMap(({ position, time, reason, replayed }) => [
    `  ${time}  ${positionText(position)} failed: ${reason}`,
    ...(replayed
      ? [`  ${replayed.time}  replayed${replayed.edited ? ', edited,' : ''} as ${positionText(replayed.as)}`]
      : []),
  ])
  return [
    `${entry.id}  ${stateOf(entry)}`,
    `${newestAttempt(entry).reason} in ${entry.app}, first at ${positionText(entry.origin)}`,
    ...story,
    ...claimLines(entry),
    '',
    ...(event ? eventLines(event, entry.origin.topic, idsIn(event), values) : ['the log has deleted the dead letter']),
  ]
}

/** Returns a line if the record claims a replay that has no note. Either the replay crashed before it wrote the note, or the claim is forged. */
function claimLines({ attempts: [first] }: Entry): string[] {
  if (!first || positionText(first.origin) === positionText(first.position)) return []
  return [`  its header names a replay from ${positionText(first.origin)}, but there is no note of that replay`]
}

function eventLines(event: FailedEvent, topic: string, { TraceId, CorrelationId }: TraceIds, values: boolean) {
  const { key, value } = event
  const isShown = values || (key !== undefined && mayShowKey(key, keyFields(undefined, topic), documentIn(value)))
  return [
    ...problemsOf(event, values).map((line) => `  ${line}`),
    '',
    `key ${key ? shownKey(key, isShown) : '(none)'}`,
    `trace ${TraceId}, search logs for ${CorrelationId}`,
    ...(value ? shownValue(value, values) : `(${lost})`).split('\n'),
  ]
}

type TraceIds = Pick<Envelope, 'TraceId' | 'CorrelationId'>

/** Returns the ids that traces and logs use for an event: the ids in its envelope, or ids that derive from its record. */
function idsIn({ value, key }: FailedEvent): TraceIds {
  const none = {} as ReceivedEnvelope
  const source = { value: value ?? Buffer.alloc(0), key }
  try {
    return completeEnvelope(value ? parseEnvelope(value) : none, source)
  } catch {
    return completeEnvelope(none, source)
  }
}

function shownKey(key: Buffer, isShown: boolean): string {
  const text = isUtf8(key) ? key.toString() : `0x${key.toString('hex')}`
  return isShown ? text : `*** (${text.length} characters)`
}

export function outcomeLines(outcome: Outcome): string[] {
  const line = `${shortId(outcome.entry)}  ${groupOf(outcome.entry)}`
  switch (outcome.result) {
    case 'replayed':
      return [`${line}  replayed as ${outcome.as}`]
    case 'ready':
      return [`${line}  would be replayed`]
    case 'done':
      return [`${line}  already replayed as ${outcome.as}`]
    case 'refused':
      return [`${line}  refused`, ...outcome.why.map((why) => `          ${why}`)]
  }
}

export function summaryLines(counts: Record<Outcome['result'], number>, dryRun: boolean): string[] {
  const { replayed, ready, refused, done } = counts
  const next =
    refused > 0
      ? ['next: make dead-letters REPLAY=ID EDIT=1 edits and replays a refused event']
      : ready > 0
        ? ['next: repeat the command without DRY_RUN']
        : []
  const first = dryRun ? `${ready} would be replayed` : `${replayed} replayed`
  return ['', `${first}, ${refused} refused, ${done} replayed before`, ...next]
}

/** Returns an event's bytes as readable JSON. It shows only the values that the contract allows to show, or all values if `values` is true. */
export function shownValue(value: Uint8Array, values: boolean): string {
  const text = Buffer.from(value).toString()
  if (text === '') return '(nothing: a tombstone)'
  if (values) return prettyIfSame(text)
  try {
    return JSON.stringify(maskedEvent(JSON.parse(text)), null, 2)
  } catch {
    return `(${value.byteLength} bytes that are not JSON, or nest too deep; VALUES=1 shows them)`
  }
}

/** Indents a JSON text. Returns the text unchanged if parsing would lose digits or a repeated key. */
export function prettyIfSame(text: string): string {
  try {
    const document: unknown = JSON.parse(text)
    return JSON.stringify(document) === text ? JSON.stringify(document, null, 2) : text
  } catch {
    return text
  }
}
