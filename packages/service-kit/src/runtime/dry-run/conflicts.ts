import { isDeepStrictEqual } from 'node:util'
import type { FullEvent } from '@orderflow/envelope'
import { type Handlers, wrapped } from '../../stream/consuming/event-handler.ts'
import { watched } from './watched.ts'

/** The event of a record as its handler received it, and the pointers of the fields that handlers read. */
export interface Reading {
  event: FullEvent | undefined
  fields: Set<string>
}

export const newReading = (): Reading => ({ event: undefined, fields: new Set() })

/** Returns handlers that also note the event and the fields that they read. */
export const readingHandlers = (handlers: Handlers, reading: Reading): Handlers =>
  wrapped(handlers, (event, handle) => {
    reading.event = event
    return handle(watched(event, '', (pointer) => reading.fields.add(pointer)))
  })

/** An edit may give the event a new Id, which contradicts nothing. */
const ignored = new Set(['/Id'])

/**
 * Returns the pointers of the fields in which an edited event differs from the event that the service has accepted. It leaves out fields that the service
 * does not read. `/Name` stands for an edited event that the service does not handle.
 */
export function conflictsBetween(kept: Reading, edited: Reading): string[] {
  if (!kept.event) return []
  if (!edited.event || edited.event.Name !== kept.event.Name) return ['/Name']
  const isRead = (pointer: string) =>
    [...kept.fields, ...edited.fields].some((field) => field === pointer || field.startsWith(`${pointer}/`))
  return differences(kept.event, edited.event, '').filter((pointer) => isRead(pointer) && !ignored.has(pointer))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function differences(one: unknown, other: unknown, pointer: string): string[] {
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)])
    return [...names].flatMap((name) => differences(one[name], other[name], `${pointer}/${name}`))
  }
  return isDeepStrictEqual(one, other) ? [] : [pointer]
}
