import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** A certified OpenID Connect provider, with a page where anybody signs in by any name. */
export interface SignIn {
  /** As tokens have it in `iss`. */
  issuer: string
  stop(): Promise<void>
}

export interface SignInOptions {
  clientId: string
  /** Where the client's pages may be led back to. */
  redirectUris: string[]
  audience: string
  scopes: string[]
  /** The tenant of whoever signs in with a name. */
  tenantOf: (name: string) => string
}

export async function startSignIn({
  clientId,
  redirectUris,
  audience,
  scopes,
  tenantOf,
}: SignInOptions): Promise<SignIn> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    // A page has no secret: PKCE takes its place.
    clients: [
      {
        client_id: clientId,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: redirectUris,
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    scopes: ['openid', ...scopes],
    findAccount: (_context, name) => ({ accountId: name, claims: () => ({ sub: name }) }),
    extraTokenClaims: (_context, token) => ({
      tenant_id: tenantOf('accountId' in token ? String(token.accountId) : ''),
    }),
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => `urn:${audience}`,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: scopes.join(' '), audience, accessTokenFormat: 'jwt' }),
      },
    },
    cookies: { keys: ['of a test'] },
    ttl: { AccessToken: 300, AuthorizationCode: 60, Grant: 300, Interaction: 300, Session: 300 },
  })
  server.on('request', provider.callback())
  return {
    issuer,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
