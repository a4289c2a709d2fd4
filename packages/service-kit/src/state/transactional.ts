import { setTimeout as delay } from 'node:timers/promises'
import type { QueueWatch, Settled } from '../sidecar/batcher.ts'
import { isConflict, type Sidecar, type StoredDocument, type Write } from '../sidecar/sidecar.ts'
import { addMissing, addMissingInBulk } from './absence.ts'
import type { ArrivalLists } from './arrival-lists.ts'
import { batched, maxAttempts } from './batched.ts'
import { askedOneByOneFrom, decideAll, guardOf } from './stage.ts'
import { keysOf, spacesOf, type UnitOfWork, type Work } from './work.ts'

/**
 * Every transaction writes this document. Invariant: while it is as it was read, nobody else has written anything. So its guard is
 * enough for all documents that were read with it, and a guard costs the store four times a plain write (docs/adr/0009). It is
 * read first, lest one of them change in between.
 */
const fenceKey = 'fence'
/** For so long after a lost race each document is guarded by itself: by the fence alone, replicas would take turns. */
const cautiousMs = 10_000
const maxItems = 500
/**
 * A write of a new document must make sure that the bulk read did not leave it out. Guarding it costs 150 µs; reading again costs a round
 * trip and 15 µs a document (measured on SQLite, docs/adr/0017). So up to this many new documents are guarded, and more are read again.
 */
const maxGuarded = 4

/**
 * For a store of this machine, where documents cost less together than one by one: all works of a batch share a bulk read and a
 * transaction, one batch at a time.
 */
export function createTransactional(sidecar: Sidecar, lists: ArrivalLists, watch?: QueueWatch): UnitOfWork {
  /** The faster writer has its next write begun by then, or has none. */
  const backoffMs = sidecar.writeIntervalMs / 2
  let cautiousUntil = Number.NEGATIVE_INFINITY

  async function flush(works: Work<unknown>[]): Promise<Settled<unknown>[]> {
    for (let attempt = 1; ; attempt += 1) {
      const isAlone = performance.now() > cautiousUntil
      const list = lists(spacesOf(works))
      const watched = list.watched()
      const asked = works.flatMap(keysOf)
      const read = await sidecar.read([...new Set([fenceKey, ...watched.keys, ...asked])])
      const created = new Set(works.map(({ key }) => key).filter((key) => !read.has(key)))
      const isEachGuarded = created.size <= maxGuarded
      if (attempt >= askedOneByOneFrom) await addMissing(sidecar, read, [fenceKey, ...asked])
      else if (isAlone && !isEachGuarded) await addMissingInBulk(sidecar, read, created)
      watched.check(read)
      await list.open((keys) => sidecar.read(keys))
      const { results, writes: documents, draft } = await decideAll(works, read, list, sidecar)
      if (documents.length === 0) return results
      const fence = fenceOf(read, isAlone)
      // A chunk that is begun was not read with the fence, so it keeps its guard.
      const needsGuard = ({ guard }: Write) => !isAlone || (isEachGuarded && guard === 'absent')
      const guarded = documents.map((write) => (needsGuard(write) ? write : unguarded(write)))
      const writes = [fence, ...guarded, ...draft.writes()]
      try {
        await sidecar.transact(writes)
        draft.stored()
        return results
      } catch (error) {
        list.leave()
        if (isConflict(error)) cautiousUntil = performance.now() + cautiousMs
        if (!isConflict(error) || attempt === maxAttempts) throw error
        await delay(Math.random() * backoffMs * attempt)
      }
    }
  }
  return batched(flush, { maxItems, minIntervalMs: sidecar.writeIntervalMs, watch })
}

/** Returns the write of the fence, which is guarded while this writer seems to be alone. */
function fenceOf(read: Map<string, StoredDocument>, isGuarded: boolean): Write {
  return { key: fenceKey, value: 'true', ...(isGuarded && { guard: guardOf(read, fenceKey) }) }
}

/** The fence is guard enough for a document that was read, and for one that is certainly absent. */
const unguarded = ({ key, value }: Write): Write => ({ key, value })
