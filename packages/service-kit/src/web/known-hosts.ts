import { isIP } from 'node:net'
import type { Request, RequestHandler } from 'express'
import { HttpProblem } from './problems/problem.ts'

/**
 * Refuses requests whose Host is not known, where callers do not prove who they are. A page of evil.example can have that name resolve to
 * 127.0.0.1 once it is loaded (DNS rebinding). The browser then takes this service for a part of that site, so the page may read and write
 * here, and `Origin` and `Host` agree. Known are the names of this machine and those of the setting. Literal addresses are known too: no
 * page can be loaded from an address and then have it mean another one.
 * @param hosts the further names, by commas (`Web__Hosts`)
 */
export function requireKnownHost(hosts: string): RequestHandler {
  const known = new Set(hosts.split(',').map(normalized))
  const isKnown = (name: string) =>
    name === 'localhost' || name.endsWith('.localhost') || isIP(name.replace(/^\[|\]$/g, '')) > 0 || known.has(name)
  return (request, _response, next) => {
    const names = namesOf(request)
    if (names.every((name) => name !== '' && isKnown(name))) return next()
    throw new HttpProblem(421, 'unknown-host', 'This service does not answer under that name', {
      detail:
        `The request is for ${names.find((name) => !isKnown(name)) || 'no valid host name'}. Use localhost or the address, or add the name to ` +
        'Web__Hosts of the service; where callers prove who they are (Auth__Mode=closed), every name is accepted.',
    })
  }
}

/**
 * Returns the names that a request is for: of each Host header (RFC 9112 allows one), and of a target in absolute form. An empty text stands
 * for what is no host. `X-Forwarded-Host` does not count: a page can set it. A request of HTTP/1.0 may have
 * no name at all, and no browser sends one.
 */
function namesOf({ headersDistinct, url }: Request): string[] {
  const target = url.startsWith('/') || url === '*' ? [] : [URL.parse(url)?.host ?? '']
  return [...(headersDistinct.host ?? []), ...target].map((host) => {
    const [, name = ''] = /^(\[[\da-f:.]+\]|[^\s:@/?#[\]]+)(?::\d*)?$/i.exec(host) ?? []
    return normalized(name)
  })
}

/** Host names are the same in capitals, and with the dot that ends a complete name. */
function normalized(name: string): string {
  return name.trim().toLowerCase().replace(/\.$/, '')
}
