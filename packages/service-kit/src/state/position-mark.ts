import { randomUUID } from 'node:crypto'
import type { Sidecar } from '../sidecar/sidecar.ts'

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

/** A mark without positions, as if other code had written it. */
export const noMark: PositionMark = { positions: {}, code: '', since: 0, at: 0 }

export async function readMark(sidecar: Pick<Sidecar, 'readOne'>) {
  const stored = await sidecar.readOne(markKey)
  return { mark: stored?.value as PositionMark | undefined, etag: stored?.etag }
}

/** Writes the mark if it is unchanged since it was read. @param etag the etag of the read mark; undefined if it was absent */
export async function writeMark(sidecar: Pick<Sidecar, 'save'>, mark: PositionMark, etag: string | undefined) {
  const guard = etag ? { etag } : 'absent'
  await sidecar.save([{ key: markKey, value: JSON.stringify(mark), guard }], randomUUID(), 1)
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
