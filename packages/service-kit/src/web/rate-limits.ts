import { isIP, isIPv6 } from 'node:net'
import type { Request, RequestHandler, Response } from 'express'
import { LRUCache } from 'lru-cache'
import { HttpProblem } from './problems.ts'
import { callerOf } from './security.ts'

/** The settings of section `Limits`, in requests per minute; 0 for no limit. */
export type Limits = Record<'AddressPerMinute' | 'CallerPerMinute' | 'TenantPerMinute', number>

const none: Limits = { AddressPerMinute: 0, CallerPerMinute: 0, TenantPerMinute: 0 }

/** Returns the limits to apply before authentication (`ofStrangers`) and after it (`ofCallers`). */
export function rateLimits({ AddressPerMinute, CallerPerMinute, TenantPerMinute }: Limits = none): {
  ofStrangers: RequestHandler[]
  ofCallers: RequestHandler[]
} {
  return {
    ofStrangers: limit('address', AddressPerMinute, networkOfSender),
    ofCallers: [
      ...limit('caller', CallerPerMinute, (_request, response) => callerOf(response)?.id),
      ...limit('tenant', TenantPerMinute, (_request, response) => callerOf(response)?.tenant.id || undefined),
    ],
  }
}

/**
 * Answers 429 to senders that exceed their quota, and adds the state of the quota to every answer (draft-ietf-httpapi-ratelimit-headers-08). In the
 * headers, the quota is `q` requests within `w` seconds. `r` requests are left, and the whole quota is available again after `t` seconds.
 * @param keyOf returns a key for the sender; undefined if the sender has no quota
 */
function limit(what: string, perMinute: number, keyOf: (request: Request, response: Response) => string | undefined) {
  // If the limit is off, the middleware is left out. Even an empty middleware takes a microsecond of each request.
  if (perMinute === 0) return []
  const rate = createRate(perMinute)
  const policy = `"${what}";q=${perMinute};w=${minuteMs / 1_000}`
  const handler: RequestHandler = (request, response, next) => {
    const key = keyOf(request, response)
    if (key === undefined) return next()
    const { left, wholeInMs, waitMs } = rate(key)
    response.append('ratelimit-policy', policy)
    response.append('ratelimit', `"${what}";r=${left};t=${secondsOf(wholeInMs)}`)
    if (waitMs > 0) throw tooMany(what, perMinute, secondsOf(waitMs))
    next()
  }
  return [handler]
}

/** Rounds up to whole seconds. It first rounds to whole milliseconds, to remove errors of the clock. */
const secondsOf = (ms: number): number => Math.ceil(Math.round(ms) / 1_000)

function tooMany(what: string, perMinute: number, seconds: number): HttpProblem {
  const detail = `Each ${what} may send ${perMinute} requests a minute. The request had no effect; try again in ${seconds} s.`
  return new HttpProblem(429, 'too-many-requests', 'Too many requests', {
    detail,
    headers: { 'retry-after': String(seconds) },
  })
}

/** Counts a request against the quota of its key. Refused requests are not counted. */
type Rate = (key: string) => {
  left: number
  wholeInMs: number
  /** The time until this request would be accepted; 0 if it is accepted now. */
  waitMs: number
}

const minuteMs = 60_000

/** The number of remembered keys, of 100 to 200 bytes each. */
const defaultMemory = 20_000

const roundingMs = 1e-3

/**
 * Creates a quota for each key. It allows `perMinute` requests at once, and then one request every 60 s / `perMinute`.  The only state is the time
 * when the quota is full again (generic cell rate algorithm, ITU-T I.371; ADR 38).
 *
 * It forgets the least recently used key when its memory is full. A forgotten key gets a full quota.
 * @param perMinute the number of requests per minute, above 0
 * @param now a monotonic clock, in milliseconds
 */
export function createRate(perMinute: number, now = () => performance.now(), memory = defaultMemory): Rate {
  const shareMs = minuteMs / perMinute
  const wholeAts = new LRUCache<string, number>({ max: memory })

  return (key) => {
    const time = now()
    const before = Math.max(wholeAts.get(key) ?? time, time)
    const waitMs = before + shareMs - time - minuteMs
    const isTaken = waitMs <= roundingMs
    const wholeAt = isTaken ? before + shareMs : before
    wholeAts.set(key, wholeAt)
    const wholeInMs = wholeAt - time
    return { left: Math.floor((minuteMs - wholeInMs + roundingMs) / shareMs), wholeInMs, waitMs: isTaken ? 0 : waitMs }
  }
}

/** Returns the network of a request's sender. Trusted proxies report the sender's address (`Web__Proxies`). */
export function networkOfSender({ ip = '', socket }: Request): string {
  // If a proxy reports an invalid address, the proxy's own address is used.
  return networkOf(isIP(ip) ? ip : (socket.remoteAddress ?? ''))
}

/**
 * Returns an IPv4 address unchanged. For an IPv6 address, returns its /64 network, because a customer gets at least a /64 (RFC 6177). An IPv4 address
 * may have the form `::ffff:192.0.2.1`.
 */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  // The zone (`%eth0`) is dropped. A part in IPv4 notation stands for two groups.
  const [head = [], tail = []] = address
    .replace(/%.*/, '')
    .replace(/[\d.]+\.\d+$/, '0:0')
    .split('::')
    .map((groups) => groups.split(':').filter(Boolean))
  const omitted = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  const groups = [...head, ...omitted, ...tail].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
