import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { AuthSettings } from './auth-settings.ts'
import type { Caller } from './caller.ts'
import type { Issuer } from './issuer.ts'

/** Why a token is none that counts here, in words for its owner. */
export class TokenError extends Error {
  readonly code = 'token'
}

/** Whose token it is. @throws {TokenError} @throws {IssuerError} */
export type VerifyToken = (token: string) => Promise<Caller>

/** Keys that only the issuer has. One shared with its clients (HS256) would let each of them make tokens. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Seconds by which the issuer's clock and ours may differ. */
const clockTolerance = 30
/** A token that was verified is known again for so long: then its key may have been taken back. */
const knownForMs = 60_000
/** Tokens of 1 to 2 KB each. */
const maxKnown = 2_000

/** Verifies access tokens of the issuer: signature, issuer, audience, and time. */
export function createTokenVerifier(
  { Issuer: issuer, Audience: audience, TenantClaim: tenantClaim }: AuthSettings['Auth'],
  { key }: Pick<Issuer, 'key'>,
  now: () => Date,
): VerifyToken {
  const known = createKnown(now)
  return async (token) => {
    const remembered = known.get(token)
    if (remembered) return remembered
    const options = { issuer, audience, algorithms, clockTolerance, requiredClaims: ['exp', 'sub'], currentDate: now() }
    const { payload } = await jwtVerify(token, key, options).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? new TokenError(wordsFor(error, audience)) : error
    })
    const caller = callerOf(payload, tenantClaim)
    known.add(token, caller, ((payload.exp as number) + clockTolerance) * 1_000)
    return caller
  }
}

function callerOf(payload: JWTPayload, tenantClaim: string): Caller {
  const tenant = payload[tenantClaim] ?? ''
  if (typeof tenant !== 'string' || tenant.length > 128) {
    throw new TokenError(`its claim ${tenantClaim} is no text of at most 128 characters`)
  }
  const userId = String(payload.sub)
  return { id: `${payload.iss}|${userId}`, scopes: scopesOf(payload), tenant: { id: tenant, userId } }
}

/** `scope` is the standard's (RFC 9068, section 2.2.3); others write `scp`, as a text or a list. */
function scopesOf({ scope, scp }: JWTPayload): Set<string> {
  return new Set([scope, scp].flat().flatMap((some) => (typeof some === 'string' ? some.split(' ') : [])))
}

function wordsFor(error: errors.JOSEError, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'it has expired: ask the issuer for a new one'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return `it is for another audience than ${audience}`
    if (error.claim === 'iss') return 'it is of another issuer'
    if (error.claim === 'nbf') return 'it does not count yet'
    return `its claim ${error.claim} is missing or wrong`
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong'
  if (error instanceof errors.JWKSNoMatchingKey) return 'it is signed with a key that is none of the issuer’s'
  return 'it is neither a token that can be read nor a key'
}

/** Verified tokens: the newest `maxKnown` at least. */
function createKnown(now: () => Date) {
  type Known = Map<string, { caller: Caller; until: number }>
  let [newer, older]: [Known, Known] = [new Map(), new Map()]
  return {
    get(token: string): Caller | undefined {
      const found = newer.get(token) ?? older.get(token)
      return found && found.until > now().getTime() ? found.caller : undefined
    },
    add(token: string, caller: Caller, expires: number): void {
      if (newer.size === maxKnown) [newer, older] = [new Map(), newer]
      newer.set(token, { caller, until: Math.min(expires, now().getTime() + knownForMs) })
    },
  }
}
