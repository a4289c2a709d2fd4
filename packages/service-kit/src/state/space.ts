import { createHash } from 'node:crypto'
import type { Read } from './reader.ts'
import type { UnitOfWork } from './work.ts'

/**
 * What the keys of a tenant's documents and of its list begin with, empty for no tenant. Hashed: what a publisher calls a tenant may be long,
 * and hold a slash.
 */
export function spaceOf(tenant: string): string {
  return tenant === '' ? '' : `tenant/${createHash('sha256').update(tenant).digest('base64url')}/`
}

/** Reads in a space, by the keys that its documents have there. */
export function readIn(space: string, read: Read): Read {
  if (space === '') return read
  return async (keys) => {
    const found = await read(keys.map((key) => space + key))
    return new Map(Array.from(found, ([key, document]) => [key.slice(space.length), document]))
  }
}

/** Works in a space, on the documents there. */
export function changeIn(space: string, change: UnitOfWork): UnitOfWork {
  if (space === '') return change
  return (work) =>
    change({
      ...work,
      space,
      key: space + work.key,
      beside: work.beside?.map((key) => space + key) ?? [],
      decide: (view) => work.decide({ ...view, get: (key) => view.get(space + key) }),
    })
}
