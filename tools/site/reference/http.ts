import { createApp, createLog } from '@orderflow/service-kit'
import { FakeSidecar, send, withServer } from '@orderflow/service-kit/testing'
import type { TestedService } from '@orderflow/test-kit'
import type { Page } from '../pages.ts'
import { code, referencePage, section } from './markdown.ts'

interface OpenApi {
  paths: Record<string, Record<string, { summary: string; description: string }>>
}

/** Returns the page of the services' HTTP operations. */
export async function httpPage(services: readonly TestedService[]): Promise<Page> {
  const sections = await Promise.all(services.map(operationsOf))
  return referencePage(
    'http',
    'HTTP',
    'The operations of each service',
    'the OpenAPI documents that services serve at `/openapi.json`',
    `${introduction}\n\n${sections.join('')}`,
  )
}

const introduction = `The page \`/docs\` of a running service describes the parameters, bodies and answers of its operations, and lets you try them. Errors are [problem
details](../how-it-works.md#http-conventions). If the service [requires a token or key](../access.md), every operation can also answer 401 and 403.`

/** Describes the operations of a service. It runs in this process, with a simulated sidecar, until it has answered. */
async function operationsOf({ name, definition, settings }: TestedService): Promise<string> {
  const parts = { settings, log: createLog(name, 'silent'), sidecar: new FakeSidecar() }
  const { web } = createApp(definition, { ...parts, now: () => new Date(), newId: () => '' })
  const { body } = await withServer(web, (url) => send<OpenApi>(`${url}/openapi.json`))
  const rows = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, description }]) => [
      code(`${method.toUpperCase()} ${path}`),
      `${summary}. ${description}`,
    ]),
  )
  return section(name, ['Operation', 'Meaning'], rows)
}
