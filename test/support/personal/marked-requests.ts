import { randomUUID } from 'node:crypto'
import type { Route } from '@orderflow/service-kit'
import type { Markers } from './markers.ts'

type Operation = Route['operation']

export interface MarkedRequest {
  path: string
  init: RequestInit
}

const json = { 'content-type': 'application/json' }

/** Returns requests with a marker in each location, also for unknown paths. */
export function markedRequests(routes: readonly Route[], markers: Markers): MarkedRequest[] {
  const get = (path: string): MarkedRequest => ({ path, init: {} })
  const unknown = ['', 'v1/', 'v1/orders/x/'].map((path) => get(`/${path}${markers.new('an unknown path')}`))
  return [
    ...unknown,
    ...routes.flatMap(({ operation }) => [...inParameters(operation, markers), ...inBody(operation, markers)]),
  ]
}

const pathOf = ({ path }: Operation, id: string = randomUUID()) => path.replace(/\{\w+\}/, id)

function inParameters(operation: Operation, markers: Markers): MarkedRequest[] {
  const method = operation.method.toUpperCase()
  const path = pathOf(operation)
  const place = (what: string) => `${what} of ${method} ${operation.path}`
  const names = operation.inputs.flatMap(({ parameters = [] }) => parameters)
  const inPath = pathOf(operation, markers.new(place('the path')))
  const query = [...names.map(({ name }) => name), 'customerName', 'CustomerTaxID'].map((name) => ({
    path: `${path}?${name}=${markers.new(place(`${name} in the query`))}`,
    init: { method },
  }))
  const headers = names.filter((parameter) => parameter.in === 'header')
  const inHeaders = headers.flatMap(({ name }) =>
    ['', ' and more'].map((more) => {
      const header = { [name]: markers.new(place(name)) + more }
      return { path, init: { method, headers: { ...json, ...header }, body: JSON.stringify(exampleOf(operation)) } }
    }),
  )
  return [{ path: inPath, init: { method } }, { path: inPath, init: { method: 'PUT' } }, ...query, ...inHeaders]
}

const bodyOf = ({ inputs }: Operation) => inputs.flatMap(({ body }) => body ?? [])[0]?.schema
const exampleOf = (operation: Operation) => (bodyOf(operation)?.example ?? {}) as Record<string, unknown>

function inBody(operation: Operation, markers: Markers): MarkedRequest[] {
  if (!bodyOf(operation)) return []
  const example = exampleOf(operation)
  const path = pathOf(operation)
  const marker = (what: string) => markers.new(`${what} of POST ${operation.path}`)
  const send = (body: string | Buffer<ArrayBuffer>, headers = json): MarkedRequest => ({
    path,
    init: { method: 'POST', headers, body },
  })
  const fields = Object.keys(example).flatMap((field) =>
    Object.entries(oddValues(field, () => marker(field))).map(([, value]) => {
      const { [field]: _, ...others } = example
      return send(JSON.stringify({ ...others, ...value }))
    }),
  )
  const text = JSON.stringify({ ...example, note: marker('a note') })
  const wholes = [
    `${text.slice(0, -1)},}`,
    text.slice(0, -2),
    `${marker('a body that is no JSON')}`,
    JSON.stringify(marker('a body that is a text')),
    JSON.stringify([marker('a body that is a list')]),
    JSON.stringify({ ...example, note: marker('a body that is large').padEnd(70_000) }),
    Buffer.from(JSON.stringify({ ...example, note: `é ${marker('a body that is no UTF-8')}` }), 'latin1'),
  ]
  const other = send(text, { 'content-type': 'text/plain' })
  return [...fields, ...wholes.map((body) => send(body)), other]
}

/** Returns invalid values of a field, and valid values under a wrong field name. The keys describe each case. */
export function oddValues(field: string, marker: () => string): Record<string, Record<string, unknown>> {
  const nested = { a: { b: { c: { d: { e: marker() } } } }, list: [[marker()]] }
  return {
    'as a text': { [field]: marker() },
    'as a long text': { [field]: marker().padEnd(300, '-') },
    'with a NUL': { [field]: `${marker()}\u0000` },
    nested: { [field]: nested },
    'a JSON text': { [field]: JSON.stringify({ [field]: marker() }) },
    'in lower case': { [field.toLowerCase()]: marker() },
    'in other words': { [field.replace(/(?<=[a-z])(?=[A-Z])/g, '_')]: marker() },
    'with a letter too much': { [`${field}s`]: marker() },
  }
}
