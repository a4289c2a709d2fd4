import { randomUUID } from 'node:crypto'
import type { Sidecar, Write } from '../sidecar/sidecar.ts'

/** The document in which a store remembers up to which positions of the log it has the effects of events. */
export interface PositionMark {
  /** The offsets of the first records that are perhaps not handled, by `topic/partition`. */
  positions: Record<string, string>
  /** A text that changes with the code that wrote the mark. */
  code: string
  /** The time since which only this code wrote the mark, in milliseconds since 1970. 0 for a store whose first event the code handled. */
  since: number
  /** The time of this mark, in milliseconds since 1970. */
  at: number
  /** The form of the documents; missing in a store without entities, or of an earlier release. */
  form?: string | undefined
  /** The reason why the store must be rebuilt. */
  lost?: string
}

/** The form of the documents of entities. It changes if a release cannot read the documents of an earlier one. */
export const entityForm = 'entities 1'

export const markKey = 'log-positions'

/**
 * A document that is written once, before the first mark. Each mark has its value, so a mark that was written into an emptied store is noticed. With an
 * etag, MongoDB also writes a document that no longer exists (components-contrib 1.18.3, `UpdateOne` with `SetUpsert`).
 */
const storeIdKey = 'store-id'

/** A mark without positions, as if other code had written it. */
export const noMark: PositionMark = { positions: {}, code: '', since: 0, at: 0 }

/** The mark of a store, undefined if the store was emptied; and what its next write needs. */
export interface StoredMark {
  mark: PositionMark | undefined
  etag: string | undefined
  storeId: unknown
}

export async function readMark(sidecar: Pick<Sidecar, 'readOne'>): Promise<StoredMark> {
  const stored = await sidecar.readOne(markKey)
  // It exists before each mark, so it is read after the mark.
  const storeId = (await sidecar.readOne(storeIdKey))?.value
  const { storeId: marked = storeId, ...mark } = (stored?.value ?? {}) as PositionMark & { storeId?: unknown }
  return { mark: stored && marked === storeId ? mark : undefined, etag: stored?.etag, storeId }
}

/** Writes the mark if it is unchanged since it was read. */
export async function writeMark(sidecar: Pick<Sidecar, 'save'>, mark: PositionMark, { etag, storeId }: StoredMark) {
  const save = (key: string, value: unknown, guard: NonNullable<Write['guard']>) =>
    sidecar.save([{ key, value: JSON.stringify(value), guard }], randomUUID(), 1)
  const id = storeId ?? randomUUID()
  if (storeId === undefined) await save(storeIdKey, id, 'absent')
  await save(markKey, { ...mark, storeId: id }, etag ? { etag } : 'absent')
}

/** Removes the positions and the reason for a rebuild after it. The service then compares its last events, and remembers new positions. */
export async function forgetMark(sidecar: Pick<Sidecar, 'save'>, form?: string): Promise<void> {
  await sidecar.save([{ key: markKey, value: JSON.stringify({ ...noMark, form }) }], randomUUID())
}

/** Returns true if a stored mark is older than a known mark. */
export function isBehind(stored: PositionMark | undefined, known: PositionMark | undefined): boolean {
  return Object.entries(known?.positions ?? {}).some(
    ([partition, offset]) => BigInt(stored?.positions[partition] ?? -1) < BigInt(offset),
  )
}
