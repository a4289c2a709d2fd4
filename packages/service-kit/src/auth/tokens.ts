import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { timeLimit } from '../limits.ts'
import { remembered } from '../remembered.ts'
import type { AuthSettings } from './auth-settings.ts'
import type { Caller } from './caller.ts'

/** Thrown for a rejected token. `message` states the reason for the token's owner. */
export class TokenError extends Error {
  readonly code = 'token'
}

/** Returns the caller of a token. @throws {TokenError} @throws {IssuerError} */
export type VerifyToken = (token: string) => Promise<Caller>

/** Algorithms with a private signing key, which only the issuer has. With a shared key (HS256), clients could create tokens. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** The allowed difference between the clocks of issuer and service, in seconds. */
const clockTolerance = 30
/** The time for which a verified token is cached. It stays valid for this time, even if the issuer revokes the signing key. */
const knownForMs = 60_000
/** The largest number of cached tokens. A token has 1 to 2 KB. */
const maxCached = 4_000

/** Creates the check of access tokens: signature, issuer, audience and time. */
export function createTokenVerifier(
  { Issuer: issuer, Audience: audience, TenantClaim: tenantClaim }: AuthSettings['Auth'],
  { key }: Pick<Issuer, 'key'>,
  now: () => Date,
): VerifyToken {
  const known = new LRUCache<string, { caller: Caller; until: number }>({ max: maxCached })
  return async (token) => {
    const remembered = known.get(token)
    if (remembered && remembered.until > now().getTime()) return remembered.caller
    const options = { issuer, audience, algorithms, clockTolerance, requiredClaims: ['exp', 'sub'], currentDate: now() }
    const { payload } = await jwtVerify(token, key, options).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? new TokenError(wordsFor(error, audience)) : error
    })
    const caller = callerOf(payload, tenantClaim)
    const expires = ((payload.exp as number) + clockTolerance) * 1_000
    known.set(token, { caller, until: Math.min(expires, now().getTime() + knownForMs) })
    return caller
  }
}

function callerOf(payload: JWTPayload, tenantClaim: string): Caller {
  const tenant = payload[tenantClaim] ?? ''
  if (typeof tenant !== 'string' || tenant.length > 128)
    throw new TokenError(`its claim ${tenantClaim} must be a string of at most 128 characters`)
  const userId = String(payload.sub)
  return { id: `${payload.iss}|${userId}`, scopes: scopesOf(payload), tenant: { id: tenant, userId } }
}

/** Returns the scopes in the claim `scope` (RFC 9068, section 2.2.3), and in `scp`, which some issuers use instead. */
const scopesOf = ({ scope, scp }: JWTPayload): Set<string> =>
  new Set([scope, scp].flat().flatMap((some) => (typeof some === 'string' ? some.split(' ') : [])))

function wordsFor(error: errors.JOSEError, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'it has expired; ask the issuer for a new one'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return `its audience is not ${audience}`
    if (error.claim === 'iss') return 'it has another issuer'
    if (error.claim === 'nbf') return 'it is not valid yet'
    return `its claim ${error.claim} is missing or wrong`
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong'
  if (error instanceof errors.JWKSNoMatchingKey) return 'it is signed with a key that the issuer does not have'
  return 'it is not a token or API key that can be read'
}

/** An issuer's metadata (OpenID Connect Discovery 1.0, section 3). */
export interface Discovery {
  issuer: string
  jwks_uri: string
  authorization_endpoint?: string
  token_endpoint?: string
}

/** Thrown if the issuer does not answer, or its answer is invalid. The token may still be valid. */
export class IssuerError extends Error {
  readonly code = 'issuer'
  constructor(issuer: string, what: string, cause?: unknown) {
    super(`the issuer ${issuer} ${what}`, { cause })
    this.name = 'IssuerError'
  }
}

export type Issuer = ReturnType<typeof createIssuer>

const issuerTimeoutMs = timeLimit(3_000)

/**
 * Creates a client that finds an issuer's keys by OpenID Connect Discovery. It reads the keys again after 10 minutes. If a token has an unknown key,
 * it reads them earlier, but at most every 30 s. The previous keys stay valid while the issuer does not answer.
 */
export function createIssuer(issuer: string) {
  const discover = remembered(() => discoveryOf(issuer))
  let remote: ReturnType<typeof createRemoteJWKSet> | undefined

  return {
    /** Returns the issuer's metadata, and caches them. Failures are not cached. @throws {IssuerError} */
    discover,
    /** Returns the key that signed a token. @throws {IssuerError} */
    key: (async (header, token) => {
      const { jwks_uri } = await discover()
      remote ??= createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: issuerTimeoutMs })
      try {
        return await remote(header, token)
      } catch (error) {
        // The token itself is wrong: the issuer does not have the key that signed it.
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported) throw error
        const known = remote.jwks()
        if (known) return createLocalJWKSet(known)(header, token)
        throw new IssuerError(issuer, 'does not answer with its keys', error)
      }
    }) satisfies JWTVerifyGetKey,
  }
}

async function discoveryOf(issuer: string): Promise<Discovery> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(issuerTimeoutMs) }).catch((cause: unknown) => {
    throw new IssuerError(issuer, 'does not answer', cause)
  })
  if (!response.ok) throw new IssuerError(issuer, `answers ${response.status} at ${url}`)
  const found = (await response.json().catch(() => ({}))) as Partial<Discovery>
  // OpenID Connect Discovery, section 4.3, forbids metadata that name another issuer.
  if (found.issuer !== issuer)
    throw new IssuerError(issuer, `calls itself ${found.issuer}: set Auth__Issuer to that value`)
  if (!found.jwks_uri) throw new IssuerError(issuer, 'has no jwks_uri in its metadata')
  return found as Discovery
}
