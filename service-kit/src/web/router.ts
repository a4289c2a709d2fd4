import { type RequestHandler, Router } from 'express'
import { requireScope } from './authenticate.ts'
import { bodies } from './body.ts'
import { HttpProblem, notFound } from './problem.ts'
import type { Route } from './route.ts'

/**
 * The routes, and 405 with `Allow` for another method on one of their paths. OPTIONS is answered with `Allow` alone (RFC 9110, section
 * 9.3.7), and HEAD as GET is, without the body. Nothing is read of a request whose sender may not send it.
 */
export function routerOf(routes: readonly Route[]): Router {
  const router = Router()
  const readBody = bodies()
  for (const { operation, handle } of routes) {
    router[operation.method](expressPath(operation.path), requireScope(operation.scope), readBody, handle)
  }
  for (const [path, onPath] of Map.groupBy(routes, ({ operation }) => expressPath(operation.path))) {
    router.all(path, otherMethods(onPath.map(({ operation }) => operation.method)))
  }
  return router
}

/** `/v1/things/{id}` as Express writes it. */
const expressPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

function otherMethods(methods: readonly Route['operation']['method'][]): RequestHandler {
  const names = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  const allow = [...names, 'OPTIONS'].join(', ')
  return (request, response) => {
    if (request.method === 'OPTIONS') return response.status(204).set({ allow }).end()
    const detail = `There is no ${request.method} ${request.path} here. The operations are listed at /docs.`
    throw new HttpProblem(405, 'method-not-allowed', 'Method not allowed', { detail, headers: { allow } })
  }
}

/** 404 for all that no route took. */
export const unknownPath: RequestHandler = (request) => {
  throw notFound('Route', `There is no ${request.method} ${request.path} here. The operations are listed at /docs.`)
}
