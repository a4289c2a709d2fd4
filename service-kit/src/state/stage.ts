import type { Settled } from '../sidecar/batcher.ts'
import type { StoredDocument, Write } from '../sidecar/sidecar.ts'
import type { ListDraft } from './arrival-list.ts'
import type { Work } from './work.ts'

interface Staged {
  value: unknown
  text: string
}

/** The documents of a batch as its works change them, one after the other, over what was read. */
export class Stage {
  readonly #read: Map<string, StoredDocument>
  readonly #draft: ListDraft
  readonly #staged = new Map<string, Staged>()

  constructor(read: Map<string, StoredDocument>, draft: ListDraft) {
    this.#read = read
    this.#draft = draft
  }

  /** Runs one work; what it wrote before it threw is dropped. */
  run<R>(work: Work<R>): Settled<R> {
    let own: Staged | undefined
    const current = (key: string) => (key === work.key && own) || this.#staged.get(key) || this.#read.get(key)
    try {
      const value = work.decide({
        get: <T>(key: string) => current(key)?.value as T | undefined,
        write: (document) => {
          // Serialised here, a document that cannot be (nested too deep) fails its own work and not the batch.
          own = { value: document, text: JSON.stringify(document) }
        },
        list: (id) => this.#draft.append(id),
      })
      if (own) this.#staged.set(work.key, own)
      return { ok: true, value }
    } catch (error) {
      return { ok: false, error }
    }
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
