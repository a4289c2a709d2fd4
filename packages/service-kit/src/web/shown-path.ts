import { parseGuid } from '@orderflow/envelope-schema'
import type { Route } from './route.ts'

/** A request's path as it may be told, in a problem or in the log. */
export type ShownPath = (path: string) => string

/**
 * Shows of a path the words that the routes' own paths are made of, and GUIDs. Anything else in it was made up by the caller, who may think
 * that a person's name is an id; and so is the query.
 */
export function shownPath(routes: readonly Route[]): ShownPath {
  const words = new Set(routes.flatMap(({ operation }) => operation.path.toLowerCase().split('/')))
  const shown = (part: string) => (words.has(part.toLowerCase()) || parseGuid(part) ? part : '***')
  return (path) => path.split('/').map(shown).join('/')
}
