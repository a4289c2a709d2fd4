import type { Settled } from '../sidecar/batcher.ts'
import type { Sidecar, StoredDocument, Write } from '../sidecar/sidecar.ts'
import type { BatchLists, ListsDraft } from './arrival-list.ts'

/** What a work sees of the store: its documents, as the work before it in the batch left them. */
export interface View {
  get<T>(key: string): T | undefined
  /** Writes the work's document. If another writer changed it since it was read, the work runs again on the new state. */
  write(value: unknown): void
  /** Appends an id to the newest end of the service's list. Returns its slot, which the document keeps as `listed`. */
  list(id: string): string
}

/** A decision about one document, the only one that it may write. */
export interface Work<R> {
  key: string
  /** The prefix of all of its keys, and of the list that it may add to; empty when left out. */
  space?: string
  /**
   * Other documents that it reads. Another writer may create or change them while this work writes its own, and a work that writes may
   * miss one that exists. So a work that writes on the absence of one must read it again afterwards.
   */
  beside?: string[]
  /** About how many bytes this work writes. */
  bytes: number
  /**
   * Pure except for its view: it runs again whenever another writer was faster. Idempotent, like every reaction to an event: equal writes
   * of two replicas over the same document have the effect of one.
   */
  decide: (view: View) => R
}

/** Runs a work. A `decide` that throws fails alone; an error of the store fails all works that it was asked for together (`SidecarError`). */
export type UnitOfWork = <R>(work: Work<R>) => Promise<R>

/** Returns the spaces of the works. */
export const spacesOf = (works: Work<unknown>[]): string[] => [...new Set(works.map(({ space = '' }) => space))]

/** Returns the keys of the documents that a work sees. */
export const keysOf = ({ key, beside = [] }: Work<unknown>): string[] => [key, ...beside]

/*
 * A bulk read may leave out documents that exist (`Sidecar.read` explains why). The next three functions make sure of an absence.
 * docs/adr/0017 lists which of them applies where.
 */

/** Adds the documents that exist of the `keys` missing in `found`. Asks for each key by itself, so what is missing then is absent. */
export async function addMissing(
  sidecar: Sidecar,
  found: Map<string, StoredDocument>,
  keys: Iterable<string>,
): Promise<void> {
  for (const [key, document] of await readEach(sidecar, missingIn(found, keys))) found.set(key, document)
}

/** Returns the documents that exist, by key. Asks for each key by itself: a call for each, so about ten times the cost of a bulk read. */
export async function readEach(sidecar: Sidecar, keys: string[]): Promise<Map<string, StoredDocument>> {
  const documents = await Promise.all(keys.map((key) => sidecar.readOne(key)))
  return new Map(
    keys.flatMap((key, index): [string, StoredDocument][] => {
      const document = documents[index]
      return document ? [[key, document]] : []
    }),
  )
}

/**
 * Adds the documents that exist of the `keys` missing in `found`, on SQLite only: reads the missing keys in bulk until a read finds none.
 * SQLite reports an error before the first row, and Dapr drops only later ones (components-contrib 1.18.3, state/sqlite; modernc.org/sqlite
 * 1.34.5, `stmt.query`). So a read that finds nothing is complete.
 */
export async function addMissingInBulk(
  sidecar: Sidecar,
  found: Map<string, StoredDocument>,
  keys: Iterable<string>,
): Promise<void> {
  for (let missing = missingIn(found, keys); missing.length > 0; ) {
    const more = await sidecar.read(missing)
    if (more.size === 0) return
    for (const [key, document] of more) found.set(key, document)
    missing = missingIn(found, missing)
  }
}

function missingIn(found: Map<string, StoredDocument>, keys: Iterable<string>): string[] {
  return [...new Set(keys)].filter((key) => !found.has(key))
}

interface Staged {
  value: unknown
  text: string
}

/**
 * The attempt from which a batch asks for each missing key by itself. The first conflict is most likely a lost race; a second one may be a
 * document that a bulk read leaves out.
 */
export const askedOneByOneFrom = 3

/** The outcome of a batch, provided that its writes and those of the list are stored. */
export interface Decided {
  results: Settled<unknown>[]
  writes: Write[]
  draft: ListsDraft
}

/**
 * Runs works in sequence over the documents that were read. A work that writes nothing, or throws, may have decided on a document that the
 * bulk read left out. So each key that it misses is asked for by itself, and all works run again if one exists. A work that writes needs no
 * such check for its own document, since the write makes sure of the absence. That keeps calls out of the usual case, new documents.
 */
export async function decideAll(
  works: Work<unknown>[],
  read: Map<string, StoredDocument>,
  list: Pick<BatchLists, 'draft'>,
  sidecar: Sidecar,
): Promise<Decided> {
  for (const asked = new Set<string>(); ; ) {
    const draft = list.draft()
    const stage = createStage(read, draft)
    const results = works.map((work) => stage.run(work))
    const open = [...stage.unsure].filter((key) => !asked.has(key))
    const found = await readEach(sidecar, open)
    if (found.size === 0) return { results, writes: stage.writes(), draft }
    for (const key of open) asked.add(key)
    for (const [key, document] of found) read.set(key, document)
  }
}

/** Returns the documents of a batch as its works change them, in sequence, over the documents that were read. */
function createStage(read: Map<string, StoredDocument>, draft: ListsDraft) {
  const staged = new Map<string, Staged>()
  /** Keys that were missing for a work that wrote nothing. */
  const unsure = new Set<string>()

  /** Runs one work. What it wrote before it threw is dropped. */
  function run<R>(work: Work<R>): Settled<R> {
    let own: Staged | undefined
    const current = (key: string) => (key === work.key && own) || staged.get(key) || read.get(key)
    const view: View = {
      get: <T>(key: string) => current(key)?.value as T | undefined,
      write: (document) => {
        // Serialised here, a document that cannot be (nested too deep) fails its own work and not the batch.
        own = { value: document, text: JSON.stringify(document) }
      },
      list: (id) => draft.append(work.space ?? '', id),
    }
    const result = settled(() => work.decide(view))
    if (result.ok && own) staged.set(work.key, own)
    else for (const key of keysOf(work)) if (!current(key)) unsure.add(key)
    return result
  }

  /** Returns what is to be written, each document on condition that it is as it was read. */
  const writes = (): Write[] => [...staged].map(([key, { text }]) => ({ key, value: text, guard: guardOf(read, key) }))

  return { run, unsure, writes }
}

/** Returns the guard that lets a write succeed only while its document is as it was read. */
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
