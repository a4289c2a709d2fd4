import { createBatcher, type Settled } from '../sidecar/batcher.ts'
import { isRefusal, type Sidecar, type StoredDocument } from '../sidecar/sidecar.ts'
import { addMissing } from './absence.ts'

export type Read = Sidecar['read']

export interface Reader {
  /** Returns the documents that exist, by key. A missing one is absent: each key that the bulk read leaves out is asked for by itself. */
  read: Read
  /**
   * Returns documents by key, and may leave out some that exist. For lists only: they read many keys that are absent, and a call for each
   * would cost more than the list. Only a result without any document is checked key by key.
   */
  scan: Read
}

/** A caller waits for each, and a list reads several in sequence: no pause between them. */
const limits = { maxItems: 200, maxBytes: 2_000, maxWaiting: 10_000, minIntervalMs: 0 }

/** Creates a reader whose concurrent callers share bulk reads of at most 2,000 keys. */
export function createReader(sidecar: Sidecar): Reader {
  async function flush(requests: string[][]): Promise<Settled<Map<string, StoredDocument>>[]> {
    const documents = await sidecar.read([...new Set(requests.flat())])
    return requests.map((keys) => ({ ok: true, value: picked(documents, keys) }))
  }
  const inBulk = createBatcher({ flush, isRefusal, sizeOf: (keys: string[]) => keys.length, ...limits })

  async function readWhere(isUnsure: (found: Map<string, StoredDocument>) => boolean, keys: string[]) {
    const found = await inBulk(keys)
    if (isUnsure(found)) await addMissing(sidecar, found, keys)
    return found
  }
  return {
    read: (keys) => readWhere(() => true, keys),
    scan: (keys) => readWhere(({ size }) => size === 0, keys),
  }
}

function picked(documents: Map<string, StoredDocument>, keys: string[]): Map<string, StoredDocument> {
  return new Map(
    keys.flatMap((key): [string, StoredDocument][] => {
      const document = documents.get(key)
      return document ? [[key, document]] : []
    }),
  )
}
