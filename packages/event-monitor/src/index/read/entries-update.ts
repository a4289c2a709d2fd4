import { positionText, type RecordPosition } from '@orderflow/kafka-log'
import {
  type Attempt,
  currentAttempt,
  type DeadLetter,
  type DeadLetterRecord,
  type Entry,
  entriesOf,
  openAttempt,
  readRecord,
} from '@orderflow/service-kit/log'
import {
  type Cause,
  causesOf,
  type DeadLetterFacts,
  type FactsOf,
  groupFields,
  groupId,
  servicesOf,
} from '../../model/dead-letters.ts'
import { hashOf } from '../guid-runs.ts'
import type { EntriesFile } from './entries-file.ts'
import type { EventTuple, ReadSegment, Segments } from './segments.ts'

/** A dead letter, note or acceptance with its sequence number, which `entriesOf` copies to the attempt. */
type Item = DeadLetterRecord & { seq: number }

interface LoadedItem {
  item: Item
  facts: DeadLetterFacts
}

export interface FoundCause {
  cause: Cause
  first: number
  factsOf: FactsOf
}

export interface EntriesState {
  seq: number
  others: number
  source: string
  readUpTo: string
}

/** Number of rows in a transaction. */
const atOnce = 500
/**
 * The largest number of items from which the causes of a component are made: the oldest half, and the newest half. A
 * component has more items only if services reject one record thousands of times.
 */
const maxItems = 4_000

export const stateOf = (file: EntriesFile): EntriesState =>
  file.all<EntriesState>('SELECT * FROM state')[0] as EntriesState

/** Adds new rows of the dead letters' segments. Returns true if there are more. */
export function readOn(file: EntriesFile, segments: Segments): boolean {
  const dead = segments.of('dead')
  const [active, oldest] = [dead[0], dead.at(-1)]
  if (!active || !oldest) return false
  // Reads the positions before the rows. The writer commits both together, so the rows contain all earlier records.
  const readUpTo = JSON.stringify(active.positions().map(({ partition, next }) => [partition, String(next)]))
  let state = stateOf(file)
  if (!hasSource(dead, state)) state = cleared(file)
  const rows = newRows(dead, state.seq)
  const isGone = file.all('SELECT seq FROM items WHERE seq < ? LIMIT 1', oldest.facts.firstSeq).length > 0
  const last = rows.at(-1)
  if (!last && !isGone) return false
  const isAll = rows.length < atOnce
  file.change(() => {
    const touched = new Set(isGone ? remove(file, oldest.facts.firstSeq) : [])
    const loaded = new Map<number, LoadedItem>()
    let others = 0
    for (const { segment, row } of rows) {
      const one = loadedItem(segment, row)
      if (!one) others += 1
      else {
        loaded.set(row.seq, one)
        touched.add(add(file, one.item))
      }
    }
    for (const component of touched) renew(file, segments, component, loaded)
    file.run(
      'UPDATE state SET seq = ?, others = others + ?, source = ?, readUpTo = ?',
      last?.row.seq ?? state.seq,
      others,
      last ? sourceOf(last.segment) : state.source,
      isAll ? readUpTo : state.readUpTo,
    )
  })
  return !isAll
}

const sourceOf = ({ facts: { firstSeq, openedAt } }: ReadSegment) => `${firstSeq} ${openedAt}`

/** Returns false if the last row that was read does not exist, because the index was built again. */
function hasSource(dead: readonly ReadSegment[], { seq, source }: EntriesState): boolean {
  const segment = dead.find((one) => sourceOf(one) === source)
  return seq === 0 || segment?.all('SELECT seq FROM events WHERE seq = ?', seq).length === 1
}

function cleared(file: EntriesFile): EntriesState {
  file.change(() => {
    for (const sql of clear) file.run(sql)
  })
  return stateOf(file)
}

const clear = [
  ...['DELETE FROM causes', 'DELETE FROM items', 'DELETE FROM links', 'DELETE FROM groups'],
  "UPDATE state SET seq = 0, others = 0, source = '', readUpTo = '[]'",
]

function newRows(dead: readonly ReadSegment[], seq: number): { segment: ReadSegment; row: EventTuple }[] {
  const rows: { segment: ReadSegment; row: EventTuple }[] = []
  for (const segment of dead.toReversed()) {
    if (rows.length === atOnce) break
    // Always reads the active segment, because its `lastSeq` is updated only twice a second.
    if (segment !== dead[0] && segment.facts.lastSeq <= seq) continue
    const some = segment.all<EventTuple>(
      'SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
      seq,
      atOnce - rows.length,
    )
    for (const row of some) rows.push({ segment, row })
  }
  return rows
}

/** Returns undefined for a record of another program. */
function loadedItem(segment: ReadSegment, row: EventTuple): LoadedItem | undefined {
  const { position, at, kind, body } = segment.indexed(row)
  const record = readRecord({
    topic: position.topic,
    partition: position.partition,
    offset: BigInt(position.offset),
    timestamp: at,
    appendedAt: Number.NaN,
    key: undefined,
    value: Buffer.alloc(0),
    headers: (body.headers ?? []).map(({ name, value }) => [Buffer.from(name), Buffer.from(value)]),
  })
  if (record.kind === 'other') return undefined
  return { item: { ...record, seq: row.seq }, facts: { kind, faults: body.faults ?? [] } }
}

export const positionLink = (position: RecordPosition): number => hashOf(positionText(position))
const recordLink = ({ topic }: RecordPosition, record: string | undefined): number[] =>
  record === undefined ? [] : [hashOf(`${topic} ${record}`)]

/**
 * Returns hashes of everything by which `entriesOf` connects dead letters and notes. If two texts have the same hash,
 * two components become one, which has the same causes.
 */
function linksOf(item: Item): number[] {
  if (item.kind !== 'note') return [positionLink(item.position), ...recordLink(item.position, item.record)]
  const { of, as, ofRecord, asRecord } = item
  return [positionLink(of), positionLink(as), ...recordLink(of, ofRecord), ...recordLink(as, asRecord)]
}

/** Returns the component of the new item. */
function add(file: EntriesFile, item: Item): number {
  const links = linksOf(item)
  const linked = file.all<{ component: number }>(
    'SELECT DISTINCT component FROM links WHERE hash IN (SELECT value FROM json_each(?)) ORDER BY component',
    JSON.stringify(links),
  )
  const [component = item.seq, ...others] = linked.map((one) => one.component)
  for (const other of others) {
    file.run('UPDATE items SET component = ? WHERE component = ?', component, other)
    file.run('UPDATE links SET component = ? WHERE component = ?', component, other)
    file.run('UPDATE causes SET component = ? WHERE component = ?', component, other)
  }
  file.run('INSERT INTO items VALUES (?, ?)', item.seq, component)
  for (const hash of links) file.run('INSERT INTO links VALUES (?, ?) ON CONFLICT DO NOTHING', hash, component)
  return component
}

/** Removes items whose segments were removed, and returns their components. */
function remove(file: EntriesFile, before: number): number[] {
  const components = file.all<{ component: number }>('SELECT DISTINCT component FROM items WHERE seq < ?', before)
  file.run('DELETE FROM items WHERE seq < ?', before)
  return components.map(({ component }) => component)
}

function renew(
  file: EntriesFile,
  segments: Segments,
  component: number,
  loaded: ReadonlyMap<number, LoadedItem>,
): void {
  file.run('DELETE FROM causes WHERE component = ?', component)
  const found = causesIn(file, segments, component, loaded)
  if (found.length === 0 && file.all('SELECT seq FROM items WHERE component = ? LIMIT 1', component).length === 0)
    file.run('DELETE FROM links WHERE component = ?', component)
  for (const { cause, first, factsOf } of found) {
    const { entry, entries } = cause
    const times = entry.attempts.map(({ time }) => time).sort()
    const group = groupId(cause, factsOf)
    file.run(
      'INSERT INTO groups VALUES (?, ?) ON CONFLICT DO NOTHING',
      group,
      JSON.stringify(groupFields(cause, factsOf)),
    )
    file.run(
      'INSERT INTO causes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      first,
      component,
      group,
      openAttempt(entry) ? 1 : 0,
      JSON.stringify(servicesOf(cause)),
      entry.id,
      positionText(currentAttempt(entry).position),
      times[0] ?? '',
      times.at(-1) ?? '',
    )
    for (const { id } of entries) file.run('INSERT INTO ids VALUES (?, ?) ON CONFLICT DO NOTHING', first, id)
  }
}

/** Returns a key that includes the record, because a topic can be created again with the same positions. */
const deadLetterKey = ({
  deadLetterPosition,
  record = '',
}: Pick<DeadLetter, 'deadLetterPosition' | 'record'>): string => `${positionText(deadLetterPosition)} ${record}`

export function causesIn(
  file: EntriesFile,
  segments: Segments,
  component: number,
  loaded: ReadonlyMap<number, LoadedItem> = new Map(),
): FoundCause[] {
  const seqs = file
    .all<{ seq: number }>('SELECT seq FROM items WHERE component = ? ORDER BY seq', component)
    .map(({ seq }) => seq)
  const half = maxItems / 2
  const used = seqs.length > maxItems ? [...seqs.slice(0, half), ...seqs.slice(-half)] : seqs
  const dead = segments.of('dead')
  const items = used.flatMap((seq) => loaded.get(seq) ?? itemAt(dead, seq) ?? [])
  const facts = new Map<string, DeadLetterFacts>()
  for (const { item, facts: own } of items) if (item.kind === 'dead-letter') facts.set(deadLetterKey(item), own)
  const factsOf = (attempt: Attempt) => facts.get(deadLetterKey(attempt))
  return causesOf(entriesOf(items.map(({ item }) => item))).map((cause) => ({
    ...{ cause, factsOf },
    first: firstSeq(cause.entries),
  }))
}

/** @param dead segments, newest first */
function itemAt(dead: readonly ReadSegment[], seq: number): LoadedItem | undefined {
  const segment = dead.find(({ facts }) => facts.firstSeq <= seq)
  const [row] = segment?.all<EventTuple>('SELECT * FROM events WHERE seq = ?', seq) ?? []
  return segment && row && loadedItem(segment, row)
}

const firstSeq = (entries: readonly Entry[]): number =>
  entries
    .flatMap(({ attempts }) => attempts as (Attempt & Pick<Item, 'seq'>)[])
    .reduce((first, { seq }) => Math.min(first, seq), Number.MAX_SAFE_INTEGER)
