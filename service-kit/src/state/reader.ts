import { createBatcher, type Settled } from '../sidecar/batcher.ts'
import { isRefusal, type Sidecar, type StoredDocument } from '../sidecar/sidecar.ts'

export type Read = Sidecar['read']

/** Somebody waits for each, and a list takes several one after the other: no pause between them. */
const limits = { maxItems: 200, maxBytes: 2_000, maxWaiting: 10_000, minIntervalMs: 0 }

/**
 * A reader whose concurrent callers share bulk reads. Bounded by the number of keys, 2,000 a read. Who finds nothing at all has it asked for
 * once more, key by key, since a bulk read may say so of what it could not read.
 */
export function createReader(sidecar: Sidecar): Read {
  async function flush(requests: string[][]): Promise<Settled<Map<string, StoredDocument>>[]> {
    const documents = await sidecar.read([...new Set(requests.flat())])
    return Promise.all(requests.map((keys) => answer(keys, documents)))
  }

  async function answer(
    keys: string[],
    documents: Map<string, StoredDocument>,
  ): Promise<Settled<Map<string, StoredDocument>>> {
    const found = entriesOf(
      keys,
      keys.map((key) => documents.get(key)),
    )
    if (found.length > 0) return { ok: true, value: new Map(found) }
    return Promise.all(keys.map((key) => sidecar.readOne(key))).then(
      (one) => ({ ok: true, value: new Map(entriesOf(keys, one)) }),
      (error: unknown) => ({ ok: false, error }),
    )
  }
  return createBatcher({ flush, isRefusal, sizeOf: (keys: string[]) => keys.length, ...limits })
}

function entriesOf(keys: string[], documents: (StoredDocument | undefined)[]): [string, StoredDocument][] {
  return keys.flatMap((key, index) => {
    const document = documents[index]
    return document ? [[key, document]] : []
  })
}
