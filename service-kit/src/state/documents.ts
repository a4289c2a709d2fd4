import type { Sidecar } from '../sidecar/sidecar.ts'
import { createArrivalList } from './arrival-list.ts'
import { type Page, type PageOptions, readPage } from './list-page.ts'
import { createReader, type Read } from './reader.ts'
import { createUnitOfWork } from './unit-of-work.ts'
import type { UnitOfWork } from './work.ts'

/** A service's documents in its state store. Whoever asks at the same time shares bulk calls. */
export interface Documents {
  /** The documents that exist, by key. */
  read: Read
  /** Reads, decides and writes, again whenever another writer was faster. */
  change: UnitOfWork
  /**
   * A page of the service's list, newest arrival first.
   * @param load answers, in order, what stands under the ids
   * @throws {CursorError} when the cursor is not one of ours
   */
  page<T>(
    options: PageOptions,
    load: (ids: string[]) => Promise<({ item: T; listed: string | undefined } | undefined)[]>,
  ): Promise<Page<T>>
}

export function createDocuments(sidecar: Sidecar, now: () => Date): Documents {
  const read = createReader(sidecar)
  return {
    read,
    change: createUnitOfWork(sidecar, createArrivalList(now)),
    page: (options, load) => readPage(read, options, load),
  }
}
