import type { Settled } from '../sidecar/batcher.ts'
import type { Sidecar, StoredDocument, Write } from '../sidecar/sidecar.ts'
import { readEach } from './absence.ts'
import type { BatchLists, ListsDraft } from './arrival-lists.ts'
import { keysOf, type View, type Work } from './work.ts'

interface Staged {
  value: unknown
  text: string
}

/**
 * The attempt from which a batch asks for each missing key by itself. The first conflict is most likely a lost race; a second one may be a
 * document that a bulk read leaves out.
 */
export const askedOneByOneFrom = 3

/** What a batch comes to, if its writes and those of the list are stored. */
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
    const stage = new Stage(read, draft)
    const results = works.map((work) => stage.run(work))
    const open = [...stage.unsure].filter((key) => !asked.has(key))
    const found = await readEach(sidecar, open)
    if (found.size === 0) return { results, writes: stage.writes(), draft }
    for (const key of open) asked.add(key)
    for (const [key, document] of found) read.set(key, document)
  }
}

/** The documents of a batch as its works change them, one after the other, over what was read. */
class Stage {
  /** Keys that a work missed which wrote nothing. */
  readonly unsure = new Set<string>()
  readonly #read: Map<string, StoredDocument>
  readonly #draft: ListsDraft
  readonly #staged = new Map<string, Staged>()

  constructor(read: Map<string, StoredDocument>, draft: ListsDraft) {
    this.#read = read
    this.#draft = draft
  }

  /** Runs one work; what it wrote before it threw is dropped. */
  run<R>(work: Work<R>): Settled<R> {
    let own: Staged | undefined
    const current = (key: string) => (key === work.key && own) || this.#staged.get(key) || this.#read.get(key)
    const view: View = {
      get: <T>(key: string) => current(key)?.value as T | undefined,
      write: (document) => {
        // Serialised here, a document that cannot be (nested too deep) fails its own work and not the batch.
        own = { value: document, text: JSON.stringify(document) }
      },
      list: (id) => this.#draft.append(work.space ?? '', id),
    }
    const result = settled(() => work.decide(view))
    if (result.ok && own) this.#staged.set(work.key, own)
    else for (const key of keysOf(work)) if (!current(key)) this.unsure.add(key)
    return result
  }

  /** What is to be written, each document on condition that it is as it was read. */
  writes(): Write[] {
    return [...this.#staged].map(([key, { text }]) => ({ key, value: text, guard: guardOf(this.#read, key) }))
  }
}

/** By which a write counts only while its document is as it was read. */
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
