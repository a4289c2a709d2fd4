import { setTimeout as delay } from 'node:timers/promises'
import { isPlatformFailure } from '../../sidecar/batcher.ts'
import type { Read } from '../../sidecar/sidecar.ts'
import { within } from '../../telemetry/context.ts'
import { createBeatWatch } from '../beats.ts'
import { nameIn } from '../spaces.ts'
import { beginOf, endOf, isWide } from './buckets.ts'
import type { Fire, Firing } from './firing.ts'
import {
  bucketIn,
  type Chunks,
  chunkKey,
  createOwnLane,
  type DueEntry,
  entriesIn,
  isEmpty,
  type Lane,
  type LaneWriter,
  laneKey,
  laneKeys,
  newId,
  type Place,
  unreadable,
} from './lanes.ts'
import { readIndex } from './listing.ts'

/** The number of deadlines that are fired at the same time, and the shortest time for them. Together they limit the load after an outage. */
const firedTogether = 100
const pauseMs = 50
/** The number of deadlines of a wide bucket that move to narrower ones at the same time. */
const movedTogether = 2_000
/** After this number of fired deadlines, the process asks how many of them are unhandled. While these are more than this number, it fires no others. */
const firedBetween = 1_000
/** The number of chunks that are read together. */
const readTogether = 20
/** The largest number of deadlines of begun buckets in memory. */
const maxHeld = 20_000
/** The time after which a deadline that failed is tried again, so that it does not hold up its bucket. */
const retryMs = 60_000
/** The time after which an entry that must stay in the index is looked at again. */
const waitMs = 10_000
/** The time after which a listing reports that a process does not fire its deadlines. It is longer than the interval of its beats. */
const silentMs = 10_000
/** The time for which the store may still execute writes of a process that has ended. */
const doubtMs = 60_000

interface Options {
  /** Returns documents by key. A document that is missing is certainly absent. */
  read: Read
  /** Returns documents by key, but may leave out existing documents. */
  scan: Read
  /** Changes a document of this module. `decide` returns the new value, or undefined for no write. */
  replace<T>(key: string, decide: (stored: T | undefined) => T | undefined): Promise<void>
  /** Adds deadlines to the lane of this process. */
  arm(entries: readonly DueEntry[], notBefore?: number): Promise<void>
  flush(key: string): Promise<void>
  remove(keys: string[]): Promise<void>
  /** Returns the time of the log, in milliseconds since 1970; undefined if it is unknown. */
  time(): number | undefined
  /** Returns the number of fired deadlines that no service has handled. */
  lag(): Promise<number>
  /** Receives a bug. */
  report(error: unknown): void
  now: () => Date
  elapsed: () => number
}

export function createFiring(options: Options): Firing & { writer: LaneWriter } {
  const { read, scan, replace, arm, flush, remove, time, lag, report, elapsed } = options
  /** The clock of this process may be wrong, so the time of the log is better. */
  const now = () => new Date(time() ?? options.now())
  const fires = new Map<string, Fire>()
  const own = createOwnLane(flush, now, elapsed)
  /** The deadlines of begun buckets that have not passed, by chunk. */
  const held = new Map<Place, Map<number, DueEntry[]>>()
  const beats = createBeatWatch(elapsed)
  let firedSince = 0
  let pausedUntil = Number.NEGATIVE_INFINITY
  /** The oldest deadline that could not be fired, and the time until which it is reported. */
  let failing = { at: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY }
  /** The time at which this process took the deadlines of a process that had ended without giving them away. */
  let takenAt = Number.NEGATIVE_INFINITY

  /** Takes the deadlines of a lane whose process has ended. Each process takes one lane at a time, so that several share them. */
  async function visitOthers(): Promise<void> {
    const before = own.id()?.beat ?? 0
    const found = await scan([...laneKeys])
    for (const [lane, key] of laneKeys.entries()) {
      const stored = found.get(key)?.value as Lane | undefined
      const isOwn = stored?.by === own.id()?.by
      // The store lost writes. It may have deadlines again that have passed in the memory of this process, so a process must read the lane again.
      if (isOwn && stored && stored.beat < before) own.leave()
      if (!stored || isEmpty(stored) || isOwn) {
        beats.forget(lane)
        continue
      }
      if (stored.by !== '' && !beats.hasEnded(lane, stored)) continue
      await takeOver(lane, key, stored)
      return
    }
  }

  async function takeOver(lane: number, key: string, { by, beat }: Lane): Promise<void> {
    let taken: Lane | undefined
    await replace<Lane>(key, (stored) => {
      taken = stored?.by === by && stored.beat === beat ? { ...stored, by: newId(), beat: beat + 1 } : undefined
      return taken
    })
    if (!taken) return
    if (by !== '') takenAt = elapsed()
    const before = own.id()
    if (!before) return own.adopt(lane, taken)
    const { by: id } = taken
    own.add(taken.buckets)
    await own.store()
    // If this process has lost its lane meanwhile, another one takes the deadlines of both.
    if (own.id() === before)
      await replace<Lane>(key, (stored) =>
        stored?.by === id ? { by: '', beat: stored.beat + 1, buckets: {} } : undefined,
      )
  }

  /** Reads the chunks of a bucket that are not in memory, until the memory is full. */
  async function load(place: Place, [from, to]: Chunks): Promise<Map<number, DueEntry[]>> {
    const known = held.get(place) ?? new Map<number, DueEntry[]>()
    held.set(place, known)
    let room = maxHeld
    for (const chunks of held.values()) for (const entries of chunks.values()) room -= entries.length
    const missing = Array.from({ length: to - from }, (_, index) => from + index).filter((chunk) => !known.has(chunk))
    for (let first = 0; first < missing.length && room > 0; first += readTogether) {
      const some = missing.slice(first, first + readTogether)
      const found = await read(some.map((chunk) => chunkKey(place, chunk)))
      for (const chunk of some) {
        const key = chunkKey(place, chunk)
        const entries = entriesIn(found.get(key))
        if (entries.includes(unreadable))
          report(
            new Error(`the document ${key} has entries that are not deadlines: correct it, and restart this service`),
          )
        known.set(chunk, entries)
        room -= entries.length
      }
    }
    return known
  }

  /** Removes the chunks of a bucket that are finished. */
  async function settle(place: Place, known: Map<number, DueEntry[]>): Promise<void> {
    const [from, to] = own.buckets().get(place) ?? [0, 0]
    let next = from
    while (next < to && known.get(next)?.length === 0) next += 1
    if (next === from) return
    const chunks = Array.from({ length: next - from }, (_, index) => from + index)
    await remove(chunks.map((chunk) => chunkKey(place, chunk)))
    for (const chunk of chunks) known.delete(chunk)
    if (known.size === 0) held.delete(place)
    own.passed(place, next)
  }

  async function fireOne(entry: DueEntry): Promise<'fired' | 'ended' | 'later' | 'waiting'> {
    const fire = fires.get(nameIn(entry.key))
    try {
      // A replica of another version may have the entity.
      if (!fire) return 'later'
      const result = await fire(entry, elapsed() - takenAt < doubtMs)
      return result === 'waiting' ? result : result ? 'fired' : 'ended'
    } catch (error) {
      if (isPlatformFailure(error)) throw error
      report(error)
      return 'later'
    }
  }

  /**
   * Fires some deadlines. Those that could not be fired are tried again later. Returns those that need no further attempt in this bucket, and the
   * outage that prevented the others.
   */
  async function fireSome(entries: readonly DueEntry[]) {
    await delay(Math.max(0, pausedUntil - elapsed()))
    const begunAt = elapsed()
    const results = await Promise.allSettled(entries.map(fireOne))
    const resultOf = (index: number) => (results[index] as PromiseFulfilledResult<string>).value
    const resultingIn = (result: string) => entries.filter((_, index) => resultOf(index) === result)
    const fired = resultingIn('fired').length
    firedSince += fired
    // Most deadlines have ended, and cost only a read.
    pausedUntil = begunAt + (pauseMs * fired) / firedTogether
    const [later, waiting] = [resultingIn('later'), resultingIn('waiting')]
    if (later.length > 0) await arm(later, now().getTime() + retryMs)
    if (waiting.length > 0) await arm(waiting, now().getTime() + waitMs)
    for (const { at } of later)
      if (at <= failing.at || elapsed() > failing.until) failing = { at, until: elapsed() + 2 * retryMs }
    const outage = results.find((result) => result.status === 'rejected')
    return { done: entries.filter((_, index) => results[index]?.status === 'fulfilled'), outage }
  }

  /** Returns true if the service does not keep up with the fired deadlines. */
  async function isBehind(): Promise<boolean> {
    if (firedSince < firedBetween) return false
    if ((await lag()) > firedBetween) return true
    firedSince = 0
    return false
  }

  /** Fires the due deadlines of a bucket, the oldest first. Returns false if firing must wait. */
  async function fireBucket(place: Place, chunks: Chunks, until: number): Promise<boolean> {
    const id = own.id()
    const isSplit = isWide(bucketIn(place))
    const known = await load(place, chunks)
    const due = [...known.values()].flat().filter((entry) => entry !== unreadable && (isSplit || entry.at <= until))
    due.sort((a, b) => a.at - b.at)
    const together = isSplit ? movedTogether : firedTogether
    for (let first = 0; first < due.length; first += together) {
      const some = due.slice(first, first + together)
      let [done, outage]: [DueEntry[], PromiseRejectedResult?] = [some]
      if (isSplit) await arm(some)
      else if (await isBehind()) return false
      else ({ done, outage } = await fireSome(some))
      const ended = new Set(done)
      const isOpen = (entry: DueEntry) => !ended.has(entry)
      for (const [chunk, entries] of known) known.set(chunk, entries.filter(isOpen))
      if (outage) throw outage.reason
      await own.tell()
      // Another process may have taken the lane.
      if (own.id() !== id) return false
    }
    await settle(place, known)
    return true
  }

  async function fireDue(until: number): Promise<void> {
    const due = Array.from(own.buckets(), ([place, chunks]) => ({ place, chunks, begin: beginOf(bucketIn(place)) }))
      .filter(({ begin }) => begin <= until)
      .toSorted((a, b) => a.begin - b.begin)
    for (const { place, chunks } of due) if (!(await fireBucket(place, chunks, until))) return
  }

  /** Returns the ends of all buckets, the earliest first. */
  const bucketEnds = () =>
    Array.from(own.buckets().keys(), (place) => endOf(bucketIn(place))).toSorted((one, other) => one - other)

  return {
    writer: own.writer,
    onDue: (name, fire) => void fires.set(name, fire),

    async sweep() {
      if (fires.size === 0) return
      for (const place of held.keys()) if (!own.buckets().has(place)) held.delete(place)
      if (beats.isDue()) await visitOthers()
      await own.tell()
      const until = time()
      if (until !== undefined) await fireDue(until)
    },

    fireSoon(entry) {
      // A failure leaves the entry in the index, where a sweep finds it.
      void within(undefined, () => fireOne(entry)).catch(() => {})
    },

    async leave() {
      held.clear()
      const { lane, by } = own.id() ?? {}
      own.leave()
      if (lane === undefined) return
      await replace<Lane>(laneKey(lane), (stored) =>
        stored && stored.by === by ? { ...stored, by: '', beat: stored.beat + 1 } : undefined,
      )
    },

    openUntil: () => bucketEnds().at(-1),

    overdueMs() {
      const [first = Number.POSITIVE_INFINITY] = bucketEnds()
      const failed = elapsed() > failing.until ? Number.POSITIVE_INFINITY : failing.at
      return Math.max(0, now().getTime() - Math.min(first, failed))
    },

    async list() {
      const unhandled = await lag().catch(() => undefined)
      const hold = time() === undefined ? 'clock' : (unhandled ?? 0) > firedBetween ? 'lag' : undefined
      const hasEnded = (lane: number, stored: Lane) =>
        stored.by === '' || (stored.by !== own.id()?.by && beats.silentMs(lane, stored) >= silentMs)
      return { ...(await readIndex({ read, scan, hasEnded })), now: time() ?? now().getTime(), hold, unhandled }
    },
  }
}
