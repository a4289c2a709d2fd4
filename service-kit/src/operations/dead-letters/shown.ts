import { eventTypes, fieldSchema, payloadFields } from '@orderflow/envelope-schema'

/** Of the envelope, where it has them and where publishers put them by mistake. Not the tenant's user: a person. */
const ofEnvelopes = [
  ...['Id', 'CorrelationId', 'TraceId', 'CausationId', 'AppId', 'AppName', 'Version', 'Name', 'CreationDate'],
  ...['CreateDate', 'specversion'],
]

const ofPayloads = eventTypes.flatMap((type) =>
  payloadFields(type).map((name) => ({ name, kind: kindOf(fieldSchema(type, name)) })),
)
const namesOf = (kind: string) => ofPayloads.filter((field) => field.kind === kind).map(({ name }) => name)
const texts = new Set(namesOf('text'))

/**
 * Fields that may be shown: what a schema says is plain, and none says is text, which may hold anything about anybody. Not
 * the other way round: an event that failed may well have the tax id under a name that nobody thought of.
 */
const harmless: ReadonlySet<string> = new Set([...ofEnvelopes, ...namesOf('plain').filter((name) => !texts.has(name))])

/** Plain is one of a few words, a number, an id or a date. What is in an object or a list is looked at by itself. */
function kindOf({ enum: words, type, format }: Record<string, unknown>): 'plain' | 'text' | 'structure' {
  if (type === 'object' || type === 'array') return 'structure'
  const isNumber = type === 'number' || type === 'integer' || type === 'boolean'
  return words !== undefined || isNumber || format === 'uuid' || format === 'date-time' ? 'plain' : 'text'
}

/** Longer texts are no identifiers, dates or names that belong in such a field. */
const maxShownLength = 64

/**
 * An event's bytes for a reader: JSON with every other value masked, and nothing of what is no JSON. With `values` all
 * of it, as it is.
 */
export function shownValue(value: Uint8Array, values: boolean): string {
  const text = Buffer.from(value).toString()
  if (text === '') return '(nothing: a tombstone)'
  if (values) return prettyIfSame(text)
  try {
    return JSON.stringify(JSON.parse(text), masked, 2)
  } catch {
    return `(${value.byteLength} bytes that are not JSON, or nest too deep; VALUES=1 shows them)`
  }
}

function masked(key: string, inner: unknown): unknown {
  if (typeof inner === 'object' || typeof inner === 'boolean') return inner
  if (harmless.has(key) && String(inner).length <= maxShownLength) return inner
  return typeof inner === 'string' ? `*** (${inner.length} characters)` : '***'
}

/** JSON over several lines where that loses nothing: no digits of a large number, no key that comes twice. */
export function prettyIfSame(text: string): string {
  try {
    const document: unknown = JSON.parse(text)
    return JSON.stringify(document) === text ? JSON.stringify(document, null, 2) : text
  } catch {
    return text
  }
}
