import { isIP, isIPv6 } from 'node:net'
import type { Request, RequestHandler, Response } from 'express'
import { HttpProblem } from './problems.ts'
import { callerOf } from './security.ts'

/** Section `Limits` of the settings: requests per minute; 0 for no limit. */
export interface Limits {
  AddressPerMinute: number
  CallerPerMinute: number
  TenantPerMinute: number
}

const none: Limits = { AddressPerMinute: 0, CallerPerMinute: 0, TenantPerMinute: 0 }

/** Returns a middleware for each limit that is set: those before authentication, and those after it. */
export function rateLimits({ AddressPerMinute, CallerPerMinute, TenantPerMinute }: Limits = none) {
  return {
    ofStrangers: limit('address', AddressPerMinute, networkOfSender),
    ofCallers: [
      ...limit('caller', CallerPerMinute, (_request, response) => callerOf(response)?.id),
      ...limit('tenant', TenantPerMinute, (_request, response) => callerOf(response)?.tenant.id || undefined),
    ],
  }
}

/**
 * Answers 429 to a sender beyond the quota, and adds the state of the quota to every answer (draft-ietf-httpapi-ratelimit-headers-08): `q`
 * requests within `w` seconds, `r` of them left, `t` seconds until the quota is full again.
 * @param keyOf returns the sender whose quota counts; undefined for no quota
 */
function limit(
  what: string,
  perMinute: number,
  keyOf: (request: Request, response: Response) => string | undefined,
): RequestHandler[] {
  // Even an empty middleware takes a microsecond of each request.
  if (perMinute === 0) return []
  const rate = createRate(perMinute)
  const policy = `"${what}";q=${perMinute};w=${minuteMs / 1_000}`
  const handler: RequestHandler = (request, response, next) => {
    const key = keyOf(request, response)
    if (key === undefined) return next()
    const { left, wholeInMs, waitMs } = rate(key)
    // The headers are lists, to which each limit adds an item.
    response.append('ratelimit-policy', policy)
    response.append('ratelimit', `"${what}";r=${left};t=${secondsOf(wholeInMs)}`)
    if (waitMs > 0) throw tooMany(what, perMinute, secondsOf(waitMs))
    next()
  }
  return [handler]
}

/** Rounds up to whole seconds. Fractions of a millisecond come from the clock, and are rounded off first. */
const secondsOf = (ms: number): number => Math.ceil(Math.round(ms) / 1_000)

function tooMany(what: string, perMinute: number, seconds: number): HttpProblem {
  const detail = `Each ${what} may send ${perMinute} requests a minute. Nothing was done; try again in ${seconds} s.`
  return new HttpProblem(429, 'too-many-requests', 'Too many requests', {
    detail,
    headers: { 'retry-after': String(seconds) },
  })
}

/** The state of a quota after a request. Times are in milliseconds. */
export interface RateState {
  /** The number of further requests that would be accepted now. */
  left: number
  /** Time until the quota is full again. */
  wholeInMs: number
  /** Time until this request would be accepted; 0 when it is accepted. */
  waitMs: number
}

/** Counts a request against the quota of its key. A refused request does not count. */
export type Rate = (key: string) => RateState

const minuteMs = 60_000

/** The number of remembered keys, of 100 to 200 bytes each. */
const defaultMemory = 20_000

/** Tolerance, because sums of fractions of milliseconds are not exact. */
const roundingMs = 1e-3

/**
 * Creates a quota per key: `perMinute` requests at once, and one more whenever its share of a minute has passed. A fixed window would accept
 * twice as many requests around the start of a window, and then none for a minute. The only state per key is the time when its quota is
 * full again (generic cell rate algorithm, ITU-T I.371; ADR 38).
 *
 * Memory is bounded: there are two halves, and the older one is dropped when the newer one is full. A forgotten key has a full quota again. It
 * was silent while at least half of `memory` other keys came. So a flood of keys takes no quota away, and frees no key that keeps sending.
 * @param perMinute above 0
 * @param now a monotonic clock, in milliseconds
 * @param memory the maximum number of remembered keys
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

/** Returns the network that a request comes from; see `networkOf`. Behind proxies it is the one that they report (`Web__Proxies`). */
export function networkOfSender({ ip = '', socket }: Request): string {
  // A proxy may report an invalid address. Then its own address counts.
  return networkOf(isIP(ip) ? ip : (socket.remoteAddress ?? ''))
}

/**
 * Returns the network of an address: an IPv4 address itself, or the /64 of an IPv6 address. A customer gets at least a /64 (RFC 6177), and one
 * machine may use all of it. Sockets for both versions report IPv4 as `::ffff:192.0.2.1`.
 */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  // The zone is dropped, and a part in IPv4 notation is two groups.
  const [head = [], tail = []] = address
    .replace(/%.*/, '')
    .replace(/[\d.]+\.\d+$/, '0:0')
    .split('::')
    .map((groups) => groups.split(':').filter(Boolean))
  const omitted = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  const groups = [...head, ...omitted, ...tail].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
