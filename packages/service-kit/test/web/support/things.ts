import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { capturedLog } from '../../../src/testing/captured-log.ts'
import { idempotencyKey, jsonBody, pageOptions, pathId } from '../../../src/web/input.ts'
import { model, pageOf } from '../../../src/web/model.ts'
import { type Route, route } from '../../../src/web/route.ts'
import { createWeb, type WebOptions } from '../../../src/web/web.ts'

export interface Thing {
  orderId: string
  amount: number
}

export const thing = model<Thing>('Thing', {
  orderId: ['PaymentApproved@1', 'OrderId'],
  amount: ['PaymentApproved@1', 'Amount'],
})
const example = { orderId: '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11', amount: 42.5 }
const newThing = jsonBody<Thing>(
  'NewThing',
  { orderId: ['PaymentApproved@1', 'OrderId'], amount: ['PaymentApproved@1', 'Amount'] },
  example,
)

/** Returns the operations of a service for tests. They make, list, get and drop things. The operation that gets a thing calls `get`. */
export function thingRoutes(get: () => Promise<Thing> = async () => example): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/things',
      scope: 'things:write',
      summary: 'Make a thing',
      input: {
        thing: newThing,
        key: idempotencyKey({ description: 'The same key returns the same thing.', example: 'k' }),
      },
      answers: { 201: 'It is made.', 202: 'It will be.' },
      body: thing,
      handle: async ({ thing }) => ({ status: 201, body: thing, location: `/v1/things/${thing.orderId}` }),
    }),
    route({
      method: 'get',
      path: '/v1/things',
      scope: 'things:read',
      summary: 'List things',
      input: { page: pageOptions },
      answers: { 200: 'A page.' },
      body: pageOf(thing),
      handle: async ({ page }) => ({ status: 200, body: { items: [], next: `${page.limit}${page.cursor ?? ''}` } }),
    }),
    route({
      method: 'get',
      path: '/v1/things/{id}',
      scope: 'things:read',
      summary: 'Get a thing',
      input: { id: pathId('id', { example: example.orderId }) },
      answers: { 200: 'As it stands.' },
      body: thing,
      handle: async () => ({ status: 200, body: await get() }),
    }),
    route({
      method: 'post',
      path: '/v1/things/{id}/drop',
      scope: 'things:write',
      summary: 'Drop a thing',
      input: { id: pathId('id') },
      answers: { 200: 'It is dropped.' },
      body: thing,
      refusals: ['too-heavy'],
      handle: async ({ id }, { traceId }) => ({
        status: 200,
        body: { orderId: id, amount: 0 },
        location: `/${traceId}`,
      }),
    }),
  ]
}

/** Creates a public listener with these options. By default, limits are off and the list of operations is empty. */
export function webWith(options: Partial<WebOptions>) {
  return createWeb({
    title: 't',
    description: 'd',
    routes: [],
    refusals: {},
    problemMembers: {},
    auth: undefined,
    readiness: async () => ({}),
    hosts: '',
    proxies: 0,
    limits: undefined,
    log: capturedLog().log,
    metrics: createMetrics(),
    ...options,
  })
}

/** Returns the public listener of the service for tests, and its log. */
export function thingsApp(get?: () => Promise<Thing>, routes = thingRoutes(get), options: Partial<WebOptions> = {}) {
  const { log, records } = capturedLog()
  const app = webWith({
    title: 'things',
    description: 'Things.',
    routes,
    refusals: { 'too-heavy': { status: 409, title: 'The thing is too heavy' } },
    problemMembers: { thingId: { type: 'string', description: 'The thing in question.' } },
    log,
    ...options,
  })
  return { app, records }
}

export const thingId = example.orderId
