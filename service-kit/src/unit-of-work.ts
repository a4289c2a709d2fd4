import { setTimeout as delay } from 'node:timers/promises'
import { type ArrivalList, type ListDraft, listRootKey } from './arrival-list.ts'
import { createBatcher, type Settled } from './batcher.ts'
import { isRefusal, type Sidecar, SidecarError, type StoredDocument, type Write } from './sidecar.ts'

/** What a piece of work sees of the store: the documents it named, as the work before it in the batch left them. */
export interface View {
  get<T>(key: string): T | undefined
  /** Writes the document; the last writer wins. For facts, of which every writer writes the same. */
  overwrite(key: string, value: unknown): void
  /** Writes the document unless somebody else has since it was read: then the work runs again on what is there. */
  writeIfUnchanged(key: string, value: unknown): void
  /** Puts an id at the newest end of the service's list. Answers its place, to be kept in the document as `listed`. */
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

const maxAttempts = 8
const limits = { maxItems: 500, maxBytes: 4 * 1024 * 1024, maxWaiting: 10_000 }

/**
 * Reads, decides and writes in batches: all that is asked for at the same time shares one bulk read and one
 * transaction. A `decide` that throws fails alone; a store that fails, fails the batch (`SidecarError`).
 */
export function createUnitOfWork(sidecar: Sidecar, list: ArrivalList): UnitOfWork {
  async function flush(works: Work<unknown>[]): Promise<Settled<unknown>[]> {
    const keys = [...new Set([listRootKey, ...works.flatMap((work) => work.keys)])]
    for (let attempt = 1; ; attempt += 1) {
      const read = await sidecar.read(keys)
      const draft = list.draft(read.get(listRootKey)?.value)
      const stage = new Stage(read, draft)
      const results = works.map((work) => stage.run(work))
      const writes = stage.writes()
      if (writes.length === 0) return results
      try {
        await sidecar.transact(writes)
        await confirm(sidecar, writes, draft)
        draft.committed()
        return results
      } catch (error) {
        list.forget()
        const raced = error instanceof SidecarError && error.failure === 'conflict'
        if (!raced || attempt === maxAttempts) throw error
        await delay(Math.random() * 10 * attempt)
      }
    }
  }
  const commit = createBatcher({ flush, isRefusal, sizeOf: (work: Work<unknown>) => work.bytes, ...limits })
  return <R>(work: Work<R>) => commit(work) as Promise<R>
}

/**
 * Reads back what was written. The MongoDB component swallows a failed commit (components-contrib, state/mongodb,
 * Multi), so a transaction counts only once it can be seen. A list chunk is proof enough: nobody else writes it.
 * Another writer may have stored the same in any other document, so without a chunk all must be there.
 */
async function confirm(sidecar: Sidecar, writes: Write[], draft: ListDraft): Promise<void> {
  const chunk = draft.documents()[0]?.key
  const expected = chunk ? writes.filter(({ key }) => key === chunk) : writes
  const stored = await sidecar.read(expected.map(({ key }) => key))
  const missing = expected.find(({ key, value }) => JSON.stringify(stored.get(key)?.value) !== value)
  if (missing) throw new SidecarError('write state', `${missing.key} does not hold what was written`, 'conflict')
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
    const write = (key: string, value: unknown, guarded: boolean) => {
      own.set(key, staged(value, guarded || (current(key)?.guarded ?? false)))
    }
    try {
      const value = work.decide({
        get: <T>(key: string) => (current(key) ?? this.#read.get(key))?.value as T | undefined,
        overwrite: (key, document) => write(key, document, false),
        writeIfUnchanged: (key, document) => write(key, document, true),
        list: (id) => this.#draft.append(id),
      })
      for (const [key, document] of own) this.#staged.set(key, document)
      return { ok: true, value }
    } catch (error) {
      return { ok: false, error }
    }
  }

  writes(): Write[] {
    for (const { key, value, guarded } of this.#draft.documents()) this.#staged.set(key, staged(value, guarded))
    return [...this.#staged].map(([key, { text, guarded }]) => {
      const etag = this.#read.get(key)?.etag
      return { key, value: text, ...(guarded && { guard: etag ? { etag } : ('absent' as const) }) }
    })
  }
}
