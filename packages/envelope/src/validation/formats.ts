import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { supportedFormats } from '../schemas/event-schemas.ts'
import { isGuid } from '../schemas/guid.ts'
import { guidPattern } from '../schemas/schemas.ts'
import { isDay } from './hints.ts'

/** Matches a date-time on a day that every year has: not on February 29. */
const anyYear =
  /^(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

const { validate } = fullFormats['date-time'] as { validate: (text: string) => boolean }

/** The formats of ajv-formats without the year 0, which common.json rejects. `anyYear` comes first because it is faster. */
export const formats: Record<(typeof supportedFormats)[number], (text: string) => boolean> = {
  date: (text) => /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  'date-time': (text) => anyYear.test(text) || (validate(text) && !text.startsWith('0000')),
}

/** Creates Ajv's regular expressions. `code` is the name by which compiled validators (build.ts) import this function. */
export const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => {
    const expression = new RegExp(pattern, flags)
    return pattern === guidPattern ? Object.assign(expression, { test: isGuid }) : expression
  },
  { code: 'regExp' },
)
