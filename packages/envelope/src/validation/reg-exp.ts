import { isGuid } from '../schemas/guid.ts'
import { guidPattern } from '../schemas/schemas.ts'

/** Makes Ajv's regular expressions. `code` is its name in the validators that build.ts compiles. */
export const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => {
    const expression = new RegExp(pattern, flags)
    return pattern === guidPattern ? Object.assign(expression, { test: isGuid }) : expression
  },
  { code: 'regExp' },
)
