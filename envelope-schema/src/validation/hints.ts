import { fold } from './near-miss.ts'

/** Hints for mistakes that are known to happen. They describe the mistake and never repeat the value. */

/** Wrong names that differ from the right one in more than case and separators. */
const knownWrongNames = new Map([['createdate', 'CreationDate']])

/** Of a hostile object only so many keys are looked at: each takes time, for each field that is missing. */
const mostKeys = 200

/** For a missing field: the other key of `object` that was probably meant to be it. */
export function missingFieldHint(object: object, field: string): string | undefined {
  const meant = (key: string) => fold(key) === fold(field) || knownWrongNames.get(fold(key)) === field
  const key = Object.keys(object)
    .slice(0, mostKeys)
    .find((key) => key.length <= 2 * field.length && meant(key))
  return key && `rename ${key} to ${field}`
}

/** For a value that should be of a JSON type. */
export function typeHint(wanted: string, value: unknown): string | undefined {
  if (Array.isArray(value) && wanted === 'object') return 'send one object, not a list'
  if (typeof value !== 'string' || value.trim() === '') return undefined
  if (wanted === 'object') return /^\s*\{/.test(value) ? 'send the object itself, not a string of JSON' : undefined
  return Number.isFinite(Number(value)) ? 'send it without quotes: 12.5, not "12.5"' : undefined
}

const guidMistakes: [RegExp, string][] = [
  [/^urn:uuid:/i, 'remove the urn:uuid: prefix'],
  [/^[{(].*[)}]$/, 'remove the brackets around it'],
  [/^[0-9a-f]{32}$/i, 'put hyphens into it: 8-4-4-4-12'],
  [/^\s|\s$/, 'remove the white space around it'],
]

const dateMistakes: [RegExp, string][] = [
  [/^\s|\s$/, 'remove the white space around it'],
  [/^0000-/, 'give a year from 0001 to 9999'],
  [/^\d{4}-\d\d-\d\d[ t]/, 'put T between the date and the time'],
  [/^\d{4}-\d\d-\d\d$/, 'add the time and an offset, such as T00:00:00Z'],
  [/T\d\d:\d\d(:\d\d([.,]\d+)?)?$/, 'add Z or an offset such as +00:00'],
  [/[+-]\d\d(\d\d)?$/, 'write the offset with hours and minutes, such as +00:00'],
]

function hintFrom(mistakes: [RegExp, string][]): (value: string) => string | undefined {
  return (value) => mistakes.find(([mistake]) => mistake.test(value))?.[1]
}

/** W3C Trace Context, section 3.2.2.3: all bytes as zero is an invalid trace-id. */
export const zeroHint = 'make a new GUID: W3C Trace Context has no trace-id of zeros'

export const guidHint = hintFrom(guidMistakes)
export const dateTimeHint = hintFrom(dateMistakes)
