import { isIP, isIPv6 } from 'node:net'
import type { Request } from 'express'

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
