import { dateTimeHint, isDay } from './hints.ts'

/** The rule `dateTime` of common.json, with optional seconds. */
const form =
  /^(?!0000)(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Returns the time in a parameter, option or setting, or undefined if it is not a date-time with an offset. `new Date(text)` would read 30
 * February as 2 March, and a time without an offset as local time.
 */
export function parseMoment(text: string): Date | undefined {
  const [, day] = form.exec(text) ?? []
  return day !== undefined && isDay(day) ? new Date(text) : undefined
}

/** Returns the problem of a date-time text and its correction, without the text. */
export function momentProblem(text: string): string | undefined {
  if (parseMoment(text)) return undefined
  const hint = dateTimeHint(text)
  return `must be a date-time with an offset, such as 2026-01-31T12:00:00Z${hint ? `; ${hint}` : ''}`
}
