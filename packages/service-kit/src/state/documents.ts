import type { QueueWatch } from '../sidecar/batcher.ts'
import type { Sidecar } from '../sidecar/sidecar.ts'
import { asSpan } from '../telemetry/traces/spans.ts'
import { createArrivalLists } from './arrival-lists.ts'
import { type Load, type Page, type PageOptions, readPage } from './list-page.ts'
import { createReader, type Read } from './reader.ts'
import { changeIn, readIn, spaceOf } from './space.ts'
import { createUnitOfWork } from './unit-of-work.ts'
import type { UnitOfWork } from './work.ts'

/** A tenant's documents in the service's state store. Whoever asks at the same time shares bulk calls, also with other tenants. */
export interface Documents {
  /** Returns the documents that exist, by key; a missing one is absent. Bulk reads first, then one call for each key that these miss. */
  read: Read
  /** Reads, decides and writes, again whenever another writer was faster. */
  change: UnitOfWork
  /**
   * A page of the tenant's list, newest arrival first.
   * @param load returns the documents of the ids, in order, which it reads with `read`: in bulk at first, then surely, for the ids where
   * it returned nothing. A document that it makes of several keys may be an older state of it, as if an event had not arrived yet.
   * @throws {CursorError} when the cursor is not one of ours
   */
  page<T>(options: PageOptions, load: Load<T>): Promise<Page<T>>
}

/** The documents of a tenant, by its TenantID; empty for none. There is no way to those of all. */
export type DocumentsOf = (tenant: string) => Documents

const internal = { kind: 'internal' } as const

/**
 * @param isShared whether tenants are nobody's business here (`Auth__Mode`): they have their documents in common
 * @param watch told of the batches that are stored
 */
export function createDocuments(sidecar: Sidecar, now: () => Date, isShared = false, watch?: QueueWatch): DocumentsOf {
  const [reader, changeMany] = [createReader(sidecar), createUnitOfWork(sidecar, createArrivalLists(now), watch)]
  const read: Read = (keys) => asSpan('read state', internal, () => reader.read(keys))
  const scan: Read = (keys) => asSpan('read state', internal, () => reader.scan(keys))
  const change: UnitOfWork = (work) => asSpan('change state', internal, () => changeMany(work))
  return (tenant) => {
    const space = isShared ? '' : spaceOf(tenant)
    const own = { read: readIn(space, read), scan: readIn(space, scan) }
    return { read: own.read, change: changeIn(space, change), page: (options, load) => readPage(own, options, load) }
  }
}
