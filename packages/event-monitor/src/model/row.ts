import { parseMoment } from '@orderflow/envelope-schema'
import type { EventRow, Place } from '../api/events.ts'
import type { Body } from '../index/body.ts'
import { indexedIds } from './ids.ts'
import type { Kind } from './kind.ts'

/** A record as the index has it. */
export interface Indexed {
  seq: number
  place: Place
  /** When it reached the log, in milliseconds since 1970. */
  at: number
  bytes: number
  kind: Kind
  body: Body
}

export const iso = (ms: number): string => new Date(ms).toISOString()

/** CreationDate, when it is a moment. */
function createdAt(document: unknown): string | null {
  const { CreationDate } = Object(document) as { CreationDate?: unknown }
  return typeof CreationDate === 'string' && parseMoment(CreationDate) ? CreationDate : null
}

/** A record as a row of a list. */
export function rowOf({ place, at, bytes, kind, body }: Omit<Indexed, 'seq'>): EventRow {
  const { name, version, appId, appName, variant, validity, problem } = kind
  return {
    place,
    at: iso(at),
    createdAt: createdAt(body.document),
    name,
    version,
    ...indexedIds(body),
    appId,
    appName,
    variant,
    validity,
    problem,
    bytes,
    of: body.of ?? null,
  }
}
