import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describingKeywords } from '../schemas/event-schemas.ts'

/** A JSON Schema without references and descriptions (see `rulesOf`). */
export type Rules = Record<string, unknown>

export interface Change {
  pointer: string
  message: string
  /** True if the change makes a valid document invalid. */
  breaksBackward: boolean
  /** True if the change makes an invalid document valid. */
  breaksForward: boolean
}

type Compatibility = 'full' | 'backward' | 'forward' | 'breaking'

/**
 * Returns the compatibility of two schemas by the rules of Confluent's Schema Registry (confluentinc/schema-registry#1490). Backward: every
 * old document is valid in the new schema. Forward: every new document is valid in the old schema.
 */
export function compatibilityOf(changes: readonly Change[]): Compatibility {
  const [backward, forward] = [
    !changes.some((each) => each.breaksBackward),
    !changes.some((each) => each.breaksForward),
  ]
  return backward ? (forward ? 'full' : 'backward') : forward ? 'forward' : 'breaking'
}

/**
 * Returns the differences between the rules of two schemas. As in the registry, the first rule for a field breaks backward compatibility
 * (PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL, #1458). An empty rule breaks nothing (#1802). A change of an unknown keyword breaks backward and forward
 * compatibility.
 */
export function changesBetween(before: Rules, after: Rules, pointer = ''): Change[] {
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keywords].flatMap((keyword) => {
    const [old, now] = [before[keyword], after[keyword]]
    if (isDeepStrictEqual(old, now)) return []
    if (keyword === 'properties') return propertyChanges((old ?? {}) as Fields, (now ?? {}) as Fields, pointer)
    if (keyword === 'required') return requiredChanges((old ?? []) as string[], (now ?? []) as string[], pointer)
    if (keyword === 'items') return changesBetween((old ?? {}) as Rules, (now ?? {}) as Rules, `${pointer}/*`)
    return [valueChange(keyword, old, now, pointer)]
  })
}

type Fields = Record<string, Rules>

const newRule = 'has a rule now, and could have any value before'

/** Returns true if these changes require an upcaster for Payloads of the older Version. A new field requires none. */
export function needsUpcaster(changes: readonly Change[]): boolean {
  return changes.some(({ breaksBackward, message }) => breaksBackward && message !== newRule)
}

function propertyChanges(before: Fields, after: Fields, pointer: string): Change[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name): Change[] => {
    const [old, now] = [own(before, name), own(after, name)]
    const place = `${pointer}/${name}`
    if (old && now) return changesBetween(old, now, place)
    if (Object.keys(old ?? now ?? {}).length === 0) return []
    return now
      ? [change(place, newRule, { backward: false, forward: true })]
      : [change(place, 'has no rule now, and can have any value', { backward: true, forward: false })]
  })
}

const own = (fields: Fields, name: string) => (Object.hasOwn(fields, name) ? fields[name] : undefined)

function requiredChanges(before: string[], after: string[], pointer: string): Change[] {
  const added = after.filter((name) => !before.includes(name))
  const removed = before.filter((name) => !after.includes(name))
  return [
    ...added.map((name) => change(`${pointer}/${name}`, 'is required now', { backward: false, forward: true })),
    ...removed.map((name) => change(`${pointer}/${name}`, 'is no longer required', { backward: true, forward: false })),
  ]
}

/** Keywords with limits. A greater value accepts more documents (`upper`) or fewer documents (`lower`). */
const [upper, lower] = [
  ['maxLength', 'maximum', 'exclusiveMaximum', 'maxItems', 'maxProperties'],
  ['minLength', 'minimum', 'exclusiveMinimum', 'minItems', 'minProperties'],
]

function valueChange(keyword: string, old: unknown, now: unknown, pointer: string): Change {
  const told = `${keyword} was ${text(old)} and is ${text(now)}`
  const [isUpper, isLower] = [upper?.includes(keyword), lower?.includes(keyword)]
  if (isUpper || isLower) {
    const none = isUpper ? Infinity : -Infinity
    const grows = ((now as number | undefined) ?? none) > ((old as number | undefined) ?? none)
    return change(pointer, told, { backward: grows === isUpper, forward: grows !== isUpper })
  }
  if (keyword === 'enum' || keyword === 'type') {
    const covers = keyword === 'enum' ? includesAll : typesCover
    return change(pointer, told, { backward: covers(now, old), forward: covers(old, now) })
  }
  // Any other changed rule is treated as breaking backward and forward compatibility, because rules cannot be compared in general.
  return change(pointer, told, { backward: now === undefined, forward: old === undefined })
}

/** Returns true if `all` includes every value of `some`. `undefined` stands for every value. */
function includesAll(all: unknown, some: unknown): boolean {
  if (all === undefined) return true
  return (
    some !== undefined && [some].flat().every((each) => [all].flat().some((other) => isDeepStrictEqual(each, other)))
  )
}

const typesCover = (all: unknown, some: unknown) => includesAll(withIntegers(all), some)
const withIntegers = (types: unknown) => ([types].flat().includes('number') ? [types, 'integer'].flat() : types)

const text = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value))

function change(pointer: string, message: string, holds: { backward: boolean; forward: boolean }): Change {
  return { pointer, message, breaksBackward: !holds.backward, breaksForward: !holds.forward }
}

export type Schemas = ReadonlyMap<string, Rules>

const words = new Set([...describingKeywords, 'default', '$defs'])

/**
 * Returns the rules of a schema with all references filled in, because a rule may change in another file. If a schema and the schema to which it
 * refers have the same keyword, both values are kept.
 * @throws {Error} for a reference without a target
 */
export function rulesOf(schemas: Schemas, path: string): Rules {
  const schema = schemas.get(path)
  if (!schema) throw new Error(`unknown schema ${path}`)
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

const both = (keyword: string, rules: Rules) => (keyword in rules ? `${keyword} (next to $ref)` : keyword)

function target(ref: string, path: string, schemas: Schemas): Rules {
  const [file = '', pointer = ''] = ref.split('#')
  const targetPath = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file))
  let found: unknown = schemas.get(targetPath)
  for (const key of pointer.split('/').slice(1)) found = (found as Rules | undefined)?.[key]
  if (typeof found !== 'object' || found === null) throw new Error(`${path} refers to ${ref}, which does not exist`)
  return filled(found as Rules, targetPath, schemas)
}

/**
 * Returns the differences between two schemas. The paths are those of `schemaDocuments`, such as `events/Name.1.json`.
 * @param before the state that contains the older schema
 */
export function schemaChanges(schemas: Schemas, older: string, newer: string, before = schemas): Change[] {
  return changesBetween(rulesOf(before, older), rulesOf(schemas, newer))
}
