import { randomUUID } from 'node:crypto'

/** Where the list begins: the key of the document that names the newest chunk. */
export const listRootKey = 'list/root'
export const chunkKey = (chunk: string): string => `list/${chunk}`

/** Ids in order of arrival, and the next older chunk. */
export interface Chunk {
  ids: string[]
  older: string | undefined
}

export interface Root {
  newest: string
}

/** What one batch adds to the list. It becomes part of the list when its documents are written. */
export interface ListDraft {
  /** Puts an id at the newest end. Answers its slot, which the listed document keeps in `listed`. */
  append(id: string): string
  documents(): { key: string; value: unknown; guarded: boolean }[]
  /** The documents are written: the next draft goes on from here. */
  written(): void
}

export interface ArrivalList {
  /** A draft on top of the root as just read. */
  draft(root: unknown): ListDraft
  /** The outcome of a write is unknown: the next draft begins a chunk of its own. */
  forget(): void
}

/** Ids a chunk holds before the next one is begun: rewriting it stays cheap, and a page reads one or two. */
const chunkSize = 64
/** How long a writer goes on with its chunk after another writer has begun a newer one. */
const sharedForMs = 1_000

/**
 * The service's list, newest arrival first, kept in the state store (Dapr has no query that all stores share): a
 * chain of small chunks. A chunk has one writer, this process; only beginning a chunk touches the shared root,
 * guarded (docs/adr/0009). With several replicas the order is exact but for the last second.
 */
export function createArrivalList(now: () => Date): ArrivalList {
  let mine: { name: string; chunk: Chunk; begun: number } | undefined

  function isUsable(root: Root | undefined): boolean {
    if (!mine || mine.chunk.ids.length >= chunkSize) return false
    return root?.newest === mine.name || now().getTime() - mine.begun < sharedForMs
  }

  return {
    draft(stored) {
      const root = stored as Root | undefined
      const goesOn = isUsable(root) ? mine : undefined
      const name = goesOn?.name ?? randomUUID()
      const chunk: Chunk = { ids: [...(goesOn?.chunk.ids ?? [])], older: goesOn ? goesOn.chunk.older : root?.newest }
      const before = chunk.ids.length
      const begun = goesOn?.begun ?? now().getTime()
      return {
        append: (id) => `${name}:${chunk.ids.push(id) - 1}`,
        documents() {
          if (chunk.ids.length === before) return []
          const written = { key: chunkKey(name), value: chunk, guarded: false }
          return goesOn ? [written] : [written, { key: listRootKey, value: { newest: name }, guarded: true }]
        },
        written() {
          if (chunk.ids.length > before) mine = { name, chunk, begun }
        },
      }
    },
    forget() {
      mine = undefined
    },
  }
}
