import { isPlainKey, parseGuid } from '@orderflow/envelope'
import type { Request } from 'express'
import { guidText, type Model, referenceTo, type Schema, text } from './model.ts'
import { invalid } from './problems.ts'

/** An OpenAPI parameter object. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
  example?: string
}

/** The body that an operation accepts. */
export interface BodyKind {
  /** Media types. */
  types: readonly string[]
  maxBytes: number
  /** The number of bytes of all such bodies that may be in memory. Further requests get 503 until some are answered. */
  maxHeldBytes: number
  /** Whether it is read as JSON, by the rules of every JSON body; otherwise the operation gets the bytes. */
  isJson?: boolean
}

/** An input of an operation: how it is read from a request, and its description on the page. */
export interface Input<T> {
  /** @throws {HttpProblem} 400 naming what is wrong */
  read(request: Request): T
  /** The parameters that it is read from. */
  parameters?: readonly Parameter[]
  /** The JSON body that it is read from. */
  body?: Model<unknown>
  /** The kind of body, unless it is a small JSON text. It is read into `request.body`; undefined for none. */
  receives?: BodyKind
  /** Status codes of the problems that reading it may cause. */
  problems: readonly number[]
}

/** The inputs of an operation, by their names in the handler. */
export type Inputs = Record<string, Input<unknown>>

/** The values of the inputs, which a handler gets. */
export type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

/** Reads all inputs, in their order. @throws {HttpProblem} also for an unknown query parameter */
export function readInputs<I extends Inputs>(inputs: I, request: Request): Values<I> {
  refuseUnknownQuery(Object.values(inputs), request)
  const values = Object.entries(inputs).map(([name, input]) => [name, input.read(request)])
  return Object.fromEntries(values) as Values<I>
}

/** Refuses unknown query parameters. If `?next=` in place of `?cursor=` were ignored, a client would get the first page for ever. */
function refuseUnknownQuery(inputs: readonly Input<unknown>[], { query }: Request): void {
  const names = inputs.flatMap(({ parameters = [] }) => parameters.filter((one) => one.in === 'query'))
  const known = new Set(names.map(({ name }) => name))
  const detail = `is not a query parameter here; there are ${[...known].join(', ') || 'none'}`
  const unknown = Object.keys(query).filter((name) => !known.has(name))
  // Another name may contain personal data.
  const shown = new Set(unknown.map((name) => (isPlainKey(name) ? name : '***')))
  if (shown.size > 0) throw invalid(Array.from(shown, (pointer) => ({ pointer, detail })))
}

/** A parameter's description on the page. */
type Described = Pick<Parameter, 'description' | 'example'>

/** Creates the input of a GUID in the path, in any usual spelling: `pathId('id')` for `/v1/things/{id}`. It may cause 404. */
export function pathId(name: string, described: Described = {}): Input<string> {
  return {
    read: (request) => readGuid(name, request.params[name]),
    parameters: [{ name, in: 'path', required: true, schema: guidText, ...described }],
    problems: [400, 404],
  }
}

/** Creates the input of a word in the path, which is not changed. It may cause 404. */
export function pathWord(name: string, described: Described = {}): Input<string> {
  return {
    read: (request) => String(request.params[name]),
    parameters: [{ name, in: 'path', required: true, schema: text, ...described }],
    problems: [404],
  }
}

/** Creates the input of a query parameter with one of a few words; the first of them is the default. */
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
      throw invalid([{ pointer: name, detail: `is ${words.join(' or ')}` }])
    },
    parameters: [{ name, in: 'query', schema: { ...text, enum: words, default: words[0] }, ...described }],
    problems: [400],
  }
}

/** Creates the input of a GUID in the query, in any usual spelling; undefined when it is left out. */
export function queryId(name: string, described: Described = {}): Input<string | undefined> {
  return {
    read: ({ query }) => (query[name] === undefined ? undefined : readGuid(name, query[name])),
    parameters: [{ name, in: 'query', schema: guidText, ...described }],
    problems: [400],
  }
}

/** Returns a GUID in lower case with hyphens. @throws {HttpProblem} 400 naming the parameter */
function readGuid(name: string, value: unknown): string {
  const guid = parseGuid(value)
  if (guid) return guid
  throw invalid([{ pointer: name, detail: 'is not a GUID, such as 7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11' }])
}

const maxKeyLength = 255

/**
 * Creates the input of the `Idempotency-Key` header; undefined when it is left out. The operation answers 422 for a key that was used with
 * another body (draft-ietf-httpapi-idempotency-key-header, section 2.7).
 */
export function idempotencyKey(described: Described): Input<string | undefined> {
  const name = 'Idempotency-Key'
  const form = new RegExp(`^[\\x21-\\x7e]{1,${maxKeyLength}}$`)
  return {
    read(request) {
      const key = request.get(name)
      if (key === undefined || form.test(key)) return key
      throw invalid([{ pointer: name, detail: `takes 1 to ${maxKeyLength} visible ASCII characters` }])
    },
    parameters: [
      {
        name,
        in: 'header',
        schema: { type: 'string', minLength: 1, maxLength: maxKeyLength, pattern: '^[\\x21-\\x7e]+$' },
        ...described,
      },
    ],
    problems: [400, 422],
  }
}

const defaultLimit = 20
const maxLimit = 100

/** The part of a list that a request asks for. */
export interface PageOptions {
  limit: number
  /** The `next` of the previous page; undefined for the first page. */
  cursor: string | undefined
}

/** The input of `limit` and `cursor` of a list. */
export const pageOptions: Input<PageOptions> = {
  read: readPageOptions,
  parameters: [
    {
      name: 'limit',
      in: 'query',
      schema: { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit },
    },
    { name: 'cursor', in: 'query', description: 'The `next` of the page before.', schema: { type: 'string' } },
  ],
  problems: [400],
}

/** @throws {HttpProblem} 400 naming the parameter */
function readPageOptions(request: Request): PageOptions {
  const { limit = String(defaultLimit), cursor } = request.query
  const count = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > maxLimit)
    throw invalid([{ pointer: 'limit', detail: `is a whole number from 1 to ${maxLimit}` }])
  if (cursor !== undefined && typeof cursor !== 'string')
    throw invalid([{ pointer: 'cursor', detail: 'is given once' }])
  return { limit: count, cursor }
}

/** Returns the model of a page of a list. `next` is null on the last page. */
export function pageOf<T>(item: Model<T>): Model<{ items: T[]; next: string | null }> {
  return {
    name: `${item.name}Page`,
    schema: {
      type: 'object',
      properties: {
        items: { type: 'array', items: referenceTo(item) },
        next: { type: 'string', nullable: true },
      },
    },
    uses: [item],
  }
}
