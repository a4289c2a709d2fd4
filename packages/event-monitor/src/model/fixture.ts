import { exampleOfField } from '@orderflow/envelope-schema'
import type { EventRow, Fixture, Place } from '../api/events.ts'
import type { Body } from '../index/body.ts'
import { placeholderPointer } from './masked.ts'

/** An event as a file for `envelope-schema/fixtures`, with made-up values in place of what may not be shown. */
export function fixtureOf({
  name,
  validity,
  body,
  place,
}: Pick<EventRow, 'name' | 'validity'> & { body: Body; place: Place }): Fixture {
  const isValid = validity === 'valid' || validity === 'foreign'
  const words = [name ?? 'record', validity === 'valid' ? '' : validity, place.topic, place.partition, place.offset]
  const fileName = words
    .filter((word) => word !== '')
    .join('-')
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll(/[^\w-]+/g, '-')
    .toLowerCase()
  return { fileName: `${fileName}.json`, folder: isValid ? 'valid' : 'invalid', document: madeUp(body.document) }
}

/** Returns the example of the field in a schema. */
function madeUpField(field: string): unknown {
  return exampleOfField(field) ?? 'made up'
}

function madeUp(value: unknown): unknown {
  if (typeof value === 'string') {
    const pointer = placeholderPointer(value)
    return pointer === undefined ? value : madeUpField(pointer.split('/').at(-1) ?? '')
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(madeUp)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, madeUp(inner)]))
}
