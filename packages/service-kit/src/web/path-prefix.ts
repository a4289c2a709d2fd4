import type { IncomingMessage, RequestListener } from 'node:http'
import type { Express, RequestHandler } from 'express'
import { HttpProblem } from './problems.ts'

/**
 * Serves an app below the path prefix that the proxies in front send in X-Forwarded-Prefix, whether they strip it or not. Express has the
 * prefix in `request.baseUrl`, as for a mounted app. Without proxies the header is ignored, as all headers of proxies are.
 */
export function withPathPrefix(app: Express, proxies: number): RequestListener {
  if (proxies === 0) return app
  return (request, response) => {
    const prefix = prefixOf(request, proxies)
    const { url = '' } = request
    if (prefix && url.startsWith('/')) {
      const isKept = url.startsWith(prefix) && /^([/?]|$)/.test(url.slice(prefix.length))
      const rest = isKept ? url.slice(prefix.length) : url
      Object.assign(request, {
        baseUrl: prefix,
        originalUrl: prefix + rest,
        url: rest.startsWith('/') ? rest : `/${rest}`,
      })
    }
    app(request, response)
  }
}

/** Refuses an invalid prefix, which could redirect callers to another site. */
export function requirePathPrefix(proxies: number): RequestHandler {
  return (request, _response, next) => {
    if (proxies === 0 || prefixOf(request, proxies) !== undefined) return next()
    throw new HttpProblem(400, 'bad-prefix', 'X-Forwarded-Prefix is not a path prefix', {
      detail:
        'The proxy must send the path that it serves this service at, such as /shop-api: letters, digits and . _ ~ - between slashes.',
    })
  }
}

const segment = /^(?!\.\.?$)[\w.~-]+$/

/** Returns the prefix; empty for none, undefined for an invalid one. Each proxy may add its own; the outermost comes first. */
function prefixOf({ headers }: IncomingMessage, proxies: number): string | undefined {
  const sent = String(headers['x-forwarded-prefix'] ?? '')
    .split(',')
    .slice(-proxies)
  const prefix = sent.map((each) => each.trim().replace(/\/$/, '')).join('')
  if (prefix === '') return ''
  const [before, ...segments] = prefix.split('/')
  return before === '' && segments.every((each) => segment.test(each)) ? prefix : undefined
}
