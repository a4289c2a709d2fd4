import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { patternFlaw } from './pattern-cost.ts'

/** Reports unusable event schemas. `problems` contains a line for each problem: file, path, problem and fix. */
export class ContractError extends Error {
  readonly code = 'contract'
  readonly problems: readonly string[]
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`schemas of events are invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, options)
    this.name = 'ContractError'
    this.problems = problems
  }
}

export const eventFile = (type: string): string => `envelope-schema/schemas/events/${type.replace('@', '.')}.json`

/**
 * Reads the schema of each Payload, by event type, from files `<Name>.<Version>.json`.
 * @param common common.json; the schemas may refer to its rules
 * @throws {ContractError} listing all problems
 */
export function readEventSchemas(folder: URL, common: AnySchemaObject): ReadonlyMap<string, AnySchemaObject> {
  const files = existsSync(folder) ? readdirSync(folder).sort() : []
  const all = files.map((file) => ({ file, ...readSchema(new URL(file, folder)) }))
  const problems = all.flatMap(({ file, schema, problem }) =>
    problem ? [`${eventFile(file.replace(/\.json$/, ''))}: ${problem}`] : schemaProblems(file, schema, common),
  )
  if (problems.length > 0) throw new ContractError(problems)
  return new Map(all.map(({ file, schema }) => [file.replace(/\.(\d+)\.json$/, '@$1'), schema as AnySchemaObject]))
}

function readSchema(file: URL): { schema?: unknown; problem?: string } {
  try {
    return { schema: JSON.parse(readFileSync(file, 'utf8')) }
  } catch (error) {
    return { problem: `is not JSON: ${(error as Error).message}` }
  }
}

export const supportedFormats = ['date', 'date-time'] as const

/** The length of the longest list with `uniqueItems`. The validator compares each item with each other item. */
export const maxUniqueItems = 100

/** Keywords that all tools support: the generators of types and documents, and the comparison of versions. */
const rules = [
  ...['$ref', 'type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'not'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['properties', 'required', 'items', 'minItems', 'maxItems', 'uniqueItems'],
]
/** Keywords that only describe values. */
export const describingKeywords: readonly string[] = [
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'examples',
  'deprecated',
  'x-pii',
  'x-upcast',
]
const keywords = new Set([...rules, ...describingKeywords])

const advice: Record<string, string> = {
  additionalProperties: 'remove it, because all objects are open',
  unevaluatedProperties: 'remove it, because all objects are open',
  $defs: 'write the rule in each field, or use a rule of common.json',
  definitions: 'write the rule in each field, or use a rule of common.json',
  nullable: 'remove it, and leave the field out of "required": a publisher leaves out what it does not have',
}

/** Returns a line for each part of a schema that this engine does not support. */
function schemaProblems(file: string, schema: unknown, { $id: base, $defs }: AnySchemaObject): string[] {
  const id = new URL(`events/${file}`, base).href
  const flaws = [
    ...(/^[^.]+\.[1-9]\d*\.json$/.test(file)
      ? []
      : ['is not named after an event and its version; rename it to <Name>.<Version>.json']),
    ...flawsIn(schema, Object.keys($defs)),
    ...(isSchema(schema) && schema.$id !== id ? [`/$id: must be ${id}`] : []),
  ]
  return flaws.map((flaw) => `envelope-schema/schemas/events/${file}: ${flaw}`)
}

/** @param isItem true within the schema of a list's items */
function flawsIn(schema: unknown, shared: string[], path = '', isItem = false): string[] {
  if (!isSchema(schema)) return [`${path && `${path}: `}is not a schema; write an object such as { "type": "string" }`]
  const { properties, items, not } = schema
  return [
    ...Object.entries(schema).flatMap(([keyword, value]) => {
      const flaw = flawOf(keyword, value, shared, isItem) ?? costOf(keyword, value, schema)
      return flaw ? [`${path}/${keyword}: ${flaw}`] : []
    }),
    ...Object.entries(Object(properties)).flatMap(([name, field]) =>
      flawsIn(field, shared, `${path}/properties/${name}`, isItem),
    ),
    ...(items === undefined ? [] : flawsIn(items, shared, `${path}/items`, true)),
    ...(not === undefined ? [] : flawsIn(not, shared, `${path}/not`, isItem)),
  ]
}

function flawOf(keyword: string, value: unknown, shared: string[], isItem: boolean): string | undefined {
  const text = JSON.stringify(value)
  if (!keywords.has(keyword))
    return `is not supported; ${advice[keyword] ?? `remove it, or use one of ${rules.join(', ')}`}`
  if (keyword === 'format' && !(supportedFormats as readonly unknown[]).includes(value))
    return `${text} is not supported; use ${supportedFormats.join(' or ')}, "pattern", or for an id "$ref": "${commonRules}guid"`
  if (keyword === 'type' && typeof value !== 'string')
    return 'must be one type; leave a field that may be missing out of "required"'
  if (keyword === '$ref' && !shared.some((rule) => value === commonRules + rule))
    return `${text} is not a rule of common.json; use ${commonRules} with one of ${shared.filter((rule) => /^[a-z]/.test(rule)).join(', ')}`
  if (keyword === 'x-pii' && isItem) return 'has no effect inside a list; write it next to the "items" of the list'
  return undefined
}

/** Returns the reason why one long value could stop a service, or undefined. `new RegExp` in Ajv reports invalid patterns. */
function costOf(keyword: string, value: unknown, { maxItems }: Record<string, unknown>): string | undefined {
  if (keyword === 'uniqueItems' && value === true && !(Number(maxItems) <= maxUniqueItems))
    return `compares each item with each other item; add "maxItems" of at most ${maxUniqueItems}`
  if (keyword !== 'pattern' || typeof value !== 'string' || !isExpression(value)) return undefined
  const flaw = patternFlaw(value)
  return flaw && `${JSON.stringify(value)} ${flaw}`
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

const commonRules = '../common.json#/$defs/'

const isSchema = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
