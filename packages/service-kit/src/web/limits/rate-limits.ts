import type { Request, RequestHandler } from 'express'
import { callerOf } from '../../auth/caller.ts'
import { HttpProblem } from '../problems/problem.ts'
import { networkOfSender } from './address.ts'
import { createRate, minuteMs } from './rate.ts'

/** Section `Limits` of the settings: requests a minute; 0 is any number. */
export interface Limits {
  AddressPerMinute: number
  CallerPerMinute: number
  TenantPerMinute: number
}

const none: Limits = { AddressPerMinute: 0, CallerPerMinute: 0, TenantPerMinute: 0 }

/** The limits that there are, each a middleware: those for before anybody is asked who he is, and those for after it. */
export function rateLimits({ AddressPerMinute, CallerPerMinute, TenantPerMinute }: Limits = none) {
  return {
    ofStrangers: limit('address', AddressPerMinute, networkOfSender),
    ofCallers: [
      ...limit('caller', CallerPerMinute, (request) => callerOf(request)?.id),
      ...limit('tenant', TenantPerMinute, (request) => callerOf(request)?.tenant.id || undefined),
    ],
  }
}

/**
 * Answers 429 to whoever sends more than his quota, and tells everybody how he stands (draft-ietf-httpapi-ratelimit-headers-08): `q`
 * requests within `w` seconds, `r` of them left, `t` seconds until all are there again.
 * @param keyOf whose quota a request takes from; undefined: nobody's
 */
function limit(what: string, perMinute: number, keyOf: (request: Request) => string | undefined): RequestHandler[] {
  // Even one that does nothing takes a microsecond of each request.
  if (perMinute === 0) return []
  const rate = createRate(perMinute)
  const policy = `"${what}";q=${perMinute};w=${minuteMs / 1_000}`
  const handler: RequestHandler = (request, response, next) => {
    const key = keyOf(request)
    if (key === undefined) return next()
    const { left, wholeInMs, waitMs } = rate(key)
    // A list: each limit adds its own.
    response.append('ratelimit-policy', policy)
    response.append('ratelimit', `"${what}";r=${left};t=${secondsOf(wholeInMs)}`)
    if (waitMs > 0) throw tooMany(what, perMinute, secondsOf(waitMs))
    next()
  }
  return [handler]
}

/** Whole seconds, the next one; what is no millisecond is the clock's fractions. */
const secondsOf = (ms: number): number => Math.ceil(Math.round(ms) / 1_000)

function tooMany(what: string, perMinute: number, seconds: number): HttpProblem {
  const detail = `Each ${what} may send ${perMinute} requests a minute. Nothing was done; try again in ${seconds} s.`
  return new HttpProblem(429, 'too-many-requests', 'Too many requests', {
    detail,
    headers: { 'retry-after': String(seconds) },
  })
}
