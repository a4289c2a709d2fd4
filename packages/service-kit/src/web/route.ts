import { noTenant, parseGuid, type Tenant } from '@orderflow/envelope'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Caller, Scope } from '../auth/caller.ts'
import { handled } from '../telemetry/context.ts'
import { readBody } from './body.ts'
import { type Input, type Inputs, inputsReader, type Values } from './input.ts'
import type { Model } from './model.ts'
import { HttpProblem, notFound } from './problems.ts'
import { callerOf, requireScope } from './security.ts'

/** A handler's answer: the body as JSON, and the path of a created object. */
export interface Answer<S extends number, T> {
  status: S
  body: T
  location?: string
}

export interface Context {
  /** The id of the trace in the request's `traceparent`, or of a new trace. It is a GUID, as in envelopes. */
  traceId: string | undefined
  /** The caller's tenant; empty without authentication. */
  tenant: Tenant
  /** The authenticated caller; undefined without authentication. */
  caller: Caller | undefined
}

/** The definition of an operation. The route, its documentation and its problems derive from the definition. */
export interface Definition<I extends Inputs, S extends number, T> {
  method: 'get' | 'post'
  /** The path, with parameters as in OpenAPI: `/v1/things/{id}`. The part `things` is the operation's tag. */
  path: string
  scope: Scope
  summary: string
  description?: string
  input: I
  answers: Record<S, string>
  body: Model<T>
  /** The codes of the domain's errors with which the operation may answer. The option `refusals` of `createWeb` has their HTTP status. */
  refusals?: readonly string[]
  handle(input: Values<I>, context: Context): Promise<Answer<NoInfer<S>, NoInfer<T>>>
}

export interface Route {
  operation: Pick<Definition<Inputs, number, unknown>, 'method' | 'path' | 'scope' | 'summary'> & {
    description: string | undefined
    inputs: readonly Input<unknown>[]
    answers: Readonly<Record<string, string>>
    body: Model<unknown>
    /** The media type of the answers; the default is `application/json`. */
    mediaType?: string
    refusals: readonly string[]
  }
  handle(request: Request, response: Response): Promise<void>
}

export function route<I extends Inputs, S extends number, T>(definition: Definition<I, S, T>): Route {
  const { method, path, scope, summary, description, input, answers, body, refusals = [], handle } = definition
  const readInputs = inputsReader(input)
  return {
    operation: { method, path, scope, summary, description, inputs: Object.values(input), answers, body, refusals },
    async handle(request, response) {
      const caller = callerOf(response)
      const context = { traceId: handled()?.traceId, tenant: caller?.tenant ?? noTenant, caller }
      const answer = await handle(readInputs(request), context)
      if (answer.location !== undefined) response.location(request.baseUrl + answer.location)
      response.status(answer.status).json(answer.body)
    },
  }
}

/**
 * Mounts the routes. A request with another method gets 405 with `Allow`, OPTIONS gets `Allow` (RFC 9110, section 9.3.7), and HEAD works like GET.
 * The caller's scope is checked before the body is read.
 */
export function routerOf(routes: readonly Route[]): Router {
  const router = Router()
  const shown = shownPath(routes)
  for (const { operation, handle } of routes) {
    const kind = operation.inputs.flatMap(({ receives }) => receives ?? [])[0]
    router[operation.method](expressPath(operation.path), requireScope(operation.scope), readBody(kind), handle)
  }
  for (const [path, onPath] of Map.groupBy(routes, ({ operation }) => expressPath(operation.path)))
    router.all(path, otherMethods(onPath, shown))
  return router
}

const expressPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

function otherMethods(routes: readonly Route[], shown: ShownPath): RequestHandler {
  const names = routes.flatMap(({ operation: { method } }) => (method === 'get' ? ['GET', 'HEAD'] : ['POST']))
  const allow = [...names, 'OPTIONS'].join(', ')
  return (request, response) => {
    if (request.method === 'OPTIONS') return response.status(204).set({ allow }).end()
    throw new HttpProblem(405, 'method-not-allowed', 'Method not allowed', {
      detail: noOperation(request, shown),
      headers: { allow },
    })
  }
}

export function unknownPath(routes: readonly Route[]): RequestHandler {
  const shown = shownPath(routes)
  return (request) => {
    throw notFound('Route', noOperation(request, shown))
  }
}

const noOperation = ({ method, baseUrl, path }: Request, shown: ShownPath) =>
  `There is no operation ${method} ${shown(path)}. All operations are listed at ${baseUrl}/docs.`

export type ShownPath = (path: string) => string

/**
 * Returns a function that masks all parts of a path except GUIDs and words of routes. Callers may use a person's name as an id.
 */
export function shownPath(routes: readonly Route[]): ShownPath {
  const words = new Set(routes.flatMap(({ operation }) => operation.path.toLowerCase().split('/')))
  const shown = (part: string) => (words.has(part.toLowerCase()) || parseGuid(part) ? part : '***')
  return (path) => path.split('/').map(shown).join('/')
}
