import { isIP, isIPv6 } from 'node:net'
import type { Request, RequestHandler } from 'express'
import { callerOf } from '../auth/caller.ts'
import { HttpProblem } from './problems.ts'

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

/** What a request finds of a quota. Times in milliseconds. */
export interface Standing {
  /** How many more would be taken at this moment. */
  left: number
  /** Until the quota is whole again. */
  wholeInMs: number
  /** Until this one would have been taken; 0 when it is. */
  waitMs: number
}

/** Counts a request of somebody against his quota. One that is refused does not count. */
export type Rate = (key: string) => Standing

export const minuteMs = 60_000

/** How many are remembered: 100 to 200 bytes each. */
const defaultMemory = 20_000

/** Sums of fractions of milliseconds are not exact. */
const roundingMs = 1e-3

/**
 * A quota for each of many: so many requests at once, and one more as soon as its share of a minute has passed. Not so many per
 * calendar minute, which would take twice as many within the seconds around a full one, and then none for a minute. All that is kept
 * of somebody is when his quota will be whole again (the generic cell rate algorithm, ITU-T I.371).
 *
 * Memory is bounded: two halves, of which the older one goes when the newer one is full. Who is forgotten was silent while half as
 * many others came as are remembered at all, and has a whole quota again. So a flood of senders takes nothing from anybody, and frees
 * only those it would have to outnumber.
 * @param perMinute above 0
 * @param now a clock that never goes back, in milliseconds
 * @param memory how many are remembered, at most
 */
export function createRate(perMinute: number, now = () => performance.now(), memory = defaultMemory): Rate {
  const shareMs = minuteMs / perMinute
  let newer = new Map<string, number>()
  let older = new Map<string, number>()

  function remember(key: string, wholeAt: number): void {
    if (newer.size >= memory / 2 && !newer.has(key)) [older, newer] = [newer, new Map()]
    newer.set(key, wholeAt)
  }

  return (key) => {
    const time = now()
    const before = Math.max(newer.get(key) ?? older.get(key) ?? time, time)
    const waitMs = before + shareMs - time - minuteMs
    const isTaken = waitMs <= roundingMs
    const wholeAt = isTaken ? before + shareMs : before
    remember(key, wholeAt)
    const wholeInMs = wholeAt - time
    return { left: Math.floor((minuteMs - wholeInMs + roundingMs) / shareMs), wholeInMs, waitMs: isTaken ? 0 : waitMs }
  }
}

/** The network that a request comes from; see `networkOf`. Behind proxies their last ones' word for it (`Web__Proxies`). */
export function networkOfSender({ ip = '', socket }: Request): string {
  // What a proxy writes may be no address; then all that it forwards so share its own.
  return networkOf(isIP(ip) ? ip : (socket.remoteAddress ?? ''))
}

/**
 * Whom an address stands for: IPv4 for itself, and IPv6 for its /64, the least that a customer is given (RFC 6177) and all of which one
 * machine may use. Sockets that listen for both have IPv4 as `::ffff:192.0.2.1`.
 */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  // A zone is no part of it, and what is written as IPv4 is two groups.
  const [head = [], tail = []] = address
    .replace(/%.*/, '')
    .replace(/[\d.]+\.\d+$/, '0:0')
    .split('::')
    .map((groups) => groups.split(':').filter(Boolean))
  const omitted = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  const groups = [...head, ...omitted, ...tail].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
