import type { SchemaUse } from '../api/system.ts'

interface Schema {
  properties?: Record<string, Record<string, unknown>>
  required?: string[]
}

type Compatibility = NonNullable<SchemaUse['compatibility']>

/**
 * What a newer version of an event changed. It breaks whoever reads the older one when a field that he counts on may be missing, or holds
 * something else.
 */
export function compatibilityOf(older: Schema, newer: Schema, olderType: string): Compatibility {
  const [before, after] = [older.properties ?? {}, newer.properties ?? {}]
  const isRequired = ({ required = [] }: Schema, field: string) => required.includes(field)
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap(
    (field): Compatibility['changes'] => {
      const pointer = `/Payload/${field}`
      const [old, now] = [before[field], after[field]]
      const [was, is] = [isRequired(older, field), isRequired(newer, field)]
      if (!old) return [{ pointer, what: is ? 'is new, and required' : 'is new', breaks: false }]
      if (!now) return [{ pointer, what: 'is gone', breaks: was }]
      return [
        ...(was && !is ? [{ pointer, what: 'need not be there any more', breaks: true }] : []),
        ...(!was && is ? [{ pointer, what: 'is required now', breaks: false }] : []),
        ...(rulesOf(old) === rulesOf(now) ? [] : [{ pointer, what: 'has other rules', breaks: true }]),
      ]
    },
  )
  return { isCompatible: !changes.some(({ breaks }) => breaks), with: olderType, changes }
}

function rulesOf(schema: Record<string, unknown>): string {
  const { title: _title, description: _description, ...rules } = schema
  return JSON.stringify(rules)
}
