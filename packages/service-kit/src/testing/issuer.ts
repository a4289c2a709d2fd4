import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** An issuer of tokens for a test, with discovery, keys and any claims. */
export interface TestIssuer {
  /** The issuer as in the tokens' `iss`. */
  url: string
  readonly keyRequests: number
  /**
   * Returns a token with these claims and the usual claims of an access token, signed with the newest key. The value `undefined` leaves a claim out.
   */
  token(claims?: { [claim: string]: unknown }): Promise<string>
  /** Signs with a new key from now on, and no longer publishes the old key. */
  rotate(): Promise<void>
  /** Answers 503 to all requests while `isFailing` is true. */
  fail(isFailing: boolean): void
  stop(): Promise<void>
}

export async function startIssuer(): Promise<TestIssuer> {
  const makeKey = async (kid: string) => ({ kid, ...(await generateKeyPair('ES256')) })
  let key = await makeKey('1')
  let failing = false
  let keyRequests = 0
  const server = createServer(async (request, response) => {
    if (failing) return response.writeHead(503).end()
    if (request.url === '/keys') {
      keyRequests += 1
      return response.end(
        JSON.stringify({ keys: [{ ...(await exportJWK(key.publicKey)), kid: key.kid, alg: 'ES256' }] }),
      )
    }
    const endpoints = { authorization_endpoint: `${url}/auth`, token_endpoint: `${url}/token` }
    if (request.url === '/.well-known/openid-configuration') {
      return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys`, ...endpoints }))
    }
    return response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

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
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
