import { setTimeout as delay } from 'node:timers/promises'
import type { QueueWatch, Settled } from '../sidecar/batcher.ts'
import {
  addMissing,
  addMissingInBulk,
  isConflict,
  type Sidecar,
  type StoredDocument,
  type Write,
} from '../sidecar/sidecar.ts'
import type { ArrivalLists } from './arrival-list.ts'
import {
  askedOneByOneFrom,
  batched,
  decideAll,
  guardOf,
  keysOf,
  maxAttempts,
  type UnitOfWork,
  type Work,
} from './batch.ts'

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
