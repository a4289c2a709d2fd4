import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type ClientMetadata, Provider } from 'oidc-provider'

/** A certified OpenID Connect provider with a page that accepts any name. */
export interface SignIn {
  /** The value of `iss` in tokens. */
  issuer: string
  stop(): Promise<void>
}

export interface SignInOptions {
  client: ClientMetadata
  audience: string
  scopes: string[]
  /** Returns the tenant of a user by name. A program has no tenant. */
  tenantOf?: (name: string) => string
  /** The address, name and certificate for TLS. By default it listens on loopback without TLS. */
  at?: { address: string; name: string; certificate: string; key: string }
}

/** A client for a page, which uses PKCE instead of a secret. */
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

/** A client for a program, with a secret and no user. */
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
