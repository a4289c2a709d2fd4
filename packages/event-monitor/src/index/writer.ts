import type { Kind } from '../model/kind.ts'
import { ActiveSegment } from './active-segment.ts'
import { maxSegmentSpan } from './guid-runs.ts'
import type { Gap, IndexRecord, Position } from './record.ts'
import { positionsIn, removeSegment, type SegmentFacts, type SeriesName, segmentFile, segmentsIn } from './segment.ts'

export interface WriterOptions {
  folder: string
  segmentEvents: number
  keepEvents: number
  keepMs: number
  rules: string
  now: () => number
  /** Returns the first record of a partition in the log; undefined if it is unknown. */
  startOf: (topic: string, partition: number) => Pick<Position, 'topicId' | 'next'> | undefined
}

const dayMs = 24 * 60 * 60 * 1_000
/** The age at which a new segment begins. Segments of dead letters stay for years, so there should be few of them. */
const segmentMs = { events: dayMs, dead: 30 * dayMs }

export type IndexWriter = ReturnType<typeof openWriter>

export const seriesOf = (topic: string): SeriesName => (topic.endsWith('.dead') ? 'dead' : 'events')

export function openWriter(options: WriterOptions) {
  const { folder } = options
  const names = ['events', 'dead'] as const
  const files = new Map(names.map((name) => [name, segmentsIn(folder, name, options.rules)]))
  const firstSeq = [...files.values()].flat().reduce((next, { lastSeq }) => Math.max(next, lastSeq + 1), 1)
  const series = new Map<SeriesName, ReturnType<typeof openSeries>>()
  const close = () => [...series.values()].map((one) => one.close())
  try {
    for (const name of names) series.set(name, openSeries(name, files.get(name) ?? [], options, firstSeq))
  } catch (error) {
    close()
    throw error
  }
  const nextSeq = () => [...series.values()].reduce((last, { lastSeq }) => Math.max(last, lastSeq()), 0) + 1

  return {
    /** Returns the read positions, by `topic/partition`. */
    positions(): Map<string, Position> {
      const all = [...series.values()].flatMap((one) => one.positions())
      return new Map(all.map((position) => [`${position.topic}/${position.partition}`, position]))
    },

    /**
     * Writes events in one transaction, and dead letters in another. Returns the sequence number of the first record, and
     * the kind under which each record is counted.
     */
    write(records: readonly IndexRecord[], positions: readonly Position[], gaps: readonly Gap[] = []) {
      for (const { restore } of series.values()) restore()
      const seq = nextSeq()
      const kinds: Kind[] = []
      for (const [name, one] of series) {
        const isOwn = ({ topic }: { topic: string }) => seriesOf(topic) === name
        const own = records.filter(isOwn)
        const moved = positions.filter(isOwn)
        if (own.length === 0 && moved.length === 0) continue
        for (const kind of one.write(own, moved, gaps.filter(isOwn), nextSeq())) kinds.push(kind)
      }
      return { seq, kinds }
    },

    /** Returns the segments of events and then those of dead letters, oldest first. */
    segments: (): SegmentFacts[] => [...series.values()].flatMap(({ segments }) => segments()),
    close,
  }
}

function openSeries(name: SeriesName, files: SegmentFacts[], options: WriterOptions, nextSeq: number) {
  const { folder, segmentEvents, keepEvents, keepMs, rules, now, startOf } = options
  const newest = files.pop()
  const sealed = files
  const file = newest?.file ?? segmentFile(folder, name, nextSeq)
  let active = new ActiveSegment(file, { firstSeq: newest?.firstSeq ?? nextSeq, now: now(), rules, positions: [] })

  /** Starts a new segment. If this fails, the previous segment stays open, and the next write tries again. */
  function roll(seq: number): void {
    const before = active
    before.seal()
    active = new ActiveSegment(segmentFile(folder, name, seq), {
      firstSeq: seq,
      now: now(),
      rules,
      positions: before.positions,
    })
    sealed.push(before.facts)
    before.close()
  }

  /**
   * Returns true while there are more than `keepEvents` events, or while all events of the segment are too old. An event
   * arrived before the next segment was created, even if its time is later.
   */
  function isOutdated(oldest: SegmentFacts, next: SegmentFacts): boolean {
    const total = sealed.reduce((sum, { count }) => sum + count, active.facts.count + segmentEvents)
    return total > keepEvents || Math.min(oldest.last, next.openedAt) < now() - keepMs
  }

  /** Returns true if the log has deleted all records of a segment, so that its dead letters can no longer be replayed. */
  function isGone({ file }: SegmentFacts): boolean {
    return positionsIn(file).every(({ topic, partition, topicId, next }) => {
      const start = startOf(topic, partition)
      return start !== undefined && (start.topicId !== topicId || start.next >= next)
    })
  }

  /** Removes old segments of events. Dead letters are kept as long as the log has them. */
  function drop(): void {
    const isDue = name === 'dead' ? isGone : isOutdated
    for (let [oldest, next = active.facts] = sealed; oldest; [oldest, next = active.facts] = sealed) {
      if (!isDue(oldest, next)) return
      removeSegment(oldest.file)
      sealed.shift()
    }
  }

  return {
    positions: () => active.positions,
    segments: () => [...sealed, active.facts],
    lastSeq: () => active.facts.lastSeq,
    restore: () => active.restore(),
    close: () => active.close(),
    write(records: IndexRecord[], positions: Position[], gaps: Gap[], seq: number): Kind[] {
      const { count, firstSeq, openedAt } = active.facts
      const isWide = seq + records.length - firstSeq >= maxSegmentSpan
      const isFull = count >= segmentEvents || (count > 0 && (isWide || now() - openedAt > segmentMs[name]))
      if (isFull) {
        // Removes old segments first, to free space.
        drop()
        roll(seq)
      }
      return active.write(records, positions, gaps, seq)
    },
  }
}
