import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { remembered } from '../remembered.ts'
import { type BatcherOptions, createBatcher, type QueueWatch, type Settled } from '../sidecar/batcher.ts'
import { callSidecar } from '../sidecar/handler-time.ts'
import {
  addMissing,
  addMissingInBulk,
  HeldError,
  isConflict,
  isRefusal,
  type Sidecar,
  SidecarError,
  type Store,
  type StoredDocument,
  type Write,
} from '../sidecar/sidecar.ts'
import type { Run } from '../telemetry/context.ts'
import type { Mark } from './announcing.ts'
import type { ArrivalLists, BatchDraft, BatchLists } from './arrival-list.ts'

/** An operation's view of the store, with the changes of earlier operations of the same batch. */
export interface View {
  get<T>(key: string): T | undefined
  /** Writes the operation's document. If another process changed the document first, the operation runs again. */
  write(value: unknown): void
  /** Appends an id to the list. Returns the id's slot, which the document must store in its field `listed`. */
  list(id: string): string
  /** Returns the mark of an event that the operation stores, and that is announced later (announcing.ts). */
  mark(): Mark
}

/** An operation of a batch. It decides about one document, and may write only this document. */
interface Work<R> {
  key: string
  /** The prefix of the tenant's keys; empty by default. */
  space?: string
  /**
   * The keys of other documents that the operation reads. These documents may change before the write, and a bulk read may leave them out. If an
   * operation writes because such a document is absent, its caller must read the document again afterwards.
   */
  beside?: string[]
  bytes: number
  /** The kind of the operation. While most operations of a kind find their document, it is read first (createIndependent). */
  kind?: string
  /** True if the operation may store events that are announced later (announcing.ts). */
  announces?: boolean
  /** The run to which the operation belongs. If an operation of a run fails, so do its later ones. */
  run?: Run | undefined
  /**
   * Decides and writes. All its effects must go through the view. It must be idempotent, because it runs again after a conflict, and on other
   * replicas.
   */
  decide: (view: View) => R
}

/** Runs an operation. If its `decide` throws, only this operation fails. If the store fails, all operations of the batch fail (`SidecarError`). */
export type UnitOfWork = <R>(work: Work<R>) => Promise<R>

const keysOf = ({ key, beside = [] }: Work<unknown>): string[] => [key, ...beside]

type Strategy = (
  sidecar: Sidecar,
  lists: ArrivalLists,
  watch: QueueWatch | undefined,
  store: Pick<Store, 'choosesEtags'>,
) => UnitOfWork

const strategies: Record<string, Strategy> = {
  'state.sqlite': createTransactional,
  'state.postgresql': createIndependent,
  'state.mongodb': createIndependent,
}

/** Creates the unit of work with the strategy for the store's type. It refuses untested types, which may lose acknowledged writes. */
export function createUnitOfWork(sidecar: Sidecar, lists: ArrivalLists, watch?: QueueWatch): UnitOfWork {
  // Concurrent operations share one strategy.
  const strategy = remembered(async () => {
    const store = await sidecar.store()
    const create = strategies[store.type]
    if (!create) throw new SidecarError('write state', unsuitable(store))
    return create(sidecar, lists, watch, store)
  })
  return async <R>(work: Work<R>) => (await callSidecar(strategy))(work)
}

/** Returns the reason why a store type is unsuitable; undefined for a suitable type. */
export function unsuitable({ type }: Pick<Store, 'type'>): string | undefined {
  if (type in strategies) return undefined
  const tried = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.keys(strategies))
  return `the store type ${type} is not tested with these services; use ${tried}`
}

/** The number of attempts for a batch. After the last attempt the batch fails, and callers may repeat it later. */
const maxAttempts = 8
const limits = { maxBytes: 4 * 1024 * 1024, maxWaiting: 10_000 }

function batched(
  flush: (works: Work<unknown>[]) => Promise<Settled<unknown>[]>,
  pace: Pick<BatcherOptions<unknown, unknown>, 'maxItems' | 'minIntervalMs' | 'maxInFlight' | 'watch'>,
): UnitOfWork {
  const sizeOf = ({ bytes }: Work<unknown>) => bytes
  const keyOf = ({ key }: Work<unknown>) => key
  const onFailure = ({ run }: Work<unknown>) => {
    if (run) run.isBroken = true
  }
  const queue = createBatcher({ flush, isRefusal, sizeOf, keyOf, onFailure, ...limits, ...pace })
  return <R>(work: Work<R>) => queue(work) as Promise<R>
}

/**
 * The key of the fence, a document that every transaction writes. An unchanged fence proves that no other writer has written since the read. So one
 * guard on the fence protects all documents of the read. Guards on all documents would cost four times as much (docs/adr/0017). The fence is read
 * before the documents, so it also protects against changes during the read.
 */
const fenceKey = 'fence'
/** The time for which each document has its own guard after a conflict. If only the fence had a guard, all writes of two replicas would conflict. */
const cautiousMs = 10_000
const transactionItems = 500
/**
 * The largest number of new documents in a batch that get a guard. The guard confirms that a document is absent, because a bulk read may leave out
 * documents. If a batch has more new documents, they are read again instead. docs/adr/0017 compares the costs.
 */
const maxGuarded = 4

/** Creates the unit of work for a local store, where batches are cheap. A batch is one bulk read and one transaction. */
export function createTransactional(sidecar: Sidecar, lists: ArrivalLists, watch?: QueueWatch): UnitOfWork {
  /**
   * The largest delay after the first conflict; it grows with each attempt. During the delay, the faster writer finishes, or begins its next write.
   */
  const backoffMs = sidecar.writeIntervalMs / 2
  let cautiousUntil = Number.NEGATIVE_INFINITY

  async function flush(works: Work<unknown>[]): Promise<Settled<unknown>[]> {
    for (let attempt = 1; ; attempt += 1) {
      const isAlone = performance.now() > cautiousUntil
      const list = lists(works)
      const watched = list.watched(true)
      const asked = works.flatMap(keysOf)
      const read = await sidecar.read([...new Set([fenceKey, ...watched.keys, ...asked])])
      const created = new Set(works.map(({ key }) => key).filter((key) => !read.has(key)))
      const isEachGuarded = created.size <= maxGuarded
      if (attempt >= askedOneByOneFrom) await addMissing(sidecar, read, [fenceKey, ...asked])
      else if (isAlone && !isEachGuarded) await addMissingInBulk(sidecar, read, created)
      watched.check(read)
      await list.open((keys) => sidecar.read(keys))
      const { results, writes: documents, draft } = await decideAll(works, read, list, sidecar)
      const listed = draft.writes()
      if (documents.length + listed.length === 0) return results
      const fence = fenceOf(read, isAlone)
      // The list's writes keep their guards, because a new chunk is not read together with the fence.
      const needsGuard = ({ guard }: Write) => !isAlone || (isEachGuarded && guard === 'absent')
      const guarded = documents.map((write) => (needsGuard(write) ? write : unguarded(write)))
      const writes = [fence, ...guarded, ...listed]
      try {
        await sidecar.transact(writes)
        draft.stored()
        return results
      } catch (error) {
        list.leave(isConflict(error))
        if (isConflict(error)) cautiousUntil = performance.now() + cautiousMs
        if (!isConflict(error) || attempt === maxAttempts) throw error
        await delay(Math.random() * backoffMs * attempt)
      }
    }
  }
  return batched(flush, { maxItems: transactionItems, minIntervalMs: sidecar.writeIntervalMs, watch })
}

/** Returns the write of the fence. It has a guard while this process seems to be the only writer. */
function fenceOf(read: Map<string, StoredDocument>, isGuarded: boolean): Write {
  return { key: fenceKey, value: 'true', ...(isGuarded && { guard: guardOf(read, fenceKey) }) }
}

const unguarded = ({ key, value }: Write): Write => ({ key, value })

const independentItems = 400
/** The number of concurrent batches. Each batch waits for round trips, and takes hardly any processor time. */
const maxInFlight = 4

interface Batch {
  results: Map<Work<unknown>, Settled<unknown>>
  /** The operations whose document existed before the batch. */
  existing: Set<Work<unknown>>
}

/** The outcome of a save: the keys of the documents that were not written, and the error if there are such keys. */
interface Saved {
  error: unknown
  missing: Set<string>
}

const allSaved: Saved = { error: undefined, missing: new Set() }

/**
 * Creates the unit of work for a remote store, where round trips are expensive, and replicas must not make each other wait. A bulk save writes all
 * documents, each with its own guard (docs/adr/0017).
 *
 * If `choosesEtags` is true, batches treat documents as absent without reading them. If a document exists, its guard fails, and its operation runs
 * again with a read. While most documents of a kind of operations exist, batches read them first. Without its etag, a stored document could be the
 * operation's own write or an equal one of an earlier run. Such a store also saves the list together with the documents.
 */
export function createIndependent(
  sidecar: Sidecar,
  lists: ArrivalLists,
  watch: QueueWatch | undefined,
  { choosesEtags }: Pick<Store, 'choosesEtags'>,
): UnitOfWork {
  const backoffMs = sidecar.writeIntervalMs / 2
  /** The kinds of operations whose last documents mostly existed. */
  const updating = new Set<string | undefined>()
  let listed: Promise<unknown> = Promise.resolve()
  /** Runs drafts of the list in sequence, because each draft continues the chunk of the previous draft. */
  function alone<R>(run: () => Promise<R>): Promise<R> {
    const result = listed.then(run)
    listed = result.catch(() => {})
    return result
  }

  /** Runs all operations and saves their writes. */
  async function execute(works: Work<unknown>[], batch: Batch, attempt: number): Promise<Saved> {
    const list = lists(works)
    const isRead = attempt > 1 || !choosesEtags
    const asked = works.filter(({ kind }) => isRead || updating.has(kind)).flatMap(keysOf)
    const watched = list.watched(false)
    const keys = [...new Set([...watched.keys, ...asked])]
    const read = keys.length > 0 ? await sidecar.read(keys) : new Map<string, StoredDocument>()
    if (attempt >= askedOneByOneFrom) await addMissing(sidecar, read, asked)
    for (const work of works) if (read.has(work.key)) batch.existing.add(work)
    const { writes, saved } = await alone(async () => {
      watched.check(read)
      await list.open((keys) => sidecar.read(keys))
      const { results, writes, draft } = await decideAll(works, read, list, sidecar, { isRead })
      for (const [index, work] of works.entries()) batch.results.set(work, results[index] as Settled<unknown>)
      // The list is saved first, or together with the documents. After a crash, it may have slots whose documents are missing. Readers skip such slots.
      const lists = draft.writes()
      const etag = randomUUID()
      const saved = await save(choosesEtags ? [...lists, ...writes] : lists, etag, lists.length).catch((error) => {
        list.leave(false)
        throw error
      })
      const isListed = lists.every(({ key }) => !saved.missing.has(key))
      if (isListed) draft.stored(choosesEtags ? etag : undefined)
      else if (!isRefusal(saved.error)) list.leave(isConflict(saved.error))
      if (choosesEtags) return { writes, saved }
      return { writes, saved: isListed ? undefined : { ...saved, missing: new Set(writes.map(({ key }) => key)) } }
    })
    return saved ?? save(writes, randomUUID())
  }

  /** Saves documents. If the save failed, reads them, because the error does not report which documents were written. */
  async function save(writes: Write[], etag: string, needed = 0): Promise<Saved> {
    if (writes.length === 0) return allSaved
    try {
      await sidecar.save(writes, etag, needed)
      return allSaved
    } catch (error) {
      const stored = await sidecar.read(writes.map(({ key }) => key))
      const isStored = ({ key, value }: Write) =>
        choosesEtags ? stored.get(key)?.etag === etag : JSON.stringify(stored.get(key)?.value) === value
      return { error, missing: new Set(writes.filter((write) => !isStored(write)).map(({ key }) => key)) }
    }
  }

  async function settle(works: Work<unknown>[], batch: Batch): Promise<void> {
    let open = works
    for (let attempt = 1; ; attempt += 1) {
      const { error, missing } = await execute(open, batch, attempt)
      open = affectedBy(open, missing)
      if (open.length === 0) return
      if (isRefusal(error) && open.length > 1) {
        const half = Math.ceil(open.length / 2)
        await settle(open.slice(0, half), batch)
        return settle(open.slice(half), batch)
      }
      if (isRefusal(error) || attempt === maxAttempts) {
        for (const work of open) batch.results.set(work, { ok: false, error })
        return
      }
      await delay(Math.random() * backoffMs * attempt)
    }
  }

  async function flush(works: Work<unknown>[]): Promise<Settled<unknown>[]> {
    const batch: Batch = { results: new Map(), existing: new Set() }
    await settle(works, batch)
    for (const [kind, some] of Map.groupBy(works, ({ kind }) => kind)) {
      if (some.filter((work) => batch.existing.has(work)).length > some.length / 2) updating.add(kind)
      else updating.delete(kind)
    }
    return works.map((work) => batch.results.get(work) as Settled<unknown>)
  }

  return batched(flush, { maxItems: independentItems, minIntervalMs: sidecar.writeIntervalMs, maxInFlight, watch })
}

/**
 * Returns the operations that must run again. An operation must run again if it wrote or read a document whose write failed. All operations of its own
 * document must then run again, too. Otherwise an earlier change of this document would be repeated after a later change.
 */
function affectedBy(works: Work<unknown>[], missing: ReadonlySet<string>): Work<unknown>[] {
  const uncertain = new Set(missing)
  const isAffected = (work: Work<unknown>) => keysOf(work).some((key) => uncertain.has(key))
  for (let before = -1; before < uncertain.size; ) {
    before = uncertain.size
    for (const work of works) if (isAffected(work)) uncertain.add(work.key)
  }
  return works.filter(isAffected)
}

/**
 * The first attempt that reads each missing key alone. At the first conflict, another writer was probably faster. The second conflict may be due to
 * a document that bulk reads leave out.
 */
const askedOneByOneFrom = 3

/** The outcome of a batch. It is valid only if `writes` and the writes of `draft` are stored. */
export interface Decided {
  results: Settled<unknown>[]
  writes: Write[]
  draft: BatchDraft
}

/**
 * Runs operations in sequence. If an operation wrote nothing, the bulk read may have left out its documents. So each of its missing keys is read with
 * a separate call. If one of these documents exists, all operations run again. New documents need no second read, because the guard of the write
 * confirms that they were absent.
 * @param options.isRead false if there was no bulk read, so missing documents are first read in bulk
 */
async function decideAll(
  works: Work<unknown>[],
  read: Map<string, StoredDocument>,
  list: Pick<BatchLists, 'draft'>,
  sidecar: Sidecar,
  { isRead } = { isRead: true },
): Promise<Decided> {
  for (const asked = new Set<string>(); ; ) {
    const draft = list.draft()
    const stage = createStage(read, draft)
    const results = works.map((work) => stage.run(work))
    const open = [...stage.unsure].filter((key) => !asked.has(key))
    if (open.length === 0) return { ...stage.writes(works, results), draft }
    const found = isRead ? new Map<string, StoredDocument>() : await sidecar.read(open)
    await addMissing(sidecar, found, open)
    if (found.size === 0) return { ...stage.writes(works, results), draft }
    for (const key of open) asked.add(key)
    for (const [key, document] of found) read.set(key, document)
  }
}

function createStage(read: Map<string, StoredDocument>, draft: BatchDraft) {
  const staged = new Map<string, { value: unknown }>()
  const unsure = new Set<string>()
  const broken = new Set<Run>()

  /** Runs one operation. If the operation throws, its writes are dropped. */
  function run<R>(work: Work<R>): Settled<R> {
    let own: { value: unknown } | undefined
    const current = (key: string) => (key === work.key && own) || staged.get(key) || read.get(key)
    const view: View = {
      get: <T>(key: string) => current(key)?.value as T | undefined,
      write: (document) => {
        own = { value: document }
      },
      list: (id) => draft.append(work.space ?? '', id),
      mark: () => draft.mark(),
    }
    const isHeld = work.run && (work.run.isBroken || broken.has(work.run))
    const result: Settled<R> = isHeld ? { ok: false, error: new HeldError() } : settled(() => work.decide(view))
    if (!result.ok && work.run) broken.add(work.run)
    if (result.ok && own) staged.set(work.key, own)
    else for (const key of keysOf(work)) if (!current(key)) unsure.add(key)
    return result
  }

  /**
   * Returns the writes, and the results. If a document cannot be written as JSON, for example because it nests too deep, all operations on this document fail.
   */
  function writes(works: Work<unknown>[], results: Settled<unknown>[]): Pick<Decided, 'writes' | 'results'> {
    const written: Write[] = []
    const failures = new Map<string, Settled<unknown>>()
    for (const [key, { value }] of staged) {
      const text = settled(() => JSON.stringify(value))
      if (text.ok) written.push({ key, value: text.value, guard: guardOf(read, key) })
      else failures.set(key, text)
    }
    return {
      writes: written,
      results: works.map(({ key }, index) => failures.get(key) ?? (results[index] as Settled<unknown>)),
    }
  }

  return { run, unsure, writes }
}

function guardOf(read: Map<string, StoredDocument>, key: string): NonNullable<Write['guard']> {
  const etag = read.get(key)?.etag
  return etag ? { etag } : 'absent'
}

function settled<R>(run: () => R): Settled<R> {
  try {
    return { ok: true, value: run() }
  } catch (error) {
    return { ok: false, error }
  }
}
