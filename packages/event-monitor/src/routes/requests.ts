import { momentProblem, parseGuid } from '@orderflow/envelope'
import { type Context, type Input, type Inputs, invalid, type Model, type Route, route } from '@orderflow/service-kit'
import { type EventFilter, type RecordPosition, type Validity, validities } from '../api/events.ts'
import type { MonitorError } from '../monitor-error.ts'

type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

interface Operation<I extends Inputs, T> {
  path: string
  /** Default: `get`. */
  method?: 'get' | 'post'
  /** Default: `events:read`. */
  scope?: 'events:read' | 'events:operate' | 'events:reveal'
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

const text = { type: 'string' }
const maxTexts = 50
const maxText = 300

function texts(query: Query, name: string): string[] | undefined {
  const given = query[name]
  if (given === undefined) return undefined
  const all = Array.isArray(given) ? given : [given]
  if (all.length <= maxTexts && all.every((one) => typeof one === 'string' && one.length <= maxText))
    return all as string[]
  throw invalid([{ pointer: name, detail: `must have at most ${maxTexts} texts of at most ${maxText} characters` }])
}

function one(query: Query, name: string): string | undefined {
  const all = texts(query, name)
  if (all === undefined || all.length === 1) return all?.[0]
  throw invalid([{ pointer: name, detail: 'must be given only once' }])
}

function wholeNumber(query: Query, name: string, from: number, to: number): number | undefined {
  const given = one(query, name)
  if (given === undefined) return undefined
  const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
  if (value >= from && value <= to) return value
  throw invalid([{ pointer: name, detail: `must be a whole number from ${from} to ${to}` }])
}

function moment(query: Query, name: string): string | undefined {
  const given = one(query, name)
  if (given === undefined) return undefined
  const problem = momentProblem(given)
  if (problem) throw invalid([{ pointer: name, detail: problem }])
  return given
}

function guidOf(name: string, value: unknown): string {
  const guid = parseGuid(value)
  if (guid) return guid
  throw invalid([{ pointer: name, detail: 'is not a GUID, such as 7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11' }])
}

/** @throws {HttpProblem} 400 with the name of the parameter */
export function readFilter(query: Query): EventFilter {
  const validity = texts(query, 'validity')
  for (const word of validity ?? []) {
    if (!(validities as readonly string[]).includes(word))
      throw invalid([{ pointer: 'validity', detail: `must be one of ${validities.join(', ')}` }])
  }
  const version = texts(query, 'version')?.map((each) => (/^\d{1,9}$/.test(each) ? Number(each) : Number.NaN))
  if (version?.some(Number.isNaN)) throw invalid([{ pointer: 'version', detail: 'must be a whole number' }])
  const guid = one(query, 'guid')
  const filter: { [K in keyof EventFilter]: EventFilter[K] | undefined } = {
    topic: texts(query, 'topic'),
    partition: wholeNumber(query, 'partition', 0, 1e6),
    name: texts(query, 'name'),
    version,
    publisher: texts(query, 'publisher'),
    validity: validity as Validity[] | undefined,
    why: texts(query, 'why'),
    from: moment(query, 'from'),
    to: moment(query, 'to'),
    guid: guid === undefined ? undefined : guidOf('guid', guid),
    q: one(query, 'q'),
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as EventFilter
}

const list = (name: string, description: string) => ({
  name,
  in: 'query' as const,
  description,
  schema: { type: 'array', items: text },
})
const single = (name: string, description: string, schema: object = text) => ({
  name,
  in: 'query' as const,
  description,
  schema: { ...schema },
})

export const filterInput: Input<EventFilter> = {
  read: ({ query }) => readFilter(query as Query),
  parameters: [
    list('topic', 'A topic. If a parameter is repeated, one of its values must match.'),
    single('partition', 'The number of a partition, in each topic.', { type: 'integer' }),
    list('name', 'An event’s Name, or `Name@Version`.'),
    list('version', 'A Version.'),
    list('publisher', 'AppId or AppName.'),
    list('validity', 'The result of reading the event as a receiver.'),
    list('why', 'The pointer of the first problem.'),
    single('from', 'Arrived at this moment or later.', { type: 'string', format: 'date-time' }),
    single('to', 'Arrived before this moment.', { type: 'string', format: 'date-time' }),
    single(
      'guid',
      'Id, CorrelationId, TraceId, CausationId, record key, or a GUID in a field of the Payload that the contract names.',
      {
        type: 'string',
        format: 'uuid',
      },
    ),
    single(
      'q',
      'Beginnings of words in the name, publisher, topic, validity or problem; or a GUID, a whole record key, or a record position.',
    ),
  ],
  problems: [400],
}

export function numberInput(name: string, from: number, to: number, usual: number): Input<number> {
  return {
    read: ({ query }) => wholeNumber(query as Query, name, from, to) ?? usual,
    parameters: [single(name, '', { type: 'integer', minimum: from, maximum: to, default: usual })],
    problems: [400],
  }
}

const cursorForm = /^\d{1,15}$/

/**
 * Reads `limit` and `cursor` of a list. The cursor is the sequence number of the last returned row or entry.
 */
export const pageInputs = {
  limit: numberInput('limit', 1, 100, 50),
  cursor: {
    read({ query }) {
      const given = one(query as Query, 'cursor')
      if (given === undefined || cursorForm.test(given)) return given === undefined ? undefined : Number(given)
      throw invalid([{ pointer: 'cursor', detail: 'is not a cursor of this list; use `next` of the previous page' }])
    },
    parameters: [single('cursor', 'The `next` of the previous page.')],
    problems: [400],
  } satisfies Input<number | undefined>,
}

export function optionalNumber(name: string, from: number, to: number, description: string): Input<number | undefined> {
  return {
    read: ({ query }) => wholeNumber(query as Query, name, from, to),
    parameters: [single(name, description, { type: 'integer', minimum: from, maximum: to })],
    problems: [400],
  }
}

export function textInput(name: string, description: string): Input<string | undefined> {
  return { read: ({ query }) => one(query as Query, name), parameters: [single(name, description)], problems: [400] }
}

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
