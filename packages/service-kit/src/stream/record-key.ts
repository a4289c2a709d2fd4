import { isUtf8 } from 'node:buffer'
import { mayShow, parseGuid } from '@orderflow/envelope'
import { keyOf } from '@orderflow/envelope/kafka'

/**
 * Returns whether a record's key may be shown. A GUID may, and so may the key that follows from the Payload, if each of its fields may.
 * Any other key is its publisher's own choice, and may be a person's name.
 * @param fields of the Payload that the record's topic is keyed by
 */
export function mayShowKey(key: Buffer, fields: readonly string[], document: unknown): boolean {
  if (!isUtf8(key)) return false
  const text = key.toString()
  if (parseGuid(text)) return true
  if (text !== keyOf(document, fields)) return false
  const { Payload } = document as { Payload: Record<string, string | number> }
  return fields.every((field) => mayShow(field, Payload[field] ?? ''))
}
