import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { startServer } from './http.ts'

/** A token issuer for tests, with discovery and signing keys. */
export interface TestIssuer {
  /** The issuer's URL, which is also the claim `iss` of its tokens. */
  url: string
  readonly keyRequests: number
  /**
   * Returns an access token with the usual claims and the given claims, signed with the newest key. The value `undefined` leaves a claim out.
   */
  token(claims?: { [claim: string]: unknown }): Promise<string>
  /** Replaces the signing key. The old key is no longer published. */
  rotate(): Promise<void>
  /** Makes the issuer answer 503 to all requests. If `isFailing` is false, it answers normally again. */
  fail(isFailing: boolean): void
  stop(): Promise<void>
}

export async function startIssuer(): Promise<TestIssuer> {
  const makeKey = async (kid: string) => ({ kid, ...(await generateKeyPair('ES256')) })
  let key = await makeKey('1')
  let failing = false
  let keyRequests = 0
  const { url, stop } = await startServer(async (request, response) => {
    if (failing) return response.writeHead(503).end()
    if (request.url === '/keys') {
      keyRequests += 1
      return response.end(
        JSON.stringify({ keys: [{ ...(await exportJWK(key.publicKey)), kid: key.kid, alg: 'ES256' }] }),
      )
    }
    const endpoints = { authorization_endpoint: `${url}/auth`, token_endpoint: `${url}/token` }
    if (request.url === '/.well-known/openid-configuration')
      return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys`, ...endpoints }))
    return response.writeHead(404).end()
  })

  return {
    url,
    get keyRequests() {
      return keyRequests
    },
    token(claims = {}) {
      const seconds = Math.floor(Date.now() / 1000)
      const usual = { iss: url, sub: 'ada', aud: 'orderflow', iat: seconds, exp: seconds + 300 }
      return new SignJWT({ ...usual, ...claims } as JWTPayload)
        .setProtectedHeader({ alg: 'ES256', kid: key.kid })
        .sign(key.privateKey)
    },
    async rotate() {
      key = await makeKey(String(Number(key.kid) + 1))
    },
    fail(isFailing) {
      failing = isFailing
    },
    stop,
  }
}
