import { nestsTooDeep } from '@orderflow/envelope-schema'

/** The JSON document in a text; undefined when there is none, or one that nests deeper than any receiver takes. */
export function documentIn(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text)
    return nestsTooDeep(document) ? undefined : document
  } catch {
    return undefined
  }
}
