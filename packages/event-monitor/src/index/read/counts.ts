import type { Kind } from '../../model/kind.ts'
import { bucketMs } from '../segment.ts'
import { withGuid } from './find.ts'
import type { Query } from './query.ts'
import type { Segments } from './segments.ts'

export interface KindCount {
  kind: Kind
  count: number
  first: number
  last: number
}

/** So many events of one GUID are counted. */
const maxOfGuid = 5_000

/** How many kept events a query lets through, by kind. `isAtLeast` when there may be more. */
export function countKinds(segments: Segments, query: Query): { kinds: KindCount[]; isAtLeast: boolean } {
  if (query.guid) {
    const found = withGuid(segments, query.guid, { query, limit: maxOfGuid })
    const kinds = found.map(({ kind, at }) => ({ kind, count: 1, first: at, last: at }))
    return { kinds, isAtLeast: found.length === maxOfGuid }
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
      const known = byId.get(id)
      return known ? [{ ...known, count }] : []
    })
  })
  // Whole buckets are counted, so that a count takes as long as there are buckets.
  const isCut = [query.from, query.to].some((end) => end % bucketMs !== 0 && end !== Number.MAX_SAFE_INTEGER)
  return { kinds, isAtLeast: query.partition === undefined && isCut }
}

/** Events by time: how many arrived in each step, of those that a query lets through. */
export function countByTime(
  segments: Segments,
  query: Query,
  { from, to, stepMs }: { from: number; to: number; stepMs: number },
): { count: number[]; invalid: number[] } {
  const length = Math.ceil((to - from) / stepMs)
  const [count, invalid] = [new Array<number>(length).fill(0), new Array<number>(length).fill(0)]
  const add = (at: number, some: number, isFaulty: boolean) => {
    const step = Math.floor((at - from) / stepMs)
    if (step < 0 || step >= length) return
    count[step] = (count[step] ?? 0) + some
    if (isFaulty) invalid[step] = (invalid[step] ?? 0) + some
  }
  const faulty = ({ validity }: Kind) => !['valid', 'foreign', 'resend-note'].includes(validity)
  if (query.guid) {
    for (const { at, kind } of withGuid(segments, query.guid, { query, limit: maxOfGuid })) add(at, 1, faulty(kind))
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
      const known = wanted.get(kind)
      if (known) add(bucket, some, faulty(known))
    }
  }
  return { count, invalid }
}
