import type { QueueWatch } from '../sidecar/batcher.ts'
import type { Sidecar } from '../sidecar/sidecar.ts'
import { asSpan } from '../telemetry/traces/spans.ts'
import { createArrivalLists } from './arrival-lists.ts'
import { type Page, type PageOptions, readPage } from './list-page.ts'
import { createReader, type Read } from './reader.ts'
import { changeIn, readIn, spaceOf } from './space.ts'
import { createUnitOfWork } from './unit-of-work.ts'
import type { UnitOfWork } from './work.ts'

/** A tenant's documents in the service's state store. Whoever asks at the same time shares bulk calls, also with other tenants. */
export interface Documents {
  /** The documents that exist, by key. */
  read: Read
  /** Reads, decides and writes, again whenever another writer was faster. */
  change: UnitOfWork
  /**
   * A page of the tenant's list, newest arrival first.
   * @param load answers, in order, what stands under the ids
   * @throws {CursorError} when the cursor is not one of ours
   */
  page<T>(
    options: PageOptions,
    load: (ids: string[]) => Promise<({ item: T; listed: string | undefined } | undefined)[]>,
  ): Promise<Page<T>>
}

/** The documents of a tenant, by its TenantID; empty for none. There is no way to those of all. */
export type DocumentsOf = (tenant: string) => Documents

const internal = { kind: 'internal' } as const

/**
 * @param isShared whether tenants are nobody's business here (`Auth__Mode`): they have their documents in common
 * @param watch told of the batches that are stored
 */
export function createDocuments(sidecar: Sidecar, now: () => Date, isShared = false, watch?: QueueWatch): DocumentsOf {
  const [readMany, changeMany] = [createReader(sidecar), createUnitOfWork(sidecar, createArrivalLists(now), watch)]
  const read: Read = (keys) => asSpan('read state', internal, () => readMany(keys))
  const change: UnitOfWork = (work) => asSpan('change state', internal, () => changeMany(work))
  return (tenant) => {
    const space = isShared ? '' : spaceOf(tenant)
    const own = readIn(space, read)
    return { read: own, change: changeIn(space, change), page: (options, load) => readPage(own, options, load) }
  }
}
