import { isDeepStrictEqual } from 'node:util'
import { type LogRecord, whereIs } from '@orderflow/kafka-log'
import { isConflict, type Sidecar } from '../../sidecar/sidecar.ts'
import { isBehind, noMark, type PositionMark, readMark, type StoredMark, writeMark } from '../../state/position-mark.ts'
import type { StoreComparison } from '../../state/store-watch.ts'
import { evidenceOf } from '../../stream/consuming/event-handler.ts'
import type { Rejections } from '../../stream/dead-letters/rejections.ts'
import { createEffects, createSequence, type EffectsOptions, type Sequence } from '../dry-run/stored-effects.ts'
import type { Handled, HandledLog } from './handled-log.ts'

export interface LostWritesOptions extends EffectsOptions {
  app: string
  /** The real sidecar, whose calls never wait for a comparison. */
  sidecar: Sidecar
  /** A text that changes with the service's code. */
  code: () => string
  /** The form that the documents must have; undefined if the service reads all forms. */
  form?: () => string | undefined
  now: () => Date
  withLog: <Result>(work: (log: HandledLog) => Promise<Result>) => Promise<Result>
}

/** The number of events of each partition that are compared if the store has no mark. */
const sampleSize = 20n
/** The number of attempts if others write the mark during a comparison. */
const maxAttempts = 4
/** The number of events that are compared at the same time. */
const sliceSize = 500
/** The time for which only one version must have written the mark. Replicas that handle events write it every five seconds. */
const settleMs = 10_000
/** The time after the last mark of other code in which each replica updates the mark, also without events. The other code may handle events after its last mark. */
const observeMs = 2 * settleMs
/** The age of a mark after which another version may have handled events, without a mark of its own. */
const freshMs = 10 * 60_000

/**
 * Compares a store with the log. The store has a mark with the positions up to which events were handled. A service repeats all later events of its
 * consumer group with the reactions of its rebuild, but without writing. If an event would change a document, the store lost this change
 * (docs/adr/0056).
 */
export function createLostWrites(options: LostWritesOptions): StoreComparison {
  const { sidecar, withLog, app, now } = options
  let known: PositionMark | undefined
  let server: string | undefined
  const reasonAt = (position: string) =>
    `the store lacks the effects of handled events, such as ${position}: it lost acknowledged writes, or is another store; ` +
    `run make rebuild SERVICE=${app} (docs/runbook.md#the-store-lost-writes)`

  /** Returns the reason if an earlier release, whose documents this one cannot read, perhaps handled events. A lost mark leaves no other evidence. */
  function outdated(mark: PositionMark | undefined, extents: readonly Handled[]): string | undefined {
    const form = options.form?.()
    if (form === undefined || mark?.form === form || extents.every(({ start, end }) => start === end)) return undefined
    const has = mark ? 'has' : 'lost its documents, or has'
    const rebuild = `run make rebuild SERVICE=${app} (docs/upgrade.md#documents-of-entities)`
    return `the store ${has} documents in the form of an earlier release; ${rebuild}`
  }

  async function markOf(extents: readonly Handled[], stored: StoredMark) {
    const { mark } = stored
    const handled = Object.fromEntries(extents.map((each) => [keyOf(each), String(each.end)]))
    // A partition whose handled part is unknown keeps its position.
    const positions = { ...mark?.positions, ...handled }
    const [code, at] = [options.code(), now().getTime()]
    const isNew = mark === undefined && extents.every(({ start, end }) => start === end)
    // A version without marks may still handle events in a rolling upgrade. A clock that was ahead must not delay comparisons for long.
    const latest = at + freshMs
    const since = mark === undefined ? (isNew ? 0 : latest) : mark.code === code ? Math.min(mark.since, latest) : at
    const form = options.form?.()
    const next: PositionMark = { positions, code, since, at, ...(form !== undefined && { form }) }
    // Replicas that start together need not all write the same mark.
    const isSame = mark !== undefined && isFresh(mark, now()) && isDeepStrictEqual({ ...next, at: mark.at }, mark)
    if (!isSame) await writeMark(sidecar, next, stored)
    known = next
  }

  /** Writes the mark after a comparison. Returns the reason if another replica found a loss meanwhile. */
  async function markComplete(...[extents, stored]: Parameters<typeof markOf>): Promise<string | undefined> {
    try {
      await markOf(extents, stored)
      return undefined
    } catch (error) {
      const { mark } = await readMark(sidecar)
      // An older mark is from an older copy of the store, which must be compared.
      if (!isConflict(error) || isBehind(mark, stored.mark)) throw error
      // Busy replicas write the mark more often than a long comparison ends. Their mark is complete, too.
      known = mark
      return mark?.lost
    }
  }

  async function compareOnce(): Promise<string | undefined> {
    const current = await sidecar.storeServer()
    const stored = await readMark(sidecar)
    if (stored.mark?.lost !== undefined) return stored.mark.lost
    return await withLog(async (log) => {
      const extents = await log.extents()
      const old = outdated(stored.mark, extents)
      if (old !== undefined) {
        await writeMark(sidecar, { ...(stored.mark ?? noMark), lost: old }, stored)
        return old
      }
      const rule = ruleFor(stored.mark, options, known !== undefined)
      const lost = rule && (await firstLost(options, log, extents, { mark: stored.mark, known, rule }))
      sidecar.requireServer(current)
      server = current
      if (lost === undefined) return await markComplete(extents, stored)
      await writeMark(sidecar, { ...(stored.mark ?? noMark), lost: reasonAt(lost) }, stored)
      return reasonAt(lost)
    })
  }

  return {
    async compare() {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await compareOnce()
        } catch (error) {
          // The mark changed after a rebuild, or in another copy of the store.
          if (!isConflict(error) || attempt === maxAttempts) throw error
        }
      }
    },

    remember: async (isChanged) => {
      const current = await sidecar.storeServer()
      const stored = await readMark(sidecar)
      const isSuspect = stored.mark?.lost !== undefined || isBehind(stored.mark, known)
      if (isSuspect || current !== server) return 'suspect'
      known = stored.mark
      if (isChanged || !isOnlyWriter(stored.mark, options, observeMs))
        await withLog(async (log) => markOf(await log.extents(), stored))
      return undefined
    },
  }
}

const isFresh = ({ at }: PositionMark, now: Date) => Math.abs(now.getTime() - at) < freshMs

const keyOf = ({ topic, partition }: Pick<Handled, 'topic' | 'partition'>) => `${topic}/${partition}`

/**
 * The effects that a store cannot lack unless it lost writes:
 * - `changes`: the same code handled all events since the mark, so no event may change a document;
 * - `documents`: other code without marks may have handled some of these events, so only a missing document is a loss;
 * - `all`: other code handled the events, and the store has no mark. So it is a loss only if all documents of the last events are missing.
 */
type Rule = 'changes' | 'documents' | 'all'

/**
 * Returns undefined if the events cannot be compared, because other code may have written other documents. In a rolling restart, replicas with different
 * code write the mark in turn.
 */
function ruleFor(mark: PositionMark | undefined, options: LostWritesOptions, hasCompared: boolean): Rule | undefined {
  if (mark === undefined) return 'all'
  if (!isOnlyWriter(mark, options, settleMs)) return undefined
  return hasCompared || isFresh(mark, options.now()) ? 'changes' : 'documents'
}

/** Returns true if only this code wrote the mark in the last `ms` milliseconds. */
const isOnlyWriter = (mark: PositionMark | undefined, { code, now }: LostWritesOptions, ms: number): boolean =>
  mark?.code === code() && now().getTime() - mark.since >= ms

/** `known` is the last mark that this process read or wrote before the comparison. */
type Basis = { mark: PositionMark | undefined; known: PositionMark | undefined; rule: Rule }

/** Returns the position of an event whose effects the store lacks; undefined if there is none. */
async function firstLost(options: LostWritesOptions, log: HandledLog, extents: readonly Handled[], basis: Basis) {
  const { rule } = basis
  const effectsOf = createEffects(options)
  const firstAccepted = createFilter(log)
  const missing: LogRecord[] = []
  for (const extent of extents) {
    const part = partOf(extent, basis)
    const firstOutdated = createSequences(options, log, part, firstAccepted)
    for await (const records of log.read(part)) {
      for (let from = 0; from < records.length; from += sliceSize) {
        const slice = records.slice(from, from + sliceSize)
        const effects = await Promise.all(slice.map((record) => effectsOf(record.topic, evidenceOf(record), record)))
        const lacking = slice.filter((_, index) => !effects[index]?.isKnown && effects[index]?.writes.length)
        if (rule === 'all') {
          if (effects.some(({ isKnown }) => isKnown)) return undefined
          for (const record of lacking) missing.push(record)
          continue
        }
        const changed = rule === 'changes' ? slice.filter((_, index) => effects[index]?.writes.length) : []
        const lost = (await firstAccepted(lacking)) ?? (await firstOutdated(changed))
        if (lost !== undefined) return lost
      }
    }
  }
  return await firstAccepted(missing)
}

/** Returns the part of a partition to compare. */
function partOf(extent: Handled, { mark, known, rule }: Basis): Handled {
  const positionIn = (from: PositionMark | undefined) => BigInt(from?.positions[keyOf(extent)] ?? 0)
  // If the mark disappeared, another replica may have stored later events after the loss.
  const end = rule === 'all' && known ? least(extent.end, positionIn(known)) : extent.end
  // Another replica may have moved the mark after a loss that only this replica suspects.
  const isKnown = known?.since === mark?.since && known?.positions[keyOf(extent)] !== undefined
  const moved = isKnown ? least(positionIn(mark), positionIn(known)) : positionIn(mark)
  const start = rule === 'all' ? end - sampleSize : moved
  return { ...extent, start: start > extent.start ? start : extent.start, end }
}

const least = (one: bigint, other: bigint) => (one < other ? one : other)

/** Returns a function that returns the position of the first record that the service did not reject. Only records that it gets cause a read. */
function createFilter(log: HandledLog): (records: readonly LogRecord[]) => Promise<string | undefined> {
  const known = new Map<string, Pick<Rejections, 'reasonOf'>>()
  return async (records) => {
    for (const record of records) {
      const rejections = known.get(record.topic) ?? (await log.rejections(record.topic))
      known.set(record.topic, rejections)
      if (rejections.reasonOf(record) === undefined) return whereIs(record)
    }
    return undefined
  }
}

/**
 * Returns a function that returns the position of the first record whose change the store lacks. A later record of the same key may have changed the
 * document again. It may be handled already, although the group's position is before it. So the function also repeats later records of these keys.
 */
function createSequences(
  options: EffectsOptions,
  log: HandledLog,
  part: Handled,
  firstAccepted: ReturnType<typeof createFilter>,
): (changed: readonly LogRecord[]) => Promise<string | undefined> {
  const complete = new Set<string>()
  // Records without a key are treated as records of one key, because their usual sequence is that of the log.
  const textOf = (key: LogRecord['key']) => key?.toString('latin1') ?? ''

  async function handle(sequence: Sequence, record: LogRecord): Promise<void> {
    if ((await firstAccepted([record])) !== undefined) await sequence.handle(record.topic, evidenceOf(record), record)
  }

  return async (changed) => {
    const open = new Map<string, { sequence: Sequence; first: LogRecord }>()
    for (const record of changed) {
      const key = textOf(record.key)
      if (complete.has(key) || open.has(key) || (await firstAccepted([record])) === undefined) continue
      const sequence = createSequence(options)
      await handle(sequence, record)
      open.set(key, { sequence, first: record })
    }
    const [begin] = open.values()
    if (!begin) return undefined
    // The documents were read before the end of the log, so all their events are before it.
    const isSame = ({ topic, partition }: Handled) => topic === part.topic && partition === part.partition
    const end = (await log.extents()).find(isSame)?.logEnd ?? part.end
    for await (const records of log.read({ ...part, start: begin.first.offset + 1n, end })) {
      for (const record of records) {
        const key = textOf(record.key)
        const { sequence, first } = open.get(key) ?? {}
        if (!sequence || !first || record.offset <= first.offset) continue
        if (record.offset < part.end || !sequence.isStored()) await handle(sequence, record)
        else if (open.delete(key)) complete.add(key)
      }
    }
    for (const [key, { sequence, first }] of open) {
      if (!sequence.isStored()) return whereIs(first)
      complete.add(key)
    }
    return undefined
  }
}
