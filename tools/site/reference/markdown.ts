import { type Page, pathOf } from '../pages.ts'

export interface Generated {
  /** The last part of the page's address. */
  name: string
  title: string
  description: string
  /** The origins of the page, in Markdown. */
  origin: string
  body: string
}

/** Returns a page of the reference. It states its origin below the title. */
export function referencePage({ name, title, description, origin, body }: Generated): Page {
  const source = `docs/reference/${name}.md`
  const text = `# ${title}\n\n${description}.\n\n_Generated from ${origin}._\n\n${body.trim()}\n`
  return { source, path: pathOf(source), title, description, text }
}

/** Returns a table. Cells are Markdown. Returns an empty text if there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))]
  return `${lines.map((line) => `| ${line.join(' | ')} |\n`).join('')}\n`
}

const cell = (text: string) => text.trim().replaceAll('\n', ' ').replaceAll('|', '\\|')

/** Returns code within a line; nothing for an empty text. */
export const code = (text: string | undefined): string => (text ? `\`${text}\`` : '')

export const block = (language: string, text: string): string => `\`\`\`${language}\n${text.trim()}\n\`\`\`\n\n`

export const json = (value: unknown): string => block('json', JSON.stringify(value, null, 2))

/** The keywords of a JSON Schema that the reference shows. */
export interface Schema {
  $ref?: string
  title?: string
  description?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
  items?: Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: unknown
  example?: unknown
  default?: unknown
  shared?: boolean
  'x-pii'?: boolean
}

/** Describes the values that a schema allows, in a few words. */
export function typeText(schema: Schema): string {
  const { enum: values, const: only, items, type, format, minimum, maximum, maxLength } = schema
  if (values) return values.map((value) => code(JSON.stringify(value))).join(', ')
  if (only !== undefined) return code(JSON.stringify(only))
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (!type && choices) return [...new Set(choices.map(typeText))].join(' or ')
  if (schema.$ref) return refName(schema.$ref)
  if (items) return `list of ${typeText(items)}`
  const name = [type ?? 'any value'].flat().join(' or ').replace('string', 'text')
  const limits = [
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : undefined,
    minimum !== undefined && maximum === undefined ? `from ${minimum}` : undefined,
    minimum === undefined && maximum !== undefined ? `up to ${maximum}` : undefined,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
    format,
  ]
  return [name, ...limits.filter((limit) => limit !== undefined)].join(', ')
}

const refName = (ref: string) => `[${ref.split('/').at(-1)}](#${ref.split('/').at(-1)?.toLowerCase()})`
