import { posix } from 'node:path'
import type { Rules } from './changes.ts'

/** The schemas of a folder, by their path in it. */
export type Schemas = ReadonlyMap<string, Rules>

/** What says something of a schema, or of what it is about, and refuses nothing. */
const words = new Set([
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'examples',
  'deprecated',
  'default',
  'x-pii',
  'x-upcast',
  '$defs',
])

/**
 * What a schema refuses: without words, and with every reference filled in, since a rule that changed in another file changed here,
 * too. What stands beside a reference holds as well as what it refers to; a keyword that both have is the stricter of two, or told as
 * one of each.
 * @throws {Error} for a reference to nothing
 */
export function rulesOf(schemas: Schemas, path: string): Rules {
  const schema = schemas.get(path)
  if (!schema) throw new Error(`there is no schema ${path}`)
  return filled(schema, path, schemas)
}

function filled({ $ref, ...schema }: Rules, path: string, schemas: Schemas): Rules {
  const rules: Rules = typeof $ref === 'string' ? target($ref, path, schemas) : {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (words.has(keyword)) continue
    const rule = keyword === 'properties' ? eachFilled(value as Record<string, Rules>, path, schemas) : value
    if (keyword === 'not' || keyword === 'items') rules[both(keyword, rules)] = filled(value as Rules, path, schemas)
    else
      rules[rules[keyword] === rule ? keyword : both(keyword, rules)] =
        keyword === 'required' ? [...(rule as string[])].sort() : rule
  }
  return rules
}

function eachFilled(fields: Record<string, Rules>, path: string, schemas: Schemas): Record<string, Rules> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, filled(field, path, schemas)]))
}

/** The name under which a keyword is kept beside the one that a reference brought. */
const both = (keyword: string, rules: Rules) => (keyword in rules ? `${keyword} (beside $ref)` : keyword)

function target(ref: string, path: string, schemas: Schemas): Rules {
  const [file = '', pointer = ''] = ref.split('#')
  const targetPath = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file))
  let found: unknown = schemas.get(targetPath)
  for (const key of pointer.split('/').slice(1)) found = (found as Rules | undefined)?.[key]
  if (typeof found !== 'object' || found === null) throw new Error(`${path} refers to ${ref}, which is not there`)
  return filled(found as Rules, targetPath, schemas)
}
