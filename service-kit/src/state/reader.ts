import { createBatcher, type Settled } from '../sidecar/batcher.ts'
import { isRefusal, type Sidecar, type StoredDocument } from '../sidecar/sidecar.ts'

export type Read = Sidecar['read']

/** Somebody waits for each, and a list takes several one after the other: no pause between them. */
const limits = { maxItems: 200, maxBytes: 2_000, maxWaiting: 10_000, minIntervalMs: 0 }

/** A reader whose concurrent callers share bulk reads. Bounded by the number of keys, 2,000 a read. */
export function createReader(sidecar: Sidecar): Read {
  async function flush(requests: string[][]): Promise<Settled<Map<string, StoredDocument>>[]> {
    const documents = await sidecar.read([...new Set(requests.flat())])
    return requests.map((keys) => {
      const own = keys.flatMap((key) => {
        const document = documents.get(key)
        return document ? [[key, document] as const] : []
      })
      return { ok: true, value: new Map(own) }
    })
  }
  return createBatcher({ flush, isRefusal, sizeOf: (keys: string[]) => keys.length, ...limits })
}
