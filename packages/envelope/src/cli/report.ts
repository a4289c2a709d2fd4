import type { Verdict } from '../envelope/verdict.ts'
import type { Problem } from '../validation/problems.ts'

/** Returns a problem as a line that editors can link: `file:line: pointer problem; correction`. */
export function problemLine(source: string, { pointer, message, hint }: Problem, kind = ''): string {
  return `${source}: ${kind}${pointer || 'the document'} ${message}${hint ? `; ${hint}` : ''}\n`
}

export function verdictLines(file: string, line: number, { errors, warnings }: Verdict): string {
  if (errors.length === 0 && warnings.length === 0) return ''
  const source = `${file}:${line}`
  const lines = errors.map((problem) => problemLine(source, problem))
  return [...lines, ...warnings.map((problem) => problemLine(source, problem, 'warning: '))].join('')
}

export function verdictJson(file: string, line: number, { valid, variant, errors, warnings }: Verdict): string {
  return JSON.stringify({ source: `${file}:${line}`, valid, variant, errors, ...(warnings.length > 0 && { warnings }) })
}
