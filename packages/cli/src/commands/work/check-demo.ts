import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  createLog,
  createParts,
  HttpProblem,
  type Route,
  readSettings,
  type ServiceDefinition,
} from '@orderflow/service-kit'
import type { Demo } from '@orderflow/service-kit/application'
import { application, serviceNamed } from '@orderflow/stack'
import { CliError, repository } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

export const command: Command = { run: () => checkDemo(application.demo) }

/**
 * Checks that the service of the demo accepts its request, without starting the service.
 * @throws {CliError} `usage` with the wrong fields of the body
 */
export async function checkDemo(demo: Demo | undefined): Promise<void> {
  if (demo === undefined) return
  const file = join(repository, serviceNamed(demo.service).folder, 'src/service.ts')
  if (!existsSync(file)) return
  const { service } = (await import(pathToFileURL(file).href)) as { service: ServiceDefinition }
  const problem = problemOf(demo, routesOf(service))
  if (problem === undefined) return
  throw new CliError('usage', `${demo.service} would refuse the request of make demo: ${problem}`, {
    nextStep: 'correct "demo" in services.json',
  })
}

function routesOf(service: ServiceDefinition): readonly Route[] {
  const unused = () => {
    throw new Error('the parts of a service use their context only for requests and events')
  }
  return createParts(service, {
    settings: readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }),
    log: createLog('check', 'silent'),
    publish: unused,
    forward: unused,
    trust: { requireAdmitted: unused },
    documents: unused,
    now: unused,
    newId: unused,
  }).routes
}

function problemOf({ post, get, body }: Demo, routes: readonly Route[]): string | undefined {
  const find = (method: string, path: string) =>
    routes.find(({ operation }) => operation.method === method && formOf(operation.path) === formOf(path))?.operation
  const posted = find('post', post)
  if (posted === undefined) return `there is no operation POST ${post}`
  if (find('get', get) === undefined) return `there is no operation GET ${get}`
  try {
    for (const input of posted.inputs) if (input.body) input.read({ body } as Parameters<typeof input.read>[0])
    return undefined
  } catch (error) {
    if (error instanceof HttpProblem) return error.options.detail
    throw error
  }
}

/** Returns a path with the same text for each parameter, and without a query. */
const formOf = (path: string) => path.replace(/\?.*/, '').replaceAll(/\{[^}]*\}/g, '{}')
