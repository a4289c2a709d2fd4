import { momentProblem } from '@orderflow/envelope'
import {
  type Context,
  type Input,
  type Inputs,
  invalid,
  type Model,
  queryId,
  type Route,
  route,
} from '@orderflow/service-kit'
import {
  type Completeness,
  type EventFilter,
  type Page,
  type RecordPosition,
  type Validity,
  validities,
} from '../api/events.ts'
import type { MonitorError } from '../monitor-error.ts'

type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

interface Operation<I extends Inputs, T> {
  path: string
  /** Default: `get`. */
  method?: 'get' | 'post'
  /** Default: `events:read`. */
  scope?: 'events:read' | 'events:operate' | 'events:reveal' | 'deadlines:read' | 'deadlines:operate'
  summary: string
  input: I
  status?: 200 | 202
  description?: string
  refusals?: readonly MonitorError['code'][]
  handle(input: Values<I>, context: Context): Promise<T> | T
}

/** Defines an operation. The type of its answer is in src/api, which the page uses, too. */
export function answer<I extends Inputs, T extends object>({
  method = 'get',
  scope = 'events:read',
  status = 200,
  refusals = [],
  handle,
  ...rest
}: Operation<I, T>): Route {
  const name = rest.summary
    .replace(/[^A-Za-z]+(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/[^A-Za-z]/g, '')
  const body: Model<T> = {
    name,
    schema: { type: 'object', description: 'The type with this name in packages/event-monitor/src/api.' },
  }
  return route({
    ...rest,
    ...{ method, scope, refusals, body },
    answers: { [status]: 'The result.' } as Record<200 | 202, string>,
    handle: async (input, context) => ({ status, body: await handle(input as Values<I>, context) }),
  })
}

export const nameOf = ({ caller }: Pick<Context, 'caller'>): string =>
  caller ? (caller.key ?? caller.id) : 'anybody on this machine'

type Query = Record<string, unknown>
/** Reads a parameter; undefined if it is missing. @throws {HttpProblem} 400 with its name */
type Read<T> = (query: Query, name: string) => T | undefined

const text = { type: 'string' }
const moments = { ...text, format: 'date-time' }
const maxTexts = 50
const maxText = 300

const texts: Read<string[]> = (query, name) => {
  const given = query[name]
  if (given === undefined) return undefined
  const all = Array.isArray(given) ? given : [given]
  if (all.length <= maxTexts && all.every((one) => typeof one === 'string' && one.length <= maxText))
    return all as string[]
  throw invalid([{ pointer: name, detail: `must have at most ${maxTexts} texts of at most ${maxText} characters` }])
}

const validitiesIn: Read<Validity[]> = (query, name) =>
  texts(query, name)?.map((word) => {
    const found = validities.find((each) => each === word)
    if (found) return found
    throw invalid([{ pointer: name, detail: `must be one of ${validities.join(', ')}` }])
  })

const versions: Read<number[]> = (query, name) =>
  texts(query, name)?.map((each) => {
    if (/^\d{1,9}$/.test(each)) return Number(each)
    throw invalid([{ pointer: name, detail: 'must be a whole number' }])
  })

const one: Read<string> = (query, name) => {
  const all = texts(query, name)
  if (all === undefined || all.length === 1) return all?.[0]
  throw invalid([{ pointer: name, detail: 'must be given only once' }])
}

const wholeNumber =
  (from: number, to: number): Read<number> =>
  (query, name) => {
    const given = one(query, name)
    if (given === undefined) return undefined
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
    if (value >= from && value <= to) return value
    throw invalid([{ pointer: name, detail: `must be a whole number from ${from} to ${to}` }])
  }

const moment: Read<string> = (query, name) => {
  const given = one(query, name)
  const problem = given === undefined ? undefined : momentProblem(given)
  if (problem) throw invalid([{ pointer: name, detail: problem }])
  return given
}

const guid: Read<string> = (query, name) => queryId(name).read({ query: { [name]: one(query, name) } } as never)

const list = { type: 'array', items: text }

type FilterFields = {
  [K in keyof EventFilter]-?: [read: Read<NonNullable<EventFilter[K]>>, schema: object, description: string]
}

const filterFields: FilterFields = {
  topic: [texts, list, 'A topic. If a parameter is repeated, one of its values must match.'],
  partition: [wholeNumber(0, 1e6), { type: 'integer' }, 'The number of a partition, in each topic.'],
  name: [texts, list, 'An event’s Name, or `Name@Version`.'],
  version: [versions, list, 'A Version.'],
  publisher: [texts, list, 'AppId or AppName.'],
  validity: [validitiesIn, list, 'The result of reading the event as a receiver.'],
  why: [texts, list, 'The pointer of the first problem.'],
  from: [moment, moments, 'Arrived at this moment or later.'],
  to: [moment, moments, 'Arrived before this moment.'],
  guid: [
    guid,
    { ...text, format: 'uuid' },
    'Id, CorrelationId, TraceId, CausationId, record key, or a GUID in a field of the Payload that the contract names.',
  ],
  q: [
    one,
    text,
    'Beginnings of words in the name, publisher, topic, validity or problem; or a GUID, a whole record key, or a record position.',
  ],
}

/** @throws {HttpProblem} 400 with the name of the parameter */
export function readFilter(query: Query): EventFilter {
  const values = Object.entries(filterFields).map(([name, [read]]) => [name, read(query, name)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as EventFilter
}

const parameter = (name: string, description: string, schema: object = text) => ({
  name,
  in: 'query' as const,
  description,
  schema: { ...schema },
})

export const filterInput: Input<EventFilter> = {
  read: ({ query }) => readFilter(query as Query),
  parameters: Object.entries(filterFields).map(([name, [, schema, description]]) =>
    parameter(name, description, schema),
  ),
  problems: [400],
}

const queryInput = <T>(read: Read<T>, described: ReturnType<typeof parameter>): Input<T | undefined> => ({
  read: ({ query }) => read(query as Query, described.name),
  parameters: [described],
  problems: [400],
})

export function numberInput(name: string, from: number, to: number, usual: number): Input<number> {
  const schema = { type: 'integer', minimum: from, maximum: to, default: usual }
  const { read, ...input } = queryInput(wholeNumber(from, to), parameter(name, '', schema))
  return { ...input, read: (request) => read(request) ?? usual }
}

export const optionalNumber = (name: string, from: number, to: number, description: string) =>
  queryInput(wholeNumber(from, to), parameter(name, description, { type: 'integer', minimum: from, maximum: to }))

export const textInput = (name: string, description: string) => queryInput(one, parameter(name, description))

const cursor: Read<number> = (query, name) => {
  const given = one(query, name)
  if (given === undefined || /^\d{1,15}$/.test(given)) return given === undefined ? undefined : Number(given)
  throw invalid([{ pointer: name, detail: 'is not a cursor of this list; use `next` of the previous page' }])
}

/**
 * Reads `limit` and `cursor` of a list. The cursor is the sequence number of the last returned row or entry.
 */
export const pageInputs = {
  limit: numberInput('limit', 1, 100, 50),
  cursor: queryInput(cursor, parameter('cursor', 'The `next` of the previous page.')),
}

interface Rows<T> {
  items: T[]
  next: number | null
  total: number
  isAtLeast?: boolean
}

/** Returns a page of rows of the index. */
export const pageOf = <T>({ items, next, total, isAtLeast = false }: Rows<T>, complete: Completeness): Page<T> => ({
  items,
  next: next === null ? null : String(next),
  complete: { ...complete, shown: items.length, total, isAtLeast },
})

export const positionInput: Input<RecordPosition> = {
  read({ params }) {
    const { topic, partition, offset } = params as unknown as Record<string, string>
    if (/^\d{1,9}$/.test(partition ?? '') && /^\d{1,15}$/.test(offset ?? '')) {
      return { topic: topic ?? '', partition: Number(partition), offset: String(Number(offset)) }
    }
    throw invalid([
      { pointer: 'offset', detail: 'is invalid: a record position is a topic, a partition number and an offset' },
    ])
  },
  parameters: Object.entries({
    topic: text,
    partition: { type: 'string', pattern: '^[0-9]{1,9}$' },
    offset: { type: 'string', pattern: '^[0-9]{1,15}$' },
  }).map(([name, schema]) => ({ name, in: 'path' as const, required: true, schema })),
  problems: [400, 404],
}

export function bodyInput<T>(
  name: string,
  properties: Record<string, object>,
  read: (body: Record<string, unknown>) => T,
  required: readonly string[] = [],
): Input<T> {
  return {
    read: ({ body }) => read(Object(body) as Record<string, unknown>),
    body: {
      name,
      schema: { type: 'object', properties, additionalProperties: false, ...(required.length > 0 && { required }) },
    },
    problems: [400, 413, 415],
  }
}

/** Reads a body that contains an event as JSON text. The body may be larger than an event, because the text is escaped. */
export function eventBody<T>(
  name: string,
  properties: Record<string, object>,
  read: (body: Record<string, unknown>) => T,
): Input<T> {
  const maxBytes = 1_280 * 1024
  return {
    ...bodyInput(name, properties, read),
    receives: { types: ['application/json'], isJson: true, maxBytes, maxHeldBytes: 16 * maxBytes },
  }
}
