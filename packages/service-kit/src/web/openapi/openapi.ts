import { fileURLToPath } from 'node:url'
import swaggerJsdoc from 'swagger-jsdoc'
import type { Refusals } from '../problems/refusals.ts'
import type { Input } from '../requests/input.ts'
import { type Field, type Model, propertiesOf, referenceTo, type Schema } from '../requests/model.ts'
import type { Route } from '../route.ts'

/** An OpenAPI document, as far as it is looked at here. */
export interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, object>; security?: object[] }>>
  components: Record<string, object>
}

/** What the page's document is made from. */
export interface Documented {
  title: string
  description: string
  routes: readonly Route[]
  refusals: Refusals
  /** Extension members of the service's problems, by name. */
  problemMembers: Record<string, Field>
  /** Where people look at traces; empty for nowhere. */
  tracePage?: string | undefined
  /** Where people look at events; empty for nowhere. */
  monitorPage?: string | undefined
}

/** The shape of a problem stands as a comment where problems are written. */
const commented = [fileURLToPath(new URL('../problem-handler.ts', import.meta.url))]

/** The OpenAPI document of a service. @throws {Error} for a refusal that is not in the table */
export function openapiOf({
  title,
  description,
  routes,
  refusals,
  problemMembers,
  tracePage,
  monitorPage,
}: Documented): OpenApi {
  const definition = {
    openapi: '3.0.3',
    info: {
      title,
      description: monitorPage ? `${description}\n\n[See what happens](${monitorPage})` : description,
      version: '1',
    },
    // Where the document is served, below whatever prefix of a proxy.
    servers: [{ url: '.' }],
    ...(tracePage && { externalDocs: { description: 'Traces', url: tracePage } }),
    paths: pathsOf(routes, refusals),
    components: {
      schemas: {
        ...Object.fromEntries(routes.flatMap(modelsOf).map(({ name, schema }) => [name, schema])),
        Problem: { properties: propertiesOf(problemMembers) },
      },
    },
  }
  return swaggerJsdoc({ definition, apis: commented, failOnErrors: true }) as OpenApi
}

function pathsOf(routes: readonly Route[], refusals: Refusals): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const { operation } of routes) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationOf(operation, refusals) }
  }
  return paths
}

function operationOf(operation: Route['operation'], refusals: Refusals): object {
  const { path, scope, summary, description, inputs, answers, body, mediaType } = operation
  const request = inputs.find((input) => input.body)
  // Whatever makes something says where it is, also while it is not readable yet.
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

/** What any operation may refuse: an unknown query parameter, and in JSON what parsers would drop or round. */
const invalidRequest = (inputs: readonly Input<unknown>[]) =>
  inputs.some(({ body, receives }) => body && (!receives || receives.isJson))
    ? `${requestRules}, and so are duplicate JSON keys and numbers of more digits than a 64-bit double keeps.`
    : `${requestRules}.`

/**
 * By rule: 400, what the inputs may be, 403 for a POST from a page of another site, 429 for too many, 503 when the platform fails; and what
 * the domain refuses, in its words.
 */
function problemsOf({ method, path, inputs, refusals: codes }: Route['operation'], refusals: Refusals): object {
  const byRule = [...inputs.flatMap(({ problems }) => problems), ...(method === 'post' ? [403] : []), 429, 503]
  const meanings = new Map(byRule.map((status) => [status, 'What is wrong, and how to mend it.']))
  meanings.set(400, invalidRequest(inputs))
  const own = codes.map((code) => {
    const refusal = refusals[code]
    if (!refusal) throw new Error(`${method} ${path} may be refused as ${code}, which is not in the table of refusals`)
    return { status: refusal.status, meaning: `${refusal.title} (\`${code}\`).` }
  })
  // Several refusals may have one status: a client tells them apart by their codes.
  for (const [status, some] of Map.groupBy(own, (one) => one.status)) {
    const words = some.map(({ meaning }) => meaning).join(' ')
    meanings.set(status, status === 400 ? `${words} ${meanings.get(400)}` : words)
  }
  return Object.fromEntries(Array.from(meanings, ([status, meaning]) => [status, problemAnswer(meaning)]))
}

/** How the document says that an operation may be answered with a problem. */
export function problemAnswer(description: string): object {
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

const contentOf = (schema: Schema, types: readonly string[] | undefined) =>
  Object.fromEntries((types ?? ['application/json']).map((type) => [type, { schema }]))

/** Of the bodies in both directions, with those that they refer to. */
function modelsOf({ operation: { inputs, body } }: Route): Model<unknown>[] {
  const found = [body, ...inputs.flatMap((input) => input.body ?? [])]
  return [...found, ...found.flatMap(({ uses = [] }) => uses)]
}
