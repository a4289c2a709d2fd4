import { setTimeout as delay } from 'node:timers/promises'
import type { QueueWatch, Settled } from '../sidecar/batcher.ts'
import { isRefusal, type Sidecar, type Write } from '../sidecar/sidecar.ts'
import { addMissing } from './absence.ts'
import type { ArrivalLists } from './arrival-lists.ts'
import { batched, maxAttempts } from './batched.ts'
import { askedOneByOneFrom, decideAll } from './stage.ts'
import { keysOf, spacesOf, type UnitOfWork, type Work } from './work.ts'

const maxItems = 200
/** Batches that wait for the store at the same time: what one costs is round trips, and hardly any work. */
const maxInFlight = 4

type Results = Map<Work<unknown>, Settled<unknown>>

/**
 * For a store across a network, where round trips cost and replicas must not take turns: each document is saved by itself, on condition
 * that it is as it was read, and all of a batch in one bulk save. Nothing is written that replicas share (docs/adr/0017).
 */
export function createIndependent(sidecar: Sidecar, lists: ArrivalLists, watch?: QueueWatch): UnitOfWork {
  /** Whoever was faster has its write done by then. */
  const backoffMs = sidecar.writeIntervalMs / 2
  let listed: Promise<unknown> = Promise.resolve()
  /** One draft of the list after the other: its chunk is stored before the next one goes on from there. */
  function alone<R>(run: () => Promise<R>): Promise<R> {
    const result = listed.then(run)
    listed = result.catch(() => {})
    return result
  }

  /** Decides all works and stores what they list. Answers what is left to be saved, and what went wrong with the list. */
  async function decide(
    works: Work<unknown>[],
    results: Results,
    attempt: number,
  ): Promise<{ writes: Write[]; error: unknown }> {
    const list = lists(spacesOf(works))
    const watched = list.watched()
    const asked = works.flatMap(keysOf)
    const read = await sidecar.read([...new Set([...watched.keys, ...asked])])
    if (attempt >= askedOneByOneFrom) await addMissing(sidecar, read, asked)
    return alone(async () => {
      watched.check(read)
      await list.open((keys) => sidecar.read(keys))
      const decided = await decideAll(works, read, list, sidecar)
      for (const [index, work] of works.entries()) results.set(work, decided.results[index] as Settled<unknown>)
      // Before the documents that name it: a crash in between leaves slots without documents, which readers pass over.
      const error = await save(decided.draft.writes())
      if (error) list.leave()
      else decided.draft.stored()
      return { writes: decided.writes, error }
    })
  }

  /** Answers the error, if there was one. */
  async function save(writes: Write[]): Promise<unknown> {
    if (writes.length === 0) return undefined
    return sidecar.save(writes).catch((error: unknown) => error)
  }

  /** The keys of the writes that did not happen. A bulk save that fails does not tell which, and all others did. */
  async function missingOf(writes: Write[]): Promise<Set<string>> {
    const stored = await sidecar.read(writes.map(({ key }) => key))
    const missing = writes.filter(({ key, value }) => JSON.stringify(stored.get(key)?.value) !== value)
    return new Set(missing.map(({ key }) => key))
  }

  async function settle(works: Work<unknown>[], results: Results): Promise<void> {
    let open = works
    for (let attempt = 1; ; attempt += 1) {
      const decided = await decide(open, results, attempt)
      const error = decided.error ?? (await save(decided.writes))
      if (!error) return
      if (!decided.error) {
        const missing = await missingOf(decided.writes)
        // Whoever saw what another work of the batch left stands and falls with it, also when it wrote nothing, or threw.
        open = open.filter((work) => keysOf(work).some((key) => missing.has(key)))
      }
      if (open.length === 0) return
      if (isRefusal(error) && open.length > 1) {
        const half = Math.ceil(open.length / 2)
        await settle(open.slice(0, half), results)
        return settle(open.slice(half), results)
      }
      if (isRefusal(error) || attempt === maxAttempts) {
        for (const work of open) results.set(work, { ok: false, error })
        return
      }
      await delay(Math.random() * backoffMs * attempt)
    }
  }

  async function flush(works: Work<unknown>[]): Promise<Settled<unknown>[]> {
    const results: Results = new Map()
    await settle(works, results)
    return works.map((work) => results.get(work) as Settled<unknown>)
  }

  return batched(flush, { maxItems, minIntervalMs: sidecar.writeIntervalMs, maxInFlight, watch })
}
