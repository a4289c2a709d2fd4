import { readFileSync } from 'node:fs'
import { templateFile } from './paths.ts'
import { entryOf } from './services.ts'

/** @param template its path in `templates/` */
export const templateText = (template: string): string => readFileSync(templateFile(template), 'utf8')

/** Returns a template with values in place of `{{name}}`. A value with several lines, or an empty one, replaces the line of its name. */
export function filledIn(template: string, values: Record<string, unknown>): string {
  return templateText(template).replaceAll(/\{\{(\w+)\}\}(\n?)/g, (_, name: string, end: string) => {
    const value = String(entryOf(values, name))
    return value.endsWith('\n') || value === '' ? value : value + end
  })
}

/** Returns the comment at the beginning of a generated file. */
export function generated(comment = ''): string {
  const lines = ['Generated from services.json by make generate.', ...(comment ? ['', ...comment.split('\n')] : [])]
  return lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
}

/** Returns a generated file from a template that begins with a comment of its own. */
export const generatedFrom = (template: string, values: Record<string, unknown>): string =>
  `${generated()}#\n${filledIn(template, values)}`
