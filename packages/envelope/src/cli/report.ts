import type { Verdict } from '../envelope/verdict.ts'
import type { Problem } from '../validation/error.ts'

/** A problem as a line that editors can follow: `file:line: pointer what is wrong; how to mend it`. */
export function problemLine(source: string, { pointer, message, hint }: Problem, kind = ''): string {
  return `${source}: ${kind}${pointer || 'the document'} ${message}${hint ? `; ${hint}` : ''}\n`
}

/** What is wrong with the document that begins on a line, a line for each problem; nothing when it is right, as nearly all are. */
export function verdictLines(file: string, line: number, { errors, warnings }: Verdict): string {
  if (errors.length === 0 && warnings.length === 0) return ''
  const source = `${file}:${line}`
  const lines = errors.map((problem) => problemLine(source, problem))
  return [...lines, ...warnings.map((problem) => problemLine(source, problem, 'warning: '))].join('')
}

/** The verdict as JSON, without what is empty of what refuses nothing. */
export function verdictJson(file: string, line: number, { valid, variant, errors, warnings }: Verdict): string {
  return JSON.stringify({ source: `${file}:${line}`, valid, variant, errors, ...(warnings.length > 0 && { warnings }) })
}
