/** What a piece of work sees of the store: the documents it named, as the work before it in the batch left them. */
export interface View {
  get<T>(key: string): T | undefined
  /** Writes the work's document unless somebody else has since it was read: then the work runs again on what is there. */
  write(value: unknown): void
  /** Puts an id at the newest end of the service's list. Answers its slot, to be kept in the document as `listed`. */
  list(id: string): string
}

/** A decision about one document, the only one that it may write. */
export interface Work<R> {
  key: string
  /** What all of its keys begin with, and those of the list that it may add to; empty when left out. */
  space?: string
  /**
   * Other documents that it reads. Another writer may create or change them while this work writes its own, and a work that writes may
   * miss one that exists. So a work that writes on the absence of one must read it again afterwards.
   */
  beside?: string[]
  /** Bytes this work is about to write, roughly. */
  bytes: number
  /**
   * Pure but for its view: it runs again whenever another writer was faster. Idempotent, as all that answers an event must be: what two
   * replicas write alike over the same document counts as one.
   */
  decide: (view: View) => R
}

/** A `decide` that throws fails alone; a store that fails, fails all that it was asked for at the same time (`SidecarError`). */
export type UnitOfWork = <R>(work: Work<R>) => Promise<R>

/** Each space that one of the works is in. */
export const spacesOf = (works: Work<unknown>[]): string[] => [...new Set(works.map(({ space = '' }) => space))]

/** The documents that a work sees. */
export const keysOf = ({ key, beside = [] }: Work<unknown>): string[] => [key, ...beside]
