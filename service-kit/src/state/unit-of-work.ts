import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createBatcher, type Settled } from '../sidecar/batcher.ts'
import { isRefusal, type Sidecar, SidecarError, type StoredDocument, type Write } from '../sidecar/sidecar.ts'
import { type ArrivalList, type ListDraft, listRootKey } from './arrival-list.ts'

/** What a piece of work sees of the store: the documents it named, as the work before it in the batch left them. */
export interface View {
  get<T>(key: string): T | undefined
  /** Writes the document unless somebody else has since it was read: then the work runs again on what is there. */
  write(key: string, value: unknown): void
  /** Puts an id at the newest end of the service's list. Answers its slot, to be kept in the document as `listed`. */
  list(id: string): string
}

/** `decide` is pure but for its view: it runs again whenever another writer was faster. */
export interface Work<R> {
  keys: string[]
  /** Bytes this work is about to write, roughly. */
  bytes: number
  decide: (view: View) => R
}

export type UnitOfWork = <R>(work: Work<R>) => Promise<R>

/**
 * Every transaction writes this document. Invariant: while it is as it was read, nobody else has written anything. So its guard is
 * enough for all other documents of the transaction, and a guard costs the store four times a plain write (docs/adr/0009).
 *
 * It is read first. MongoDB reads in the order of keys and not at one moment; a fence read after a document would not tell that
 * the document had changed in between. Hence its name, which sorts before all others.
 */
const fenceKey = 'fence'
/** For so long after a lost race each document is guarded by itself: by the fence alone, replicas would take turns. */
const cautiousMs = 10_000
const maxAttempts = 8
const limits = { maxItems: 500, maxBytes: 4 * 1024 * 1024, maxWaiting: 10_000 }

/**
 * Reads, decides and writes in batches: all that is asked for at the same time shares one bulk read and one
 * transaction. A `decide` that throws fails alone; a store that fails, fails the batch (`SidecarError`).
 */
export function createUnitOfWork(sidecar: Sidecar, list: ArrivalList): UnitOfWork {
  /** The faster writer has its next write begun by then, or has none. */
  const backoffMs = sidecar.writeIntervalMs / 2
  let cautiousUntil = Number.NEGATIVE_INFINITY

  async function flush(works: Work<unknown>[]): Promise<Settled<unknown>[]> {
    const keys = [...new Set([fenceKey, listRootKey, ...works.flatMap((work) => work.keys)])]
    for (let attempt = 1; ; attempt += 1) {
      const read = await sidecar.read(keys)
      const draft = list.draft(read.get(listRootKey)?.value)
      const stage = new Stage(read, draft)
      const results = works.map((work) => stage.run(work))
      const isAlone = performance.now() > cautiousUntil
      const writes = stage.writes(isAlone)
      if (!writes) return results
      try {
        await sidecar.transact(writes)
        await confirm(sidecar, writes)
        draft.written()
        return results
      } catch (error) {
        list.forget()
        const raced = error instanceof SidecarError && error.failure === 'conflict'
        if (raced) cautiousUntil = performance.now() + cautiousMs
        if (!raced || attempt === maxAttempts) throw error
        await delay(Math.random() * backoffMs * attempt)
      }
    }
  }
  const pace = { minIntervalMs: sidecar.writeIntervalMs }
  const queue = createBatcher({ flush, isRefusal, sizeOf: (work: Work<unknown>) => work.bytes, ...limits, ...pace })
  return <R>(work: Work<R>) => queue(work) as Promise<R>
}

/**
 * Reads back what was written. The MongoDB component swallows a failed commit (components-contrib, state/mongodb,
 * Multi), so a transaction counts only once it can be seen. The fence is proof enough, as nobody else writes the same there;
 * when another writer has passed it since, everything must be there.
 */
async function confirm(sidecar: Sidecar, [fence, ...documents]: [Write, ...Write[]]): Promise<void> {
  const missing = (await firstMissing(sidecar, [fence])) && (await firstMissing(sidecar, documents))
  if (missing) throw new SidecarError('write state', `${missing.key} does not hold what was written`, 'conflict')
}

async function firstMissing(sidecar: Sidecar, writes: Write[]): Promise<Write | undefined> {
  const stored = await sidecar.read(writes.map(({ key }) => key))
  return writes.find(({ key, value }) => JSON.stringify(stored.get(key)?.value) !== value)
}

interface Staged {
  value: unknown
  text: string
  guarded: boolean
}

/** Serialising here lets a document that cannot be (nested too deep) fail its own work, not the batch. */
function staged(value: unknown, guarded: boolean): Staged {
  return { value, text: JSON.stringify(value), guarded }
}

/** The writes of a batch as they build up over what was read. */
class Stage {
  readonly #read: Map<string, StoredDocument>
  readonly #draft: ListDraft
  readonly #staged = new Map<string, Staged>()

  constructor(read: Map<string, StoredDocument>, draft: ListDraft) {
    this.#read = read
    this.#draft = draft
  }

  /** Runs one work; what it wrote before it threw is dropped. */
  run<R>(work: Work<R>): Settled<R> {
    const own = new Map<string, Staged>()
    const current = (key: string) => own.get(key) ?? this.#staged.get(key)
    try {
      const value = work.decide({
        get: <T>(key: string) => (current(key) ?? this.#read.get(key))?.value as T | undefined,
        write: (key, document) => void own.set(key, staged(document, true)),
        list: (id) => this.#draft.append(id),
      })
      for (const [key, document] of own) this.#staged.set(key, document)
      return { ok: true, value }
    } catch (error) {
      return { ok: false, error }
    }
  }

  /**
   * All that is to be written, the fence first; undefined when nothing is. The guard is on the fence when this writer seems
   * to be alone, else on each document that asks for one.
   */
  writes(isAlone: boolean): [Write, ...Write[]] | undefined {
    for (const { key, value, guarded } of this.#draft.documents()) this.#staged.set(key, staged(value, guarded))
    if (this.#staged.size === 0) return undefined
    const write = (key: string, text: string, guarded: boolean): Write => {
      const etag = this.#read.get(key)?.etag
      return { key, value: text, ...(guarded && { guard: etag ? { etag } : ('absent' as const) }) }
    }
    const documents = [...this.#staged].map(([key, { text, guarded }]) => write(key, text, guarded && !isAlone))
    return [write(fenceKey, JSON.stringify(randomUUID()), isAlone), ...documents]
  }
}
