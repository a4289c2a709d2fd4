import { fileURLToPath } from 'node:url'
import swaggerJsdoc from 'swagger-jsdoc'
import type { Auth } from '../auth/auth.ts'
import type { Input } from './input.ts'
import { type Field, type Model, propertiesOf, referenceTo, type Schema } from './model.ts'
import type { PageSignIn } from './pages.ts'
import type { Refusals } from './problems.ts'
import type { Route } from './route.ts'

export interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, object>; security?: object[] }>>
  components: Record<string, object>
}

export interface Documented {
  title: string
  description: string
  routes: readonly Route[]
  refusals: Refusals
  problemMembers: Record<string, Field>
  /** URLs to which the document links; empty for no link. */
  tracePage?: string | undefined
  monitorPage?: string | undefined
}

/** The file with a comment that contains the schema of a problem. swagger-jsdoc reads this comment. */
const commented = [fileURLToPath(import.meta.resolve('#problems'))]

/** Returns the OpenAPI document of a service. @throws {Error} if a route names a code that `refusals` does not have */
export function openapiOf(documented: Documented): OpenApi {
  const { title, description, routes, refusals, problemMembers, tracePage, monitorPage } = documented
  const definition = {
    openapi: '3.0.3',
    info: {
      title,
      description: monitorPage ? `${description}\n\n[See the events](${monitorPage})` : description,
      version: '1',
    },
    // This URL is relative to the document's URL, so it includes a proxy's path prefix.
    servers: [{ url: '.' }],
    ...(tracePage && { externalDocs: { description: 'Traces', url: tracePage } }),
    paths: pathsOf(routes, (operation) => operationOf(operation, refusals)),
    components: {
      schemas: {
        ...Object.fromEntries(routes.flatMap(modelsOf).map(({ name, schema }) => [name, schema])),
        Problem: { properties: propertiesOf(problemMembers) },
      },
    },
  }
  return swaggerJsdoc({ definition, apis: commented, failOnErrors: true }) as OpenApi
}

/** Returns the operations by path and method. */
function pathsOf<T>(routes: readonly Route[], make: (operation: Route['operation']) => T) {
  const paths: Record<string, Record<string, T>> = {}
  for (const { operation } of routes)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: make(operation) }
  return paths
}

function operationOf(operation: Route['operation'], refusals: Refusals): object {
  const { path, scope, summary, description, inputs, answers, body, mediaType } = operation
  const request = inputs.find((input) => input.body)
  const headers = '201' in answers && { headers: { Location: { schema: { type: 'string' } } } }
  const results = Object.entries(answers).map(([status, meaning]) => [
    status,
    { description: meaning, ...headers, content: contentOf(referenceTo(body), mediaType ? [mediaType] : undefined) },
  ])
  return {
    summary,
    description: [description, `Scope: \`${scope}\``].filter(Boolean).join('\n\n'),
    tags: [path.split('/')[2]],
    parameters: inputs.flatMap(({ parameters = [] }) => parameters),
    ...(request?.body && {
      requestBody: { required: true, content: contentOf(referenceTo(request.body), request.receives?.types) },
    }),
    responses: { ...Object.fromEntries(results), ...problemsOf(operation, refusals) },
  }
}

const requestRules =
  'The request is not valid: `errors` names each field, header or parameter. Unknown query parameters are refused'

const invalidRequest = (inputs: readonly Input<unknown>[]) =>
  inputs.some(({ body, receives }) => body && (!receives || receives.isJson))
    ? `${requestRules}, and so are duplicate JSON keys and numbers of more digits than a 64-bit double keeps.`
    : `${requestRules}.`

/**
 * Returns the problems with which an operation may answer: those of its inputs and refusals, 400, 429 and 503. A POST from another site may also get
 * 403.
 */
function problemsOf({ method, path, inputs, refusals: codes }: Route['operation'], refusals: Refusals): object {
  const byRule = [...inputs.flatMap(({ problems }) => problems), ...(method === 'post' ? [403] : []), 429, 503]
  const meanings = new Map(byRule.map((status) => [status, 'What is wrong, and how to fix it.']))
  meanings.set(400, invalidRequest(inputs))
  const own = codes.map((code) => {
    const refusal = refusals[code]
    if (!refusal)
      throw new Error(`${method} ${path} has the refusal ${code}, which is missing in the service's table of refusals`)
    return { status: refusal.status, meaning: `${refusal.title} (\`${code}\`).` }
  })
  // Several refusals may have the same status. Clients distinguish them by their code.
  for (const [status, some] of Map.groupBy(own, (one) => one.status)) {
    const words = some.map(({ meaning }) => meaning).join(' ')
    meanings.set(status, status === 400 ? `${words} ${meanings.get(400)}` : words)
  }
  return Object.fromEntries(Array.from(meanings, ([status, meaning]) => [status, problemAnswer(meaning)]))
}

const problemAnswer = (description: string): object => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

const contentOf = (schema: Schema, types: readonly string[] | undefined) =>
  Object.fromEntries((types ?? ['application/json']).map((type) => [type, { schema }]))

function modelsOf({ operation: { inputs, body } }: Route): Model<unknown>[] {
  const found = [body, ...inputs.flatMap((input) => input.body ?? [])]
  return [...found, ...found.flatMap(({ uses = [] }) => uses)]
}

type Issuer = NonNullable<Auth['issuer']>
type Scheme = { type: 'http' | 'oauth2'; [member: string]: unknown }

const denials = {
  401: problemAnswer('The token or key is missing or not valid.'),
  403: problemAnswer('The token or key lacks the scope, or a page of another site sent the request.'),
}

export async function secured(document: OpenApi, auth: Auth, routes: readonly Route[]): Promise<OpenApi> {
  const schemes = await securitySchemes(auth, routes)
  const paths = pathsOf(routes, ({ path, method, scope }) => {
    const known = document.paths[path]?.[method]
    const security = Object.entries(schemes).map(([name, { type }]) => ({ [name]: type === 'oauth2' ? [scope] : [] }))
    return { ...known, security, responses: { ...known?.responses, ...denials } }
  })
  return { ...document, paths, components: { ...document.components, securitySchemes: schemes } }
}

async function securitySchemes({ issuer, keys }: Auth, routes: readonly Route[]): Promise<Record<string, Scheme>> {
  const pasted: Scheme = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A token of the issuer' }
  return {
    ...(keys && { key: { type: 'http', scheme: 'bearer', description: 'An API key: `ofk_…`' } }),
    ...(issuer && { token: (await signIn(issuer, routes)) ?? pasted }),
  }
}

/** Returns the security scheme of the sign-in. Undefined if the issuer is unavailable or the page has no client id. */
async function signIn({ discover, clientId }: Issuer, routes: readonly Route[]): Promise<Scheme | undefined> {
  const found = clientId ? await discover().catch(() => undefined) : undefined
  if (!found?.authorization_endpoint || !found.token_endpoint) return undefined
  const scopes = Object.fromEntries(scopesOf(routes).map((scope) => [scope, scope.replace(/^(.*):(.*)$/, '$2 $1')]))
  const { authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl } = found
  const authorizationCode = { authorizationUrl, tokenUrl, scopes: { openid: 'who you are', ...scopes } }
  return { type: 'oauth2', flows: { authorizationCode } }
}

/** Returns the options with which the page signs users in. The page is a public client, so it has no secret (RFC 7636). */
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
