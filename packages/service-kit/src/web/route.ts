import { noTenant, parseGuid, type Tenant } from '@orderflow/envelope-schema'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { type Caller, callerOf, type Scope } from '../auth/caller.ts'
import { handled } from '../telemetry/handling.ts'
import { requireScope } from './authenticate.ts'
import { readBody } from './body.ts'
import { type Input, type Inputs, readInputs, type Values } from './input.ts'
import type { Model } from './model.ts'
import { HttpProblem, notFound } from './problems.ts'

/** What a handler answers: the body as JSON, and the path of what was made. */
export interface Answer<S extends number, T> {
  status: S
  body: T
  location?: string
}

/** What a handler gets besides its inputs. */
export interface Context {
  /** The trace that the request belongs to, by its W3C `traceparent`, or a new one: a GUID, as envelopes have it. */
  traceId: string | undefined
  /** For whom it is sent, as its token or key proves; of no tenant where nobody is asked. */
  tenant: Tenant
  /** Who sent it; undefined where nobody is asked. */
  caller: Caller | undefined
}

/** What a service says of an operation. All else follows: docs, reading, problems, `Location`. */
export interface Definition<I extends Inputs, S extends number, T> {
  method: 'get' | 'post'
  /** With parameters as OpenAPI writes them: `/v1/things/{id}`. The second part is the operation's tag. */
  path: string
  scope: Scope
  summary: string
  description?: string
  input: I
  /** What the answer means, by status code. */
  answers: Record<S, string>
  /** What all answers hold. */
  body: Model<T>
  /** Codes of the errors with which the domain refuses it; the table of `createWeb` has their status codes. */
  refusals?: readonly string[]
  handle(input: Values<I>, context: Context): Promise<Answer<NoInfer<S>, NoInfer<T>>>
}

/** An operation, ready to be mounted and documented. */
export interface Route {
  operation: Pick<Definition<Inputs, number, unknown>, 'method' | 'path' | 'scope' | 'summary'> & {
    description: string | undefined
    inputs: readonly Input<unknown>[]
    answers: Readonly<Record<string, string>>
    body: Model<unknown>
    /** Of the answers; `application/json` without. */
    mediaType?: string
    refusals: readonly string[]
  }
  handle(request: Request, response: Response): Promise<void>
}

/** An operation whose input and answer are what its documentation says. A test calls `handle` of the definition. */
export function route<I extends Inputs, S extends number, T>(definition: Definition<I, S, T>): Route {
  const { method, path, scope, summary, description, input, answers, body, refusals = [], handle } = definition
  return {
    operation: { method, path, scope, summary, description, inputs: Object.values(input), answers, body, refusals },
    async handle(request, response) {
      const caller = callerOf(request)
      const context = { traceId: handled()?.traceId, tenant: caller?.tenant ?? noTenant, caller }
      const answer = await handle(readInputs(input, request), context)
      if (answer.location !== undefined) response.location(request.baseUrl + answer.location)
      response.status(answer.status).json(answer.body)
    },
  }
}

/**
 * The routes, and 405 with `Allow` for another method on one of their paths. OPTIONS is answered with `Allow` alone (RFC 9110, section
 * 9.3.7), and HEAD as GET is, without the body. Nothing is read of a request whose sender may not send it.
 */
export function routerOf(routes: readonly Route[]): Router {
  const router = Router()
  const shown = shownPath(routes)
  for (const { operation, handle } of routes) {
    const kind = operation.inputs.flatMap(({ receives }) => receives ?? [])[0]
    router[operation.method](expressPath(operation.path), requireScope(operation.scope), readBody(kind), handle)
  }
  for (const [path, onPath] of Map.groupBy(routes, ({ operation }) => expressPath(operation.path))) {
    router.all(
      path,
      otherMethods(
        onPath.map(({ operation }) => operation.method),
        shown,
      ),
    )
  }
  return router
}

/** `/v1/things/{id}` as Express writes it. */
const expressPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

function otherMethods(methods: readonly Route['operation']['method'][], shown: ShownPath): RequestHandler {
  const names = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  const allow = [...names, 'OPTIONS'].join(', ')
  return (request, response) => {
    if (request.method === 'OPTIONS') return response.status(204).set({ allow }).end()
    throw new HttpProblem(405, 'method-not-allowed', 'Method not allowed', {
      detail: noOperation(request, shown),
      headers: { allow },
    })
  }
}

/** 404 for all that no route took. */
export function unknownPath(routes: readonly Route[]): RequestHandler {
  const shown = shownPath(routes)
  return (request) => {
    throw notFound('Route', noOperation(request, shown))
  }
}

const noOperation = ({ method, baseUrl, path }: Request, shown: ShownPath) =>
  `There is no ${method} ${shown(path)} here. The operations are listed at ${baseUrl}/docs.`

/** A request's path as it may be told, in a problem or in the log. */
export type ShownPath = (path: string) => string

/**
 * Shows of a path the words that the routes' own paths are made of, and GUIDs. Anything else in it was made up by the caller, who may think
 * that a person's name is an id; and so is the query.
 */
export function shownPath(routes: readonly Route[]): ShownPath {
  const words = new Set(routes.flatMap(({ operation }) => operation.path.toLowerCase().split('/')))
  const shown = (part: string) => (words.has(part.toLowerCase()) || parseGuid(part) ? part : '***')
  return (path) => path.split('/').map(shown).join('/')
}
