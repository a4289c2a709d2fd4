import type { Auth } from '../../auth/auth.ts'
import type { Route } from '../route.ts'
import type { PageSignIn } from './docs.ts'
import { type OpenApi, problemAnswer } from './openapi.ts'

type Issuer = NonNullable<Auth['issuer']>
/** An OpenAPI security scheme object. */
type Scheme = { type: 'http' | 'oauth2'; [member: string]: unknown }

const denials = {
  401: problemAnswer('No token or key that counts.'),
  403: problemAnswer('The token or key lacks the scope; or a page of another site sent this.'),
}

/** A service's document with the ways in, and with what each operation needs. */
export async function secured(document: OpenApi, auth: Auth, routes: readonly Route[]): Promise<OpenApi> {
  const schemes = await securitySchemes(auth, routes)
  const paths: OpenApi['paths'] = {}
  for (const { operation } of routes) {
    const { path, method, scope } = operation
    const known = document.paths[path]?.[method]
    const security = Object.entries(schemes).map(([name, { type }]) => ({ [name]: type === 'oauth2' ? [scope] : [] }))
    paths[path] = { ...paths[path], [method]: { ...known, security, responses: { ...known?.responses, ...denials } } }
  }
  return { ...document, paths, components: { ...document.components, securitySchemes: schemes } }
}

async function securitySchemes({ issuer, keys }: Auth, routes: readonly Route[]): Promise<Record<string, Scheme>> {
  const pasted: Scheme = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A token of the issuer' }
  return {
    ...(keys && { key: { type: 'http', scheme: 'bearer', description: 'An API key: `ofk_…`' } }),
    ...(issuer && { token: (await signIn(issuer, routes)) ?? pasted }),
  }
}

/** Undefined while the issuer cannot be asked, or when nobody can sign in there. */
async function signIn({ discover, clientId }: Issuer, routes: readonly Route[]): Promise<Scheme | undefined> {
  const found = clientId ? await discover().catch(() => undefined) : undefined
  if (!found?.authorization_endpoint || !found.token_endpoint) return undefined
  const scopes = Object.fromEntries(scopesOf(routes).map((scope) => [scope, scope.replace(/^(.*):(.*)$/, '$2 $1')]))
  const { authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl } = found
  const authorizationCode = { authorizationUrl, tokenUrl, scopes: { openid: 'who you are', ...scopes } }
  return { type: 'oauth2', flows: { authorizationCode } }
}

/** How the page signs people in: as a public client, which has no secret (RFC 7636). Undefined when it is none. */
export function pageSignIn({ clientId, discover }: Issuer, routes: readonly Route[]): PageSignIn | undefined {
  if (!clientId) return undefined
  const oauth = { clientId, scopes: ['openid', ...scopesOf(routes)], usePkceWithAuthorizationCodeGrant: true }
  const origins = async () => {
    const { token_endpoint: tokens } = await discover().catch(() => ({ token_endpoint: undefined }))
    return tokens ? [new URL(tokens).origin] : []
  }
  return { oauth, origins }
}

const scopesOf = (routes: readonly Route[]): string[] => [...new Set(routes.map(({ operation }) => operation.scope))]
