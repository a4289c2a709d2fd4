import type { Read, StoredDocument, Write } from '../sidecar/sidecar.ts'

/** The writes that a batch adds to the writes of its documents. */
export interface Draft {
  /** Returns the writes. Store them before the documents of the batch, or together with these documents. */
  writes(): Write[]
  /** @param etag the etag of the stored writes; undefined if it is unknown */
  stored(etag?: string): void
}

/** Adds the writes of a list, of a register, or of several of them to the batches of this process. */
export interface BatchWriter<D extends Draft> {
  /**
   * Returns the keys to read before a draft. Pass the read documents to `check`.
   * @param isSequential true if the next batch begins after this one has ended. Only its register is then read.
   */
  watched(isSequential: boolean): { keys: string[]; check(read: ReadonlyMap<string, StoredDocument>): void }
  open(read: Read): Promise<void>
  draft(): D
  /**
   * Notes that the last draft was not written.
   * @param isConflict true if the store refused the write. Otherwise the store may execute it later and overwrite newer entries.
   */
  leave(isConflict: boolean): void
}
