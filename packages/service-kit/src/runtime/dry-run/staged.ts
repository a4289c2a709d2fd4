import { noAnnouncing } from '../../state/announcing.ts'
import type { View } from '../../state/batch.ts'
import { noFiring } from '../../state/deadlines/firing.ts'
import type { Documents, DocumentsOf } from '../../state/documents.ts'

export interface StagedWrite {
  tenant: string
  key: string
  /** Undefined for a new document. */
  before: unknown
  after: unknown
}

/** Creates a stage above real documents, or above another stage. */
export function createStage(real: DocumentsOf) {
  const tenants = new Map<string, Map<string, StagedWrite>>()
  const writtenBy = (tenant: string) => {
    const written = tenants.get(tenant) ?? new Map<string, StagedWrite>()
    tenants.set(tenant, written)
    return written
  }
  return {
    /** Returns documents that collect writes. Only reads through this stage see these writes. */
    documents: (tenant: string) => staged(tenant, real(tenant), writtenBy(tenant)),
    /** Adds the writes of a stage above this one. */
    add(writes: readonly StagedWrite[]): void {
      for (const write of writes) {
        const written = writtenBy(write.tenant)
        const { before } = written.get(write.key) ?? write
        written.set(write.key, { ...write, before })
      }
    },
    writes: () => [...tenants.values()].flatMap((written) => [...written.values()]),
  }
}

/** Documents of an empty store. */
export const noStoredDocuments: DocumentsOf = () => ({
  read: async () => new Map(),
  change: () => Promise.reject(new Error('only a stage can write here')),
  page: async () => ({ items: [], next: null }),
  generation: () => 0,
  fullKey: (key) => key,
  announcing: noAnnouncing,
  firing: noFiring,
})

function staged(tenant: string, real: Documents, written: Map<string, StagedWrite>): Documents {
  const read: Documents['read'] = async (keys) => {
    const found = new Map(await real.read(keys))
    for (const key of keys) {
      const own = written.get(key)
      if (own) found.set(key, { value: own.after, etag: found.get(key)?.etag ?? '' })
    }
    return found
  }
  return {
    read,
    page: (options, load) => real.page(options, load),
    generation: () => real.generation(),
    fullKey: (key) => real.fullKey(key),
    announcing: noAnnouncing,
    firing: noFiring,
    async change({ key, beside = [], decide }) {
      const found = await read([key, ...beside])
      const view: View = {
        get: <T>(asked: string) => found.get(asked)?.value as T | undefined,
        write(after) {
          const before = written.has(key) ? written.get(key)?.before : found.get(key)?.value
          written.set(key, { tenant, key, before, after })
          found.set(key, { value: after, etag: found.get(key)?.etag ?? '' })
        },
        list: (id) => id,
        mark: () => '',
        arm() {},
      }
      return decide(view)
    },
  }
}
