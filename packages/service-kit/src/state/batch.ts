import { type BatcherOptions, createBatcher, type Settled } from '../sidecar/batcher.ts'
import { addMissing, HeldError, isRefusal, type Sidecar, type StoredDocument, type Write } from '../sidecar/sidecar.ts'
import type { Run } from '../telemetry/context.ts'
import type { BatchDraft, BatchLists } from './arrival-list.ts'
import type { DueEntry } from './deadlines/lanes.ts'
import type { Mark } from './registers.ts'

/** An operation's view of the store, with the changes of earlier operations of the same batch. */
export interface View {
  get<T>(key: string): T | undefined
  /** Writes the operation's document. If another process changed the document first, the operation runs again. */
  write(value: unknown): void
  /** Appends an id to the list. Returns the id's slot, which the document must store in its field `listed`. */
  list(id: string): string
  /** Returns the mark of an event that the operation stores, and that is announced later (announcing.ts). */
  mark(): Mark
  /**
   * Adds a deadline to the index (deadlines/lanes.ts). The operation must have `arms`.
   * @param notBefore the earliest time at which it is read, in milliseconds since 1970
   */
  arm(entry: DueEntry, notBefore?: number): void
}

/** An operation of a batch. It decides about one document, and may write only this document. */
export interface Work<R> {
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
  /** True if the operation may add deadlines to the index (deadlines/lanes.ts). */
  arms?: boolean
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

export const keysOf = ({ key, beside = [] }: Work<unknown>): string[] => [key, ...beside]

/** The number of attempts for a batch. After the last attempt the batch fails, and callers may repeat it later. */
export const maxAttempts = 8
const limits = { maxBytes: 4 * 1024 * 1024, maxWaiting: 10_000 }

export function batched(
  flush: (works: Work<unknown>[]) => Promise<Settled<unknown>[]>,
  pace: Pick<BatcherOptions<unknown, unknown>, 'maxItems' | 'minIntervalMs' | 'maxInFlight' | 'watch'>,
): UnitOfWork {
  const queue = createBatcher<Work<unknown>, unknown>({
    ...{ flush, isRefusal, ...limits, ...pace },
    sizeOf: ({ bytes }) => bytes,
    keyOf: ({ key }) => key,
    onFailure({ run }) {
      if (run) run.isBroken = true
    },
  })
  return queue as UnitOfWork
}

/**
 * The first attempt that reads each missing key alone. At the first conflict, another writer was probably faster. The second conflict may be due to
 * a document that bulk reads leave out.
 */
export const askedOneByOneFrom = 3

/**
 * Runs operations in sequence. If an operation wrote nothing, the bulk read may have left out its documents. So each of its missing keys is read with
 * a separate call. If one of these documents exists, all operations run again. New documents need no second read, because the guard of the write
 * confirms that they were absent. The results are valid only if `writes` and the writes of `draft` are stored.
 * @param isRead false if there was no bulk read, so missing documents are first read in bulk
 */
export async function decideAll(
  works: Work<unknown>[],
  read: Map<string, StoredDocument>,
  list: Pick<BatchLists, 'draft'>,
  sidecar: Sidecar,
  isRead = true,
): Promise<{ results: Settled<unknown>[]; writes: Write[]; draft: BatchDraft }> {
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
      arm: (entry, notBefore) => draft.arm(entry, notBefore),
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
  function writes(works: Work<unknown>[], results: Settled<unknown>[]) {
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

export function guardOf(read: Map<string, StoredDocument>, key: string): NonNullable<Write['guard']> {
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
