import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { QueueWatch, Settled } from '../sidecar/batcher.ts'
import {
  addMissing,
  isConflict,
  isRefusal,
  type Sidecar,
  type Store,
  type StoredDocument,
  type Write,
} from '../sidecar/sidecar.ts'
import type { ArrivalLists } from './arrival-list.ts'
import { askedOneByOneFrom, batched, decideAll, keysOf, maxAttempts, type UnitOfWork, type Work } from './batch.ts'

const independentItems = 400
/** The number of concurrent batches. Each batch waits for round trips, and takes hardly any processor time. */
const maxInFlight = 4

interface Batch {
  results: Map<Work<unknown>, Settled<unknown>>
  /** The operations whose document existed before the batch. */
  existing: Set<Work<unknown>>
}

/** The outcome of a save: the keys of the documents that were not written, and the error if there are such keys. */
type Saved = { error: unknown; missing: Set<string> }

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
      const { results, writes, draft } = await decideAll(works, read, list, sidecar, isRead)
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
      // Operations that only change the list have no documents.
      if (!isListed) return { writes, saved: { ...saved, missing: new Set(works.map(({ key }) => key)) } }
      return { writes, saved: choosesEtags ? saved : undefined }
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
