import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type ClientMetadata, Provider } from 'oidc-provider'

/** A certified OpenID Connect provider, with a page where anybody signs in by any name. */
export interface SignIn {
  /** As tokens have it in `iss`. */
  issuer: string
  stop(): Promise<void>
}

export interface SignInOptions {
  client: ClientMetadata
  audience: string
  scopes: string[]
  /** The tenant of whoever signs in with a name; a program has none. */
  tenantOf?: (name: string) => string
  /** Where it listens with TLS, and the name it has there; on loopback without, unless given. */
  at?: { address: string; name: string; certificate: string; key: string }
}

/** A client that is a page: it has no secret, PKCE takes its place. */
export function pageClient(id: string, redirectUris: string[]): ClientMetadata {
  return {
    client_id: id,
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: redirectUris,
    response_types: ['code'],
    grant_types: ['authorization_code'],
  }
}

/** A client that is a program, with a secret of its own: no person signs in. */
export function programClient(id: string, secret: string): ClientMetadata {
  return {
    client_id: id,
    client_secret: secret,
    redirect_uris: [],
    response_types: [],
    grant_types: ['client_credentials'],
  }
}

export async function startSignIn({ client, audience, scopes, tenantOf, at }: SignInOptions): Promise<SignIn> {
  const server = at ? createSecureServer({ cert: at.certificate, key: at.key }) : createServer()
  server.listen(0, at?.address ?? '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const issuer = at ? `https://${at.name}:${port}` : `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [client],
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    scopes: ['openid', ...scopes],
    findAccount: (_context, name) => ({ accountId: name, claims: () => ({ sub: name }) }),
    extraTokenClaims: (_context, token) =>
      tenantOf && 'accountId' in token ? { tenant_id: tenantOf(String(token.accountId)) } : {},
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
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
