import { type AsyncApiDocument, type JsonSchema, nameIn } from './types.ts'

/** A field of a message, as a row to be read. */
export interface FieldRow {
  /** From the document on, such as `Payload.Field`. */
  path: string
  type: string
  description: string
  isRequired: boolean
  isPersonal: boolean
}

/** All fields that a message's schema names, those in objects after the object. */
export function fieldRows(payload: JsonSchema, schemas: AsyncApiDocument['components']['schemas']): FieldRow[] {
  return rowsIn(payload, schemas, '')
}

function rowsIn(
  { properties = {}, required = [] }: JsonSchema,
  schemas: Record<string, JsonSchema>,
  base: string,
): FieldRow[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const known = filledIn(field, schemas)
    const path = `${base}${name}`
    const { description = '' } = known
    const row = {
      path,
      type: typeOf(known),
      description,
      isRequired: required.includes(name),
      isPersonal: known['x-pii'] === true,
    }
    return [row, ...rowsIn(known, schemas, `${path}.`)]
  })
}

/** With what it refers to; what it says itself counts more. */
function filledIn({ $ref, allOf = [], ...own }: JsonSchema, schemas: Record<string, JsonSchema>): JsonSchema {
  const parts = $ref ? [schemas[nameIn({ $ref })] ?? {}] : allOf
  const filled = parts.reduce<JsonSchema>((merged, part) => Object.assign(merged, filledIn(part, schemas)), {})
  return { ...filled, ...own }
}

/** In words: `text, 1 to 200 characters`. */
function typeOf(schema: JsonSchema): string {
  const { type, enum: words, const: only, pattern, minLength, maxLength, minimum, maximum } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(' or ')
  if (schema.format === 'date-time') return 'date and time with offset'
  if (typeof pattern === 'string' && pattern.includes('{8}-')) return 'GUID'
  if (type === 'string') return `text${range(minLength, maxLength, ' characters')}`
  if (type === 'number' || type === 'integer')
    return `${type === 'integer' ? 'whole number' : 'number'}${range(minimum, maximum, '')}`
  return type ?? 'anything'
}

function range(from: unknown, to: unknown, unit: string): string {
  if (from === undefined && to === undefined) return ''
  if (from === undefined) return `, up to ${to}${unit}`
  return to === undefined ? `, from ${from}${unit}` : `, ${from} to ${to}${unit}`
}
