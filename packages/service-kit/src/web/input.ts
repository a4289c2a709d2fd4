import { examplePayload, fieldValidator, isGuidField, isRequiredField, parseGuid } from '@orderflow/envelope'
import type { Request } from 'express'
import { type ContractField, guidText, type Model, propertiesOf, type Schema, text } from './model.ts'
import { type FieldError, invalid } from './problems.ts'
import { unknownFields, unknownParameters } from './unknown-names.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
  example?: string
}

export interface BodyKind {
  types: readonly string[]
  maxBytes: number
  /** The largest number of bytes in memory for all bodies of this kind together. Further requests get 503. */
  maxHeldBytes: number
  /** True if the body is parsed as JSON. Otherwise the operation gets the bytes. */
  isJson?: boolean
}

export interface Input<T> {
  /** @throws {HttpProblem} 400 with the error of the input */
  read(request: Request): T
  parameters?: readonly Parameter[]
  body?: Model<unknown>
  /** The kind of body that is read into `request.body`. Left out if the operation has a small JSON body, or no body. */
  receives?: BodyKind
  problems: readonly number[]
}

export type Inputs = Record<string, Input<unknown>>

export type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

/**
 * Creates a function that reads all inputs in order.
 * @throws {HttpProblem} (the function) for an invalid input, and for an unknown query parameter or field. Otherwise a client with `?next=` instead of
 *   `?cursor=` would always get the first page.
 */
export function inputsReader<I extends Inputs>(inputs: I): (request: Request) => Values<I> {
  const entries = Object.entries(inputs)
  const parameters = entries.flatMap(([, { parameters = [] }]) => parameters)
  const unknownQuery = unknownParameters(parameters.filter((one) => one.in === 'query').map(({ name }) => name))
  const unknownBody = unknownBodyOf(Object.values(inputs))
  return (request) => {
    refuse(unknownQuery(request.query))
    const values: Record<string, unknown> = {}
    for (const [name, input] of entries) values[name] = input.read(request)
    refuse(unknownBody(request.body))
    return values as Values<I>
  }
}

/** Ignores a body whose schema does not list its fields, such as envelopes. An operation that takes no body allows an empty object only. */
function unknownBodyOf(inputs: readonly Input<unknown>[]): (body: unknown) => FieldError[] {
  if (inputs.some(({ receives, body }) => receives && !body?.schema.properties)) return () => []
  return unknownFields(inputs.flatMap(({ body }) => Object.keys(body?.schema.properties ?? {})))
}

function refuse(errors: FieldError[]): void {
  if (errors.length > 0) throw invalid(errors)
}

type Described = Pick<Parameter, 'description' | 'example'>

/** Creates the input of a GUID in the path: `pathId('id')` for `/v1/things/{id}`. The operation may answer 404. */
export function pathId(name: string, described: Described = {}): Input<string> {
  return {
    read: (request) => readGuid(name, request.params[name]),
    parameters: [{ name, in: 'path', required: true, schema: guidText, ...described }],
    problems: [400, 404],
  }
}

/** Creates the input of a word in the path. The operation may answer 404. */
export function pathWord(name: string, described: Described = {}): Input<string> {
  return {
    read: (request) => String(request.params[name]),
    parameters: [{ name, in: 'path', required: true, schema: text, ...described }],
    problems: [404],
  }
}

/** Creates the input of a query parameter whose value is one of a few words. The first word is the default. */
export function queryWord<Word extends string>(
  name: string,
  words: readonly [Word, ...Word[]],
  described: Described = {},
): Input<Word> {
  return {
    read({ query }) {
      const { [name]: given = words[0] } = query
      const found = words.find((word) => word === given)
      if (found !== undefined) return found
      throw invalid([{ pointer: name, detail: `must be ${words.join(' or ')}` }])
    },
    parameters: [{ name, in: 'query', schema: { ...text, enum: words, default: words[0] }, ...described }],
    problems: [400],
  }
}

export function queryId(name: string, described: Described = {}): Input<string | undefined> {
  return {
    read: ({ query }) => (query[name] === undefined ? undefined : readGuid(name, query[name])),
    parameters: [{ name, in: 'query', schema: guidText, ...described }],
    problems: [400],
  }
}

/** Returns a GUID in lower case with hyphens. @throws {HttpProblem} 400 with the parameter's name */
function readGuid(name: string, value: unknown): string {
  const guid = parseGuid(value)
  if (guid) return guid
  throw invalid([{ pointer: name, detail: 'is not a GUID, such as 7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11' }])
}

const maxKeyLength = 255
const keyText: Schema = { type: 'string', minLength: 1, maxLength: maxKeyLength, pattern: '^[\\x21-\\x7e]+$' }

/**
 * Creates the input of the optional header `Idempotency-Key`. The operation must answer 422 if a key was used before with another body
 * (draft-ietf-httpapi-idempotency-key-header, section 2.7).
 */
export function idempotencyKey(described: Described): Input<string | undefined> {
  const name = 'Idempotency-Key'
  const form = new RegExp(`^[\\x21-\\x7e]{1,${maxKeyLength}}$`)
  return {
    read(request) {
      const key = request.get(name)
      if (key === undefined || form.test(key)) return key
      throw invalid([{ pointer: name, detail: `must have 1 to ${maxKeyLength} visible ASCII characters` }])
    },
    parameters: [{ name, in: 'header', schema: keyText, ...described }],
    problems: [400, 422],
  }
}

const defaultLimit = 20
const maxLimit = 100

export const pageOptions: Input<{ limit: number; cursor: string | undefined }> = {
  /** Returns a `cursor` of undefined for the first page. */
  read({ query: { limit = String(defaultLimit), cursor } }) {
    const count = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
    if (count < 1 || count > maxLimit)
      throw invalid([{ pointer: 'limit', detail: `must be a whole number from 1 to ${maxLimit}` }])
    if (cursor !== undefined && typeof cursor !== 'string')
      throw invalid([{ pointer: 'cursor', detail: 'must be given only once' }])
    return { limit: count, cursor }
  },
  parameters: [
    { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit } },
    { name: 'cursor', in: 'query', description: 'The `next` of the previous page.', schema: { type: 'string' } },
  ],
  problems: [400],
}

type FieldsOf<T> = { [K in keyof T & string]-?: ContractField }

/**
 * Creates the input of a JSON body whose fields follow the contract. Each field refers to a payload field, so the API and the event have the same
 * rules.
 * @param name the name of the schema in the OpenAPI document
 * @param example example values, which replace the contract's examples
 */
export function jsonBody<T extends object>(name: string, fields: FieldsOf<T>, example: Partial<T> = {}): Input<T> {
  const read = bodyReader<T>(fields)
  const all = Object.entries<ContractField>(fields)
  const required = all.filter(([, [type, field]]) => isRequiredField(type, field)).map(([name]) => name)
  const examples = all.map(([name, [type, field]]) => [name, (examplePayload(type) as Record<string, unknown>)[field]])
  const whole = { ...Object.fromEntries(examples), ...example }
  const properties = propertiesOf(fields)
  const schema = { type: 'object', required, properties, additionalProperties: false, example: whole }
  return { read: ({ body }: Request) => read(body), body: { name, schema }, problems: [400, 413, 415] }
}

/**
 * Creates the reader of a body with these fields. It returns GUIDs in lower case.
 * @throws {HttpProblem} (the reader) 400 with the JSON pointer of each wrong or unknown field
 */
export function bodyReader<T>(fields: FieldsOf<T>): (body: unknown) => T {
  const all = Object.entries<ContractField>(fields)
  const validate = fieldValidator(Object.fromEntries(all.map(([name, [type, field]]) => [name, [type, field]])))
  const unknown = unknownFields(Object.keys(fields))
  const guids = new Set(all.filter(([, [type, field]]) => isGuidField(type, field)).map(([name]) => name))
  return (body) => {
    const given = (body === undefined ? {} : body) as Record<string, unknown>
    const flaws = all.flatMap(([name, [, , rule]]): FieldError[] => {
      const detail = rule?.flaw(Object(given)[name])
      return detail === undefined ? [] : [{ pointer: `/${name}`, detail }]
    })
    const narrowed = new Set(flaws.map(({ pointer }) => pointer))
    const others = validate(given)
      .filter(({ pointer }) => !narrowed.has(pointer))
      .map(({ pointer, message, hint }) => ({ pointer, detail: hint ? `${message} (${hint})` : message }))
    const renamed = (name: string) => others.some(({ detail }) => detail.includes(`(rename ${name} to `))
    const extra = unknown(given).filter(({ pointer }) => !renamed(pointer.slice(1)))
    refuse([...others, ...flaws, ...extra])
    const values: Record<string, unknown> = {}
    for (const [name] of all) {
      const value = given[name]
      if (value !== undefined) values[name] = guids.has(name) ? String(value).toLowerCase() : value
    }
    return values as T
  }
}
