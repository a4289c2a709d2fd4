import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { startServer } from './http.ts'

export type TestIssuer = Awaited<ReturnType<typeof startIssuer>>

/** Starts a token issuer for tests, with discovery and signing keys. */
export async function startIssuer() {
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
    /** The issuer's URL, which is also the claim `iss` of its tokens. */
    url,
    get keyRequests() {
      return keyRequests
    },
    /**
     * Returns an access token with the usual claims and the given claims, signed with the newest key. The value `undefined` leaves a claim out.
     */
    token(claims: { [claim: string]: unknown } = {}): Promise<string> {
      const seconds = Math.floor(Date.now() / 1000)
      const usual = { iss: url, sub: 'ada', aud: 'orderflow', iat: seconds, exp: seconds + 300 }
      return new SignJWT({ ...usual, ...claims } as JWTPayload)
        .setProtectedHeader({ alg: 'ES256', kid: key.kid })
        .sign(key.privateKey)
    },
    /** Replaces the signing key. The old key is no longer published. */
    async rotate(): Promise<void> {
      key = await makeKey(String(Number(key.kid) + 1))
    },
    /** Makes the issuer answer 503 to all requests. If `isFailing` is false, it answers normally again. */
    fail(isFailing: boolean): void {
      failing = isFailing
    },
    stop,
  }
}
