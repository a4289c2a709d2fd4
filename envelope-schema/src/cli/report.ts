import type { Problem } from '../error.ts'
import type { Verdict } from '../verdict.ts'

/** A problem as a line that editors can follow: `file:line: pointer what is wrong; how to mend it`. */
export function problemLine(source: string, { pointer, message, hint }: Problem, kind = ''): string {
  return `${source}: ${kind}${pointer || 'the document'} ${message}${hint ? `; ${hint}` : ''}\n`
}

/** What is wrong with the document at `source`, a line for each problem; nothing when it is right. */
export function verdictLines(source: string, { errors, warnings }: Verdict): string {
  const lines = errors.map((problem) => problemLine(source, problem))
  return [...lines, ...warnings.map((problem) => problemLine(source, problem, 'warning: '))].join('')
}

/** The verdict as JSON, without what is empty of what refuses nothing. */
export function verdictJson(source: string, { valid, variant, errors, warnings }: Verdict): string {
  return JSON.stringify({ source, valid, variant, errors, ...(warnings.length > 0 && { warnings }) })
}
