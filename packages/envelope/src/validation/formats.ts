import { fullFormats } from 'ajv-formats/dist/formats.js'
import { isGuid } from '../schemas/guid.ts'
import { guidPattern } from '../schemas/schemas.ts'

/** A date-time on a day that each month has, which is all but one of ten: no calendar is needed to say that it is right. */
const anyMonth =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

const { validate } = fullFormats['date-time'] as { validate: (text: string) => boolean }

/**
 * Formats as ajv-formats has them, but for the year 0, which the rule `dateTime` refuses. It takes a date apart, which is a tenth of what
 * the check of an event costs, so that comes second.
 */
export const formats = {
  'date-time': (text: string): boolean => anyMonth.test(text) || (validate(text) && !text.startsWith('0000')),
}

/** Makes Ajv's regular expressions. `code` is its name in the validators that build.ts compiles. */
export const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => {
    const expression = new RegExp(pattern, flags)
    return pattern === guidPattern ? Object.assign(expression, { test: isGuid }) : expression
  },
  { code: 'regExp' },
)
