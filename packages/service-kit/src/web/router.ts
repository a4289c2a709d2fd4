import { type Request, type RequestHandler, Router } from 'express'
import { requireScope } from './authenticate.ts'
import { HttpProblem, notFound } from './problems/problem.ts'
import { readBody } from './requests/body.ts'
import type { Route } from './route.ts'
import { type ShownPath, shownPath } from './shown-path.ts'

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
