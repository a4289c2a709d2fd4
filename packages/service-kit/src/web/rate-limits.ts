import { isIP, isIPv6 } from 'node:net'
import type { Request, RequestHandler, Response } from 'express'
import { HttpProblem } from './problems.ts'
import { callerOf } from './security.ts'

/** The settings of section `Limits`, in requests per minute; 0 for no limit. */
export interface Limits {
  AddressPerMinute: number
  CallerPerMinute: number
  TenantPerMinute: number
}

const none: Limits = { AddressPerMinute: 0, CallerPerMinute: 0, TenantPerMinute: 0 }

/** Returns a middleware for each limit, before and after authentication. */
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
 * Answers 429 to senders beyond their quota, and adds its state to every answer (draft-ietf-httpapi-ratelimit-headers-08). It is `q`
 * requests within `w` seconds; `r` are left, and all of them again after `t` seconds.
 * @param keyOf returns the sender; undefined for no quota
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
    response.append('ratelimit-policy', policy)
    response.append('ratelimit', `"${what}";r=${left};t=${secondsOf(wholeInMs)}`)
    if (waitMs > 0) throw tooMany(what, perMinute, secondsOf(waitMs))
    next()
  }
  return [handler]
}

/** Rounds up to whole seconds, but first rounds away errors of the clock. */
const secondsOf = (ms: number): number => Math.ceil(Math.round(ms) / 1_000)

function tooMany(what: string, perMinute: number, seconds: number): HttpProblem {
  const detail = `Each ${what} may send ${perMinute} requests a minute. The request had no effect; try again in ${seconds} s.`
  return new HttpProblem(429, 'too-many-requests', 'Too many requests', {
    detail,
    headers: { 'retry-after': String(seconds) },
  })
}

/** Times are in milliseconds. */
export interface RateState {
  left: number
  wholeInMs: number
  /** The time until this request would be accepted; may be 0. */
  waitMs: number
}

/** Counts a request against the quota of its key. Refused requests are free. */
export type Rate = (key: string) => RateState

const minuteMs = 60_000

/** The number of remembered keys, of 100 to 200 bytes each. */
const defaultMemory = 20_000

const roundingMs = 1e-3

/**
 * Creates a quota per key: `perMinute` requests at once, and one more after each share of a minute. A fixed window would accept twice as many around
 * its start. The only state is the time when the quota is full again (generic cell rate algorithm, ITU-T I.371; ADR 38).
 *
 * Memory has two halves, and the older one is dropped when the newer one is full. So it forgets only keys that were silent while at least half of
 * `memory` others came. A forgotten key gets a full quota.
 * @param perMinute above 0
 * @param now a monotonic clock, in milliseconds
 * @param memory the largest number of remembered keys
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

/** Returns the network of a request's sender, as proxies report it (`Web__Proxies`). */
export function networkOfSender({ ip = '', socket }: Request): string {
  // A proxy's own address replaces an invalid one.
  return networkOf(isIP(ip) ? ip : (socket.remoteAddress ?? ''))
}

/**
 * Returns the IPv4 address itself, or the /64 of an IPv6 address, because a customer gets at least a /64 (RFC 6177). IPv4 may have the form
 * `::ffff:192.0.2.1`.
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
