import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose'

/** What an OpenID Connect issuer says of itself (OpenID Connect Discovery 1.0, section 3). */
export interface Discovery {
  issuer: string
  jwks_uri: string
  authorization_endpoint?: string
  token_endpoint?: string
}

/** An issuer that does not answer, or not as one. Nothing is wrong with the token. */
export class IssuerError extends Error {
  readonly code = 'issuer'
  constructor(issuer: string, what: string, cause?: unknown) {
    super(`the issuer ${issuer} ${what}`, { cause })
    this.name = 'IssuerError'
  }
}

export interface Issuer {
  /** Asked once, and again after a failure. @throws {IssuerError} */
  discover(): Promise<Discovery>
  /** The key that signed a token. @throws {IssuerError} */
  key: JWTVerifyGetKey
}

const timeoutMs = 3_000

/**
 * The keys of an issuer, found by discovery. They are asked for again when a token names one that is not known, at most every 30 s, and
 * every 10 minutes anyway, so that keys which the issuer took back end. While it is away those that were known last go on: its
 * absence must not be ours.
 */
export function createIssuer(issuer: string): Issuer {
  let discovery: Promise<Discovery> | undefined
  let remote: ReturnType<typeof createRemoteJWKSet> | undefined

  function discover(): Promise<Discovery> {
    discovery ??= askFor(issuer).catch((error: unknown) => {
      discovery = undefined
      throw error
    })
    return discovery
  }

  return {
    discover,
    async key(header, token) {
      const { jwks_uri } = await discover()
      remote ??= createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: timeoutMs })
      try {
        return await remote(header, token)
      } catch (error) {
        // About the token: its key is none of the issuer's.
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported) throw error
        const known = remote.jwks()
        if (known) return createLocalJWKSet(known)(header, token)
        throw new IssuerError(issuer, 'does not answer with its keys', error)
      }
    },
  }
}

async function askFor(issuer: string): Promise<Discovery> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((cause: unknown) => {
    throw new IssuerError(issuer, 'does not answer', cause)
  })
  if (!response.ok) throw new IssuerError(issuer, `answers ${response.status} at ${url}`)
  const found = (await response.json().catch(() => ({}))) as Partial<Discovery>
  // Section 4.3: whoever answers for another issuer is none of ours.
  if (found.issuer !== issuer)
    throw new IssuerError(issuer, `calls itself ${found.issuer}: write Auth__Issuer as it does`)
  if (!found.jwks_uri) throw new IssuerError(issuer, 'names no jwks_uri')
  return found as Discovery
}
