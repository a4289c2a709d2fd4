import { isUtf8 } from 'node:buffer'
import { mayShow, parseGuid } from '@orderflow/envelope'
import { keyOf } from '@orderflow/envelope/kafka'

/**
 * Returns true if a record's key may be shown. A GUID may be shown, and so may a key that derives from Payload fields that may be shown. Any other
 * key is a text of the publisher, and may be a person's name.
 * @param fields the fields of the Payload that form the key of the record's topic
 */
export function mayShowKey(key: Buffer, fields: readonly string[], document: unknown): boolean {
  if (!isUtf8(key)) return false
  const text = key.toString()
  if (parseGuid(text)) return true
  if (text !== keyOf(document, fields)) return false
  const { Payload } = document as { Payload: Record<string, string | number> }
  return fields.every((field) => mayShow(field, Payload[field] ?? ''))
}
