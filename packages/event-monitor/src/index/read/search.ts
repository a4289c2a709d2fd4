import { parseGuid } from '@orderflow/envelope'
import { parsePosition, positionText } from '@orderflow/kafka-log'
import type { EventFilter, RecordPosition } from '../../api/events.ts'
import { isFaulty, type Kind, type KindCount, type KindFilter, kindTest } from '../../model/kind.ts'
import { type Indexed, indexedIds, payloadGuids, spelledIds } from '../../model/row.ts'
import { seqsOf } from '../guid-runs.ts'
import type { Body } from '../record.ts'
import { bucketMs } from '../segment.ts'
import type { EventTuple, ReadSegment, Segments } from './segments.ts'

interface Query {
  test: (kind: Kind) => boolean
  /** Milliseconds since 1970. */
  from: number
  to: number
  partition: number | undefined
  /** A GUID, or a record key. */
  guid: string | undefined
  position: RecordPosition | undefined
  /** Words that may be record keys. `test` tests a kind for the remaining words. */
  keys: readonly { key: string; test: (kind: Kind) => boolean }[]
  /** True if the filter depends only on kinds, whose counts are stored. */
  isOfKinds: boolean
}

/** Finds a GUID or record position among the words of `q`. */
export function queryOf(filter: EventFilter): Query {
  const words = (filter.q ?? '').split(/\s+/).filter(Boolean)
  const position = words.map(parsePosition).find((one) => one !== undefined)
  const guids = words.map(parseGuid)
  const guid: string | undefined = filter.guid ?? guids.find((each) => each !== undefined)
  const rest = words
    .filter((word, index) => !parsePosition(word) && (guid === undefined || guids[index] !== guid))
    .map((word) => word.toLowerCase())
  const kinds: KindFilter = { ...filter, words: rest }
  const whole = (filter.q ?? '').trim()
  const keys = guid === undefined ? [...new Set(whole ? [whole, ...words] : [])] : []
  return {
    test: kindTest(kinds),
    from: filter.from === undefined ? 0 : Date.parse(filter.from),
    to: filter.to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(filter.to),
    partition: filter.partition,
    guid,
    position,
    keys: keys.map((key) => {
      const others = key === whole ? [] : rest.filter((word) => word !== key.toLowerCase())
      return { key, test: kindTest({ ...kinds, words: others }) }
    }),
    isOfKinds:
      filter.from === undefined && filter.to === undefined && filter.partition === undefined && !guid && !position,
  }
}

/** If a word is an existing record key, returns a query for its events. Otherwise returns the same query. */
export function withKey(segments: Segments, query: Query): Query {
  if (query.position && eventsAt(segments, query.position).length > 0) return query
  const named = query.keys.find(({ key }) => withGuid(segments, key, { limit: 1 }).some(({ body }) => body.key === key))
  return named ? { ...query, ...{ test: named.test, guid: named.key, position: undefined, isOfKinds: false } } : query
}

/** The largest number of kinds that are read one by one. For more kinds, reading all rows is faster. */
const maxLookups = 40

/**
 * Selects the newest rows below a sequence number; a limit of -1 selects all. The plus sign before `part` keeps SQLite
 * from using the index of offsets, because SQLite would then sort all rows.
 */
const newestRows = `SELECT * FROM events WHERE seq < ?1 AND at >= ?2 AND at < ?3
  AND (?4 IS NULL OR +part IN (SELECT id FROM parts WHERE partition = ?4)) ORDER BY seq DESC LIMIT ?5`
const newestOfKind = `SELECT * FROM events INDEXED BY byKind WHERE kind = ?6 AND seq < ?1 AND at >= ?2 AND at < ?3
  AND (?4 IS NULL OR +part IN (SELECT id FROM parts WHERE partition = ?4)) ORDER BY seq DESC LIMIT ?5`

export function findRows(segments: Segments, query: Query, before: number, limit: number): Indexed[] {
  if (query.position)
    return eventsAt(segments, query.position).filter((one) => one.seq < before && query.test(one.kind))
  if (query.guid) return withGuid(segments, query.guid, { query, before, limit })
  const rows = (['events', 'dead'] as const).flatMap((series) => ofSeries(segments.of(series), query, before, limit))
  return rows.sort((one, other) => other.seq - one.seq).slice(0, limit)
}

function ofSeries(segments: ReadSegment[], query: Query, before: number, limit: number): Indexed[] {
  const rows: Indexed[] = []
  for (const segment of segments) {
    const { facts } = segment
    if (facts.firstSeq >= before || facts.count === 0 || facts.last < query.from || facts.first >= query.to) continue
    for (const row of ofSegment(segment, query, before, limit - rows.length)) rows.push(row)
    if (rows.length >= limit) break
  }
  return rows
}

function ofSegment(segment: ReadSegment, query: Query, before: number, limit: number): Indexed[] {
  const all = segment.kinds()
  const wanted = all.filter(({ kind }) => query.test(kind)).map(({ id }) => id)
  if (wanted.length === 0) return []
  const isAll = wanted.length === all.length
  const { from, to, partition = null } = query
  if (isAll || wanted.length > maxLookups) {
    const kinds = new Set(wanted)
    const rows: EventTuple[] = []
    for (const row of segment.iterate<EventTuple>(newestRows, before, from, to, partition, isAll ? limit : -1)) {
      if (!kinds.has(row.kind)) continue
      rows.push({ ...row })
      if (rows.length === limit) break
    }
    return rows.map((row) => segment.indexed(row))
  }
  return wanted
    .flatMap((kind) => segment.all<EventTuple>(newestOfKind, before, from, to, partition, limit, kind))
    .sort((one, other) => other.seq - one.seq)
    .slice(0, limit)
    .map((row) => segment.indexed(row))
}

/** Returns the records at a position, newest first. Several records have it if the topic was created again. */
export function eventsAt(segments: Segments, { topic, partition, offset }: RecordPosition): Indexed[] {
  return segments.of(topic.endsWith('.dead') ? 'dead' : 'events').flatMap((segment) =>
    segment
      .partsOf(topic, partition)
      .flatMap((part) =>
        segment.all<EventTuple>(
          'SELECT * FROM events WHERE part = ? AND offset = ? ORDER BY seq DESC',
          part,
          Number(offset),
        ),
      )
      .map((row) => segment.indexed(row)),
  )
}

/** The largest difference between clocks by which an event may seem newer than its dead letter. */
const maxSkewMs = 60_000

/**
 * Returns the failed record of a dead letter. If the topic was created again, several records may have its position.
 * Then `ofAt` or the dead letter's arrival decides.
 */
export function eventAbout(segments: Segments, { of, ofAt }: Body, deadLetterAt: number): Indexed | undefined {
  if (!of) return undefined
  const there = eventsAt(segments, of)
  if (ofAt !== undefined) return there.find(({ at }) => at === ofAt)
  return there.find(({ at }) => at <= deadLetterAt + maxSkewMs)
}

interface GuidOptions {
  query?: Query
  before?: number
  limit: number
  ascending?: boolean
}

/**
 * Returns events that contain `guid`: a GUID, a record key, or the position of a record that a dead letter or note
 * refers to. Finds candidates by the hash, and compares their texts with `guid`.
 */
export function withGuid(
  segments: Segments,
  guid: string,
  { query, before, limit, ascending = false }: GuidOptions,
): Indexed[] {
  const records: Indexed[] = []
  const newestFirst = segments.all()
  for (const segment of ascending ? newestFirst.reverse() : newestFirst) {
    const { firstSeq } = segment.facts
    if (before !== undefined && firstSeq >= before) continue
    const all = seqsOf(guid, (sql, ...values) => segment.all(sql, ...values)).map((seq) => firstSeq + seq)
    const seqs = all.filter((seq) => before === undefined || seq < before)
    for (const row of rowsOf(segment, ascending ? seqs : seqs.reverse(), limit)) {
      if (query && (row.at < query.from || row.at >= query.to || !query.test(segment.kind(row.kind)))) continue
      const indexed = segment.indexed(row)
      if (query?.partition !== undefined && indexed.position.partition !== query.partition) continue
      if (!isFoundBy(indexed, guid)) continue
      records.push(indexed)
      if (records.length === limit) return records
    }
  }
  return records
}

/** Reads several rows at once, because a query costs as much as ten rows. */
function* rowsOf(segment: ReadSegment, seqs: readonly number[], atOnce: number): Generator<EventTuple> {
  for (let at = 0; at < seqs.length; at += atOnce) {
    const some = seqs.slice(at, at + atOnce)
    const rows = segment.all<EventTuple>(
      'SELECT e.* FROM json_each(?) wanted CROSS JOIN events e ON e.seq = wanted.value',
      JSON.stringify(some),
    )
    const bySeq = new Map(rows.map((row) => [row.seq, row]))
    for (const seq of some) {
      const row = bySeq.get(seq)
      if (row) yield row
    }
  }
}

function isFoundBy({ body }: Indexed, guid: string): boolean {
  const { id, correlationId, traceId, causationId } = indexedIds(body)
  if ([id, correlationId, traceId, causationId].includes(guid) || (parseGuid(body.key) ?? body.key) === guid)
    return true
  if ([...spelledIds(body.document), ...payloadGuids(body.document)].includes(guid)) return true
  return body.of !== undefined && positionText(body.of) === guid
}

const maxOfGuid = 5_000

export function countKinds(segments: Segments, query: Query): { kinds: KindCount[]; isAtLeast: boolean } {
  if (query.guid) {
    const records = withGuid(segments, query.guid, { query, limit: maxOfGuid })
    const kinds = records.map(({ kind, at }) => ({ kind, count: 1, first: at, last: at }))
    return { kinds, isAtLeast: records.length === maxOfGuid }
  }
  const kinds = segments.all().flatMap((segment): KindCount[] => {
    const { facts } = segment
    if (facts.last < query.from || facts.first >= query.to) return []
    const wanted = segment.kinds().filter(({ kind }) => query.test(kind))
    if (query.isOfKinds) return wanted.filter(({ count }) => count > 0)
    const byId = new Map(wanted.map((one) => [one.id, one]))
    const rows =
      query.partition === undefined
        ? segment.all<{ kind: number; count: number }>(
            'SELECT kind, sum(count) AS count FROM counts WHERE bucket >= ? AND bucket < ? GROUP BY kind',
            Math.ceil(query.from / bucketMs) * bucketMs,
            query.to - (bucketMs - 1),
          )
        : segment.countsOf(query.partition, query.from, query.to)
    return rows.flatMap(({ kind: id, count }) => {
      const counted = byId.get(id)
      return counted ? [{ ...counted, count }] : []
    })
  })
  // Counts only whole buckets, so the time for this query does not depend on the number of events.
  const isCut = [query.from, query.to].some((end) => end % bucketMs !== 0 && end !== Number.MAX_SAFE_INTEGER)
  return { kinds, isAtLeast: query.partition === undefined && isCut }
}

export function countByTime(
  segments: Segments,
  query: Query,
  { from, to, stepMs }: { from: number; to: number; stepMs: number },
): { count: number[]; invalid: number[] } {
  const length = Math.ceil((to - from) / stepMs)
  const [count, invalid] = [new Array<number>(length).fill(0), new Array<number>(length).fill(0)]
  const add = (at: number, some: number, isWrong: boolean) => {
    const step = Math.floor((at - from) / stepMs)
    if (step < 0 || step >= length) return
    count[step] = (count[step] ?? 0) + some
    if (isWrong) invalid[step] = (invalid[step] ?? 0) + some
  }
  if (query.guid) {
    for (const { at, kind } of withGuid(segments, query.guid, { query, limit: maxOfGuid })) add(at, 1, isFaulty(kind))
    return { count, invalid }
  }
  for (const segment of segments.all()) {
    if (segment.facts.last < from || segment.facts.first >= to) continue
    const wanted = new Map(
      segment
        .kinds()
        .filter(({ kind }) => query.test(kind))
        .map((one) => [one.id, one.kind]),
    )
    const rows = segment.iterate<{ bucket: number; kind: number; count: number }>(
      'SELECT * FROM counts WHERE bucket >= ? AND bucket < ?',
      from - (from % bucketMs),
      to,
    )
    for (const { bucket, kind, count: some } of rows) {
      const counted = wanted.get(kind)
      if (counted) add(bucket, some, isFaulty(counted))
    }
  }
  return { count, invalid }
}
