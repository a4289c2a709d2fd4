import type { ValidateFunction } from 'ajv/dist/2020.js'
import { isRequiredField } from '../schemas/field-schema.ts'
import {
  commonSchema,
  fieldOf,
  isGuidSchema,
  knownVersions,
  newestType,
  typeOf,
  type Variant,
} from '../schemas/schemas.ts'
import type { EventName, EventType } from '../schemas/types.ts'
import { sharedAjv } from './ajv.ts'
import { nearMissIn } from './near-miss.ts'
import { type Fault, onePerPointer, type Problem, toProblems } from './problems.ts'
import { envelopeValidators, payloadValidators } from './validators.ts'

interface EventFields {
  Name?: unknown
  Version?: unknown
  Payload?: unknown
}

const tombstone: Problem = { pointer: '', message: 'is null', hint: 'a null value is a tombstone, not an event' }
const cloudEvent: Problem = {
  pointer: '',
  message: 'is a CloudEvent, not an envelope',
  hint: 'send the envelope itself as the Kafka value, not a CloudEvent (Dapr: metadata.rawPayload=true)',
}

/** Every CloudEvent has `specversion` (CloudEvents 1.0.2, required attributes). */
function isCloudEvent(document: object): boolean {
  return Object.hasOwn(document, 'specversion') && !Object.hasOwn(document, 'Payload')
}

/** Kafka Connect's JsonConverter adds a schema to each payload unless `schemas.enable` is false. */
function isConnectRecord(document: object): document is { schema: unknown; payload: unknown } {
  return Object.hasOwn(document, 'schema') && Object.hasOwn(document, 'payload') && Object.keys(document).length === 2
}

function connectRecord({ payload }: { payload: unknown }): Problem {
  const hint =
    typeof payload === 'string'
      ? 'set value.converter=org.apache.kafka.connect.storage.StringConverter in the connector, since its payload is a text'
      : 'set value.converter.schemas.enable=false in the connector'
  return { pointer: '', message: 'is a Kafka Connect record with its schema, not an envelope', hint }
}

/** Returns the reason why a document is not an envelope of the variant. Does not check the Payload. */
export function envelopeFault(document: unknown, variant: Variant): Fault | undefined {
  const problems = envelopeProblems(document, variant)
  return problems.length > 0 ? { code: 'not-an-envelope', problems } : undefined
}

function envelopeProblems(document: unknown, variant: Variant): Problem[] {
  if (document === null) return [tombstone]
  if (isObject(document) && isCloudEvent(document)) return [cloudEvent]
  if (isObject(document) && isConnectRecord(document)) return [connectRecord(document)]
  const validate = envelopeValidators[variant]
  return validate(document) ? [] : toProblems(validate.errors ?? [])
}

/** Two lookups, of Name and of Version, are faster than joining both to a type. */
const validatorsByName: ReadonlyMap<string, ReadonlyMap<unknown, ValidateFunction | undefined>> = new Map(
  Array.from(knownVersions, ([Name, versions]) => [
    Name,
    new Map(versions.map((Version) => [Version, payloadValidators.get(typeOf({ Name, Version }))])),
  ]),
)

const nearestEvent = nearMissIn(knownVersions.keys())

/**
 * Returns true for another application's event: its Name differs clearly from all known names. Receivers skip it without checking the
 * Payload.
 */
export function isForeignName(name: unknown): boolean {
  return typeof name === 'string' && !knownVersions.has(name) && nearestEvent(name) === undefined
}

/** Returns the reason why a Payload is invalid for its Name and Version. */
export function payloadFault({ Name, Version, Payload }: EventFields): Fault | undefined {
  if (typeof Name !== 'string') return undefined
  const versions = knownVersions.get(Name)
  if (!versions) {
    const meant = nearestEvent(Name)
    return unknownEvent(meant ? `write ${meant}` : `known events: ${[...knownVersions.keys()].join(', ')}`)
  }
  const validate = validatorsByName.get(Name)?.get(Version)
  if (!validate) return unknownVersion('known', Name, versions)
  if (validate(Payload)) return undefined
  return { code: 'invalid-payload', problems: toProblems(validate.errors ?? [], '/Payload') }
}

export function unknownEvent(hint: string): Fault {
  return { code: 'unknown-event', problems: [{ pointer: '/Name', message: 'is not a known event', hint }] }
}

/**
 * @param kind `known` if the version has no schema, `handled` if the receiver handles other versions
 * @param versions the versions that the hint lists
 */
export function unknownVersion(kind: 'known' | 'handled', name: string, versions: readonly number[]): Fault {
  const hint = `${kind} versions of ${name}: ${versions.join(', ')}`
  return { code: 'unknown-version', problems: [{ pointer: '/Version', message: `is not a ${kind} version`, hint }] }
}

/** Returns the problems of an envelope and of its Payload. */
export function eventFault(document: unknown, variant: Variant): Fault | undefined {
  return together(envelopeFault(document, variant), isObject(document) ? payloadFault(document) : undefined)
}

export function limitFault(document: unknown, isPlain = false): Fault | undefined {
  const problems = limitProblems(document, isPlain)
  return problems.length > 0 ? { code: 'not-an-envelope', problems } : undefined
}

export function together(first: Fault | undefined, second: Fault | undefined): Fault | undefined {
  if (!first || !second) return first ?? second
  return { code: first.code, problems: onePerPointer([...first.problems, ...second.problems]) }
}

/**
 * The maximum number of levels. The document is the first level. BSON allows 100 levels, and a stored document may contain the event at a
 * deeper level.
 */
const maxLevels = 64

/** Returns true for a key that may be printed. Other keys may be long or personal. */
export const isPlainKey = (key: string): boolean => /^\w{1,64}$/.test(key)

/** The maximum number of levels in a pointer. A pointer to a deeper level would be too long. */
const pointerLevels = 2

interface Branch {
  value: object
  within?: { branch: Branch; key: string }
}

const tooLarge = { message: 'has a number that is too large for a 64-bit double' }
const tooDeep = {
  pointer: '',
  message: `nests deeper than ${maxLevels} levels`,
  hint: 'each object and list is a level, and the document is the first: flatten it, or send the deep part as a text',
}
const notPortable = {
  message: 'has U+0000 or a lone surrogate in a text or key',
  hint: 'leave it out: not every language and database can hold it',
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

type Flaw = Omit<Problem, 'pointer'>

function flawOf(value: unknown): Flaw | undefined {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return notPortable
  return value === Infinity || value === -Infinity ? tooLarge : undefined
}

/** Checks one level after the other, because recursion could exceed the call stack. */
export function nestsTooDeep(document: unknown): boolean {
  let branches = [document].filter(isObject)
  for (let level = 0; level < maxLevels; level += 1) {
    branches = branches.flatMap((branch) => Object.values(branch).filter(isObject))
  }
  return branches.length > 0
}

/** Returns true if `limitProblems` would find no problem. This check must be fast, because it runs for every event. */
function keepsLimits(value: unknown, levels: number, isPlain: boolean): boolean {
  if (typeof value === 'string') return isPlain || flawOf(value) === undefined
  if (!isObject(value)) return flawOf(value) === undefined
  if (levels === 0) return false
  if (Array.isArray(value)) return value.every((item) => keepsLimits(item, levels - 1, isPlain))
  for (const key in value) {
    if (!isPlain && flawOf(key)) return false
    if (!keepsLimits((value as Record<string, unknown>)[key], levels - 1, isPlain)) return false
  }
  return true
}

/**
 * Returns the problems that JSON Schema cannot express in every language:
 * - more than 64 levels;
 * - numbers beyond a 64-bit double: JSON.parse reads 1e400 as Infinity, which would be written as null;
 * - U+0000, which MongoDB rejects in keys and PostgreSQL everywhere;
 * - lone surrogates, which UTF-8 cannot write (RFC 7493, section 2.1).
 *
 * The search does not recurse, because `document` may nest deeper than the call stack.
 * @param isPlain true if the document's text has no backslash: JSON writes U+0000 and lone surrogates only with escapes
 * @returns one problem for each pointer
 */
export function limitProblems(document: unknown, isPlain = false): Problem[] {
  if (keepsLimits(document, maxLevels, isPlain)) return []
  if (nestsTooDeep(document)) return [tooDeep]
  const problems = new Map<string, Problem>()
  const report = (flaw: Flaw, keys: string[]) => {
    const pointer = pointerOf(keys)
    if (!problems.has(pointer)) problems.set(pointer, { pointer, ...flaw })
  }
  const flaw = flawOf(document)
  if (flaw) report(flaw, [])
  const waiting: Branch[] = isObject(document) ? [{ value: document }] : []
  for (let branch = waiting.pop(); branch; branch = waiting.pop()) {
    const { value } = branch
    for (const key of Object.keys(value)) {
      const child = (value as Record<string, unknown>)[key]
      const ofKey = flawOf(key)
      if (ofKey) report(ofKey, keysTo(branch))
      const ofChild = flawOf(child)
      if (ofChild) report(ofChild, [...keysTo(branch), key])
      if (isObject(child)) waiting.push({ value: child, within: { branch, key } })
    }
  }
  return [...problems.values()]
}

function keysTo({ within }: Branch): string[] {
  return within ? [...keysTo(within.branch), within.key] : []
}

/** Returns a pointer that ends before the first key that is too deep or must not be printed. */
export function pointerOf(keys: string[]): string {
  const unnamed = keys.findIndex((key, index) => index >= pointerLevels || !isPlainKey(key))
  return keys
    .slice(0, unnamed < 0 ? keys.length : unnamed)
    .map((key) => `/${key}`)
    .join('')
}

type PayloadField = readonly [type: EventType | EventName, field: string]

/**
 * Returns a validator for another JSON document that contains fields of an event, such as a request's body. Each field must keep the rules of the
 * payload field, and the limits of `limitProblems`.
 * @returns a function that lists every problem of a document
 */
export function fieldValidator(fields: Record<string, PayloadField>): (body: unknown) => Problem[] {
  const validate = compileFields(fields)
  const names = Object.keys(fields)
  return (body) => {
    const problems = validate(body) ? [] : toProblems(validate.errors ?? [])
    const given = Object(body) as Record<string, unknown>
    return onePerPointer([...problems, ...limitProblems(Object.fromEntries(names.map((name) => [name, given[name]])))])
  }
}

/** @throws {Error} if the type's schema does not name the field */
export function isGuidField(type: EventType | EventName, field: string): boolean {
  return isGuidSchema(fieldOf(type, field))
}

/** The compiled schemas by their text. Ajv would compile and keep a schema for each call. */
const compiled = new Map<string, ValidateFunction>()

function compileFields(fields: Record<string, PayloadField>): ValidateFunction {
  const all = Object.entries(fields)
  const properties = all.map(([name, [type, field]]) => {
    const { href } = new URL(`events/${newestType(type).replace('@', '.')}.json#/properties/${field}`, commonSchema.$id)
    return [name, { $ref: href }]
  })
  const schema = {
    type: 'object',
    required: all.filter(([, [type, field]]) => isRequiredField(type, field)).map(([name]) => name),
    properties: Object.fromEntries(properties),
  }
  const text = JSON.stringify(schema)
  const validate = compiled.get(text) ?? sharedAjv().compile(schema)
  compiled.set(text, validate)
  return validate
}
