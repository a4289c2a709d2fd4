import { createApp, createLog } from '@orderflow/service-kit'
import { FakeSidecar, send, withServer } from '@orderflow/service-kit/testing'
import type { TestedService } from '@orderflow/test-kit'
import { code, type Generated, json, type Schema, table, typeText } from './markdown.ts'

interface Content {
  content?: Record<string, { schema: Schema }>
}

interface Operation {
  summary: string
  description: string
  parameters?: {
    name: string
    in: string
    required?: boolean
    description?: string
    schema: Schema
    example?: unknown
  }[]
  requestBody?: Content
  responses: Record<string, Content & { description: string }>
}

interface OpenApi {
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Returns the page of a service's HTTP interface. The service runs in this process, with a simulated sidecar, until it has answered. */
export async function httpPage({ name, definition, settings }: TestedService): Promise<Generated> {
  const log = createLog(name, 'silent')
  const app = createApp(definition, {
    settings,
    log,
    sidecar: new FakeSidecar(),
    now: () => new Date(),
    newId: () => '',
  })
  const { body } = await withServer(app.web, (url) => send<OpenApi>(`${url}/openapi.json`))
  const { info, paths, components } = body
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationText(`${method.toUpperCase()} ${path}`, operation)),
  )
  const models = Object.entries(components.schemas).map(([model, schema]) => modelText(model, schema))
  return {
    name: `http-${name}`,
    title: `HTTP of ${name}`,
    description: `The operations of ${name}: parameters, bodies and answers`,
    origin: `the OpenAPI document that ${name} serves at \`/openapi.json\``,
    // Links in the description lead to pages of the running service.
    body: [info.description.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '$1'), conventions, ...operations, ...models].join(
      '\n\n',
    ),
  }
}

const conventions = `Errors are [problem details](../how-it-works.md#http-conventions). If the service [requires a token or key](../access.md), every operation can also
answer 401 and 403.`

function operationText(
  title: string,
  { summary, description, parameters = [], requestBody, responses }: Operation,
): string {
  const inputs = parameters.map((each) => [
    code(each.name),
    each.in,
    typeText(each.schema),
    [
      each.required ? 'Required.' : '',
      each.description,
      each.example === undefined ? '' : `Example: ${code(String(each.example))}`,
    ]
      .filter(Boolean)
      .join(' '),
  ])
  const answers = Object.entries(responses).map(([status, answer]) => [status, answer.description, contentText(answer)])
  return [
    `## ${title}`,
    `${summary}.`,
    description,
    table(['Parameter', 'In', 'Type', 'Meaning'], inputs),
    requestBody ? `Body: ${contentText(requestBody)}` : '',
    table(['Status', 'Meaning', 'Body'], answers),
  ].join('\n\n')
}

const contentText = ({ content = {} }: Content) =>
  Object.entries(content)
    .map(([type, { schema }]) => `${typeText(schema)} (\`${type}\`)`)
    .join(', ')

function modelText(name: string, schema: Schema): string {
  const { properties = {}, required = [], example, description = '' } = schema
  const rows = Object.entries(properties).map(([field, each]) => [
    code(field),
    typeText(each),
    required.includes(field) ? 'yes' : 'no',
    each.description ?? '',
  ])
  return [
    `## ${name}`,
    description,
    rows.length > 0 ? table(['Field', 'Type', 'Always present', 'Meaning'], rows) : `Type: ${typeText(schema)}`,
    example === undefined ? '' : `An example:\n\n${json(example)}`,
  ].join('\n\n')
}
