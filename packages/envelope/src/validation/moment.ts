import { dateTimeHint, isDay } from './hints.ts'

/** The rule `dateTime` of common.json, in which the seconds may be missing. A test compares the two. */
const form =
  /^(?!0000)(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Returns the moment that a text names: a parameter, an option or a setting. Neither `new Date(text)` nor `Date.parse` validates: both
 * read 30 February as 2 March, and a time without an offset as local time.
 * @returns undefined if it is no date-time with an offset; see `momentProblem`
 */
export function parseMoment(text: string): Date | undefined {
  const [, day] = form.exec(text) ?? []
  return day !== undefined && isDay(day) ? new Date(text) : undefined
}

/** Returns what is wrong with a text that should name a moment, and how to correct it; undefined if nothing is. Never repeats the text. */
export function momentProblem(text: string): string | undefined {
  if (parseMoment(text)) return undefined
  const hint = dateTimeHint(text)
  return `must be a date-time with an offset, such as 2026-01-31T12:00:00Z${hint ? `; ${hint}` : ''}`
}
