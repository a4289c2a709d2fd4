import type { JsonSchema } from './types.ts'

/**
 * A schema of 2020-12 as one of draft 7, in which nothing may stand beside a reference, and whose shared rules are where AsyncAPI has
 * them. It refuses and accepts the same.
 */
export function toDraft7(schema: unknown): JsonSchema {
  const { $schema: _, $id: __, $defs: ___, ...kept } = schema as JsonSchema
  return convert(kept) as JsonSchema
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert)
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...own } = value as JsonSchema
  const converted = Object.fromEntries(Object.entries(own).map(([key, inner]) => [key, convert(inner)]))
  if ($ref === undefined) return converted
  const reference = { $ref: $ref.replace('#/$defs/', '#/components/schemas/') }
  return Object.keys(own).length === 0 ? reference : { ...converted, allOf: [reference] }
}
