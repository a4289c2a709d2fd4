import { fold } from './near-miss.ts'

/** Hints for frequent mistakes. A hint never repeats the wrong value. */

/** Maps wrong names to the right ones, for names that differ in more than case and separators. */
const knownWrongNames = new Map([['createdate', 'CreationDate']])

/** The maximum number of keys to compare, because a hostile object may have many keys. */
const mostKeys = 200

export function missingFieldHint(object: object, field: string): string | undefined {
  const meant = (key: string) => fold(key) === fold(field) || knownWrongNames.get(fold(key)) === field
  const key = Object.keys(object)
    .slice(0, mostKeys)
    .find((key) => key.length <= 2 * field.length && meant(key))
  return key && `rename ${key} to ${field}`
}

export function typeHint(wanted: string, value: unknown): string | undefined {
  if (Array.isArray(value) && wanted === 'object') return 'send one object, not a list'
  if (typeof value !== 'string' || value.trim() === '') return undefined
  if (wanted === 'object') return /^\s*\{/.test(value) ? 'send the object itself, not a string of JSON' : undefined
  const number = Number(value)
  if (wanted === 'integer' && Number.isInteger(number)) {
    return 'send it without quotes: 1, not "1"; in Java and C# declare the field as int, not as a string'
  }
  return Number.isFinite(number) ? 'send it without quotes: 12.5, not "12.5"' : undefined
}

/** The first matching test gives the hint. */
type Mistakes = readonly [test: RegExp | ((value: string) => boolean), hint: string][]

const guidMistakes: Mistakes = [
  [/^urn:uuid:/i, 'remove the urn:uuid: prefix'],
  [/^[{(].*[)}]$/, 'remove the brackets around it'],
  [/^[0-9a-f]{32}$/i, 'put hyphens into it: 8-4-4-4-12'],
  [/^\s|\s$/, 'remove the white space around it'],
]

const epochHint =
  'this looks like a Unix time: write ISO 8601; in Java with Jackson disable WRITE_DATES_AS_TIMESTAMPS, in .NET send a DateTimeOffset'
const listHint =
  'this looks like a Java date as a list of numbers: use Instant or OffsetDateTime; in Jackson register JavaTimeModule and disable WRITE_DATES_AS_TIMESTAMPS'

const dateMistakes: Mistakes = [
  [/^\s|\s$/, 'remove the white space around it'],
  [/^0000-/, 'give a year from 0001 to 9999'],
  [
    /\[[\w/+:-]+\]$/,
    'remove the time zone in brackets and keep the offset; in Java use ZonedDateTime.toOffsetDateTime()',
  ],
  [
    /^\/Date\(.*\)\/$/,
    'this is the old JSON date of .NET: write ISO 8601; in Newtonsoft.Json set DateFormatHandling.IsoDateFormat, in System.Text.Json send a DateTimeOffset',
  ],
  [/^-?\d{9,19}(\.\d+)?$/, epochHint],
  [/^\[\d{4},[\d, ]+\]$/, listHint],
  [
    /^([A-Z][a-z]{2},? |\d{1,2}[./]\d{1,2}[./]\d{4})/,
    'write ISO 8601: Instant.toString() in Java, ToString("O") of a DateTimeOffset in .NET, toISOString() in JavaScript',
  ],
  [/^\d{4}-\d\d-\d\d[ t]/, 'put T between the date and the time'],
  [/^\d{4}-\d\d-\d\d$/, 'add the time and an offset, such as T00:00:00Z'],
  [
    /T\d\d:\d\d(:\d\d([.,]\d+)?)?$/,
    'add Z or an offset such as +00:00; in Java use Instant or OffsetDateTime, not LocalDateTime; in .NET use DateTimeOffset, or DateTime with DateTimeKind.Utc',
  ],
  [/[+-]\d\d(\d\d)?$/, 'write the offset with hours and minutes, such as +00:00'],
  [/^\d{4}-(00|1[3-9]|[2-9]\d)-/, 'give a month from 01 to 12'],
  [namesNoDay, 'name a day that exists: this month is shorter'],
  [/T24:00/, 'write 24:00 as 00:00 of the next day'],
  [/T\d\d:\d\d:60/, 'write a leap second as second 59, or as second 00 of the next minute'],
  [/,\d+(Z|[+-]\d\d:\d\d)$/, 'write a point before the fraction of a second, not a comma'],
  [/\.\d{10,}(Z|[+-]\d\d:\d\d)$/, 'give at most 9 digits of a second'],
  [
    /T\d\d:\d\d(Z|[+-]\d\d:\d\d)$/,
    'add the seconds, such as :00; in Java format with DateTimeFormatter.ISO_OFFSET_DATE_TIME, since toString() leaves out zeros',
  ],
]

const dayMistakes: Mistakes = [
  [/^\s|\s$/, 'remove the white space around it'],
  [/^0000-/, 'give a year from 0001 to 9999'],
  [/^\d{4}-\d\d-\d\d[T ]/i, 'remove the time, and send the date alone'],
  [/^\d{4}-(00|1[3-9]|[2-9]\d)-/, 'give a month from 01 to 12'],
  [namesNoDay, 'name a day that exists: this month is shorter'],
  [/^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/, 'write year, month and day in this order, with hyphens and two digits'],
]

function namesNoDay(text: string): boolean {
  const [date] = /^\d{4}-(0[1-9]|1[0-2])-\d\d(?=T|$)/.exec(text) ?? []
  return date !== undefined && !isDay(date)
}

/** Returns true if the day exists. JavaScript reads 30 February as 2 March. @param date such as `2026-02-28` */
export function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
}

function hintFrom(mistakes: Mistakes): (value: string) => string | undefined {
  return (value) => mistakes.find(([test]) => (typeof test === 'function' ? test(value) : test.test(value)))?.[1]
}

export function dateTypeHint(value: unknown): string | undefined {
  if (typeof value === 'number') return epochHint
  return Array.isArray(value) && value.length > 0 && value.every(Number.isInteger) ? listHint : undefined
}

/** W3C Trace Context, section 3.2.2.3: a trace-id of zeros is invalid. */
export const zeroHint = 'make a new GUID: W3C Trace Context forbids a trace-id of zeros'

export const guidHint = hintFrom(guidMistakes)
export const dateHint = hintFrom(dayMistakes)
export const dateTimeHint = hintFrom(dateMistakes)
