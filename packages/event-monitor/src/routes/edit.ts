import { hiddenErrors, invalid } from '@orderflow/service-kit'
import { type Place, parsePlace } from '@orderflow/service-kit/log'
import { editedValue, maxEditable } from '../model/edited.ts'

/** The text that somebody made of an event, from a request's body; undefined where there is none. */
export function editedIn(edited: unknown): string | undefined {
  if (edited === undefined) return undefined
  const { text: found } = Object(edited) as { text?: unknown }
  if (typeof found === 'string' && found.length <= maxEditable) return found
  throw invalid([{ pointer: '/edited/text', detail: `is a JSON text of at most ${maxEditable / 1024} KiB` }])
}

/** The attempt that somebody looked at, from a request's body; undefined where there is none. */
export function attemptIn(attempt: unknown): Place | undefined {
  if (attempt === undefined) return undefined
  const { topic, partition, offset } = Object(attempt) as Partial<Place>
  const position = parsePlace(`${topic}/${partition}/${offset}`)
  if (position) return position
  throw invalid([{ pointer: '/attempt', detail: 'is a record position: a topic, a partition and an offset' }])
}

/** How both are described. */
export const editedSchema = {
  type: 'object',
  description: 'The event as JSON text. A placeholder such as `***{/Payload/Field}***` stands for the masked value.',
  properties: { text: { type: 'string' } },
}
export const attemptSchema = {
  type: 'object',
  description:
    'The `attempt` of the dead letter that you looked at. 409 if a newer one failed since, or it was replayed.',
  properties: { topic: { type: 'string' }, partition: { type: 'integer' }, offset: { type: 'string' } },
}

/** The bytes of that text, with the original's values where it names them. */
export function mended(edited: string, original: Uint8Array): Buffer {
  const pointer = '/edited/text'
  let value: Buffer
  try {
    value = editedValue(edited, original)
  } catch {
    throw invalid([{ pointer, detail: 'is not JSON: check quotes, commas and brackets' }])
  }
  const errors = hiddenErrors(Buffer.from(edited))
  if (errors.length === 0) return value
  throw invalid(errors.map((error) => ({ pointer, detail: `${error.pointer || 'the event'} ${error.detail}` })))
}
