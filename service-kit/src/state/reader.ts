import { createBatcher, type Settled } from '../sidecar/batcher.ts'
import type { Sidecar, StoredDocument } from '../sidecar/sidecar.ts'
import { isRefusal } from '../sidecar/sidecar-error.ts'

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

  function answer(
    keys: string[],
    documents: Map<string, StoredDocument>,
  ): Promise<Settled<Map<string, StoredDocument>>> {
    const found = withoutAbsent(keys, (key) => documents.get(key))
    return (found.size > 0 ? Promise.resolve(found) : readOneByOne(sidecar, keys)).then(
      (value) => ({ ok: true, value }),
      (error: unknown) => ({ ok: false, error }),
    )
  }
  return createBatcher({ flush, isRefusal, sizeOf: (keys: string[]) => keys.length, ...limits })
}

/** The documents that exist, by key, each asked for by itself: what is not among them is absent for certain (`Sidecar.read`). */
export async function readOneByOne(sidecar: Sidecar, keys: string[]): Promise<Map<string, StoredDocument>> {
  const documents = await Promise.all(keys.map((key) => sidecar.readOne(key)))
  return withoutAbsent(keys, (_key, index) => documents[index])
}

function withoutAbsent(
  keys: string[],
  documentOf: (key: string, index: number) => StoredDocument | undefined,
): Map<string, StoredDocument> {
  const entries = keys.flatMap((key, index): [string, StoredDocument][] => {
    const document = documentOf(key, index)
    return document ? [[key, document]] : []
  })
  return new Map(entries)
}
