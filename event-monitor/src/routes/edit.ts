import { invalid } from '@orderflow/service-kit'
import { editedValue, maxEditable } from '../model/edited.ts'

/** The text that somebody made of an event, from a request's body; undefined where there is none. */
export function editedIn(edited: unknown): string | undefined {
  if (edited === undefined) return undefined
  const { text: found } = Object(edited) as { text?: unknown }
  if (typeof found === 'string' && found.length <= maxEditable) return found
  throw invalid([{ pointer: '/edited/text', detail: `is a JSON text of at most ${maxEditable / 1024} KiB` }])
}

/** The bytes of that text, with the original's values where it names them. */
export function mended(edited: string, original: Uint8Array): Buffer {
  try {
    return editedValue(edited, original)
  } catch {
    throw invalid([{ pointer: '/edited/text', detail: 'is not JSON: check quotes, commas and brackets' }])
  }
}
