import { readFileSync } from 'node:fs'
import { templateFile } from '../application/paths.ts'
import { entryOf } from '../application/services.ts'

export function generated(comment: string): string {
  const lines = ['Generated from services.json by make generate.', ...(comment ? ['', ...comment.split('\n')] : [])]
  return lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
}

/**
 * Returns a template of this package with values in place of `{{name}}`. A value with several lines replaces the line of its name.
 * @param template its path in `templates/`
 */
export function filledIn(template: string, values: Record<string, string>): string {
  const text = readFileSync(templateFile(template), 'utf8')
  return text.replaceAll(/\{\{(\w+)\}\}(\n?)/g, (_, name: string, end: string) => {
    const value = entryOf(values, name)
    return value.endsWith('\n') || value === '' ? value : value + end
  })
}
