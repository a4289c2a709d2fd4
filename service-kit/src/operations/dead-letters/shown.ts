import { eventTypes, fieldSchema, payloadFields } from '@orderflow/envelope-schema'

/** Of the envelope, where it has them and where publishers put them by mistake. Not the tenant's user: a person. */
const ofEnvelopes = [
  ...['Id', 'CorrelationId', 'TraceId', 'CausationId', 'AppId', 'AppName', 'Version', 'Name', 'CreationDate'],
  ...['CreateDate', 'specversion'],
]

const ofPayloads = eventTypes.flatMap((type) =>
  payloadFields(type).map((name) => ({ name, isPlain: isPlain(fieldSchema(type, name)) })),
)
const texts = new Set(ofPayloads.filter((field) => !field.isPlain).map(({ name }) => name))

/**
 * Fields that may be shown: what every schema that names them says is no text, which may hold anything about anybody. Not
 * the other way round: an event that failed may well have the tax id under a name that nobody thought of.
 */
const harmless: ReadonlySet<string> = new Set([
  ...ofEnvelopes,
  ...ofPayloads.map(({ name }) => name).filter((name) => !texts.has(name)),
])

/** One of a few words, a number, an id or a date. */
function isPlain({ enum: words, type, format }: Record<string, unknown>): boolean {
  const isNumber = type === 'number' || type === 'integer' || type === 'boolean'
  return words !== undefined || isNumber || format === 'uuid' || format === 'date-time'
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
