import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { doesConsume, repository, type Service, services } from '@orderflow/cli'
import type { EventType } from '@orderflow/envelope'
import {
  type BaseSettings,
  createDocuments,
  createLog,
  createParts,
  handledTypes,
  readSettings,
  type ServiceDefinition,
  type ServiceParts,
} from '@orderflow/service-kit'
import { FakeSidecar, type Subject } from '@orderflow/service-kit/testing'

export interface TestedService extends Service {
  definition: ServiceDefinition
  settings: BaseSettings
  /** The routes and reactions of the service. The specs do not call them. */
  parts: ServiceParts
  subject: Subject
}

export type Documents = Record<string, unknown>

/** Actions of an operator on the stores of a running stack. */
export interface Operator {
  documents: (role: string) => Documents | Promise<Documents>
  /** Restarts the services with these roles, or all services, with empty stores. */
  loseStores: (...roles: string[]) => Promise<void>
  /** Runs `make rebuild` for a service and returns the output. */
  rebuild: (role: string, ...args: string[]) => Promise<string>
}

/** Returns the services that have a subject for tests. A service in `packages/` may lack a subject; a service of the application must have one. */
export function withSubject(all: readonly Service[], root: string): Service[] {
  return all.filter(({ name, folder }) => folder === name || existsSync(join(root, folder, 'test/subject.ts')))
}

export async function testedServices(): Promise<TestedService[]> {
  return Promise.all(
    withSubject(services, repository).map(async (service) => {
      const { service: definition } = (await import(`@orderflow/${service.name}/service`)) as Record<
        'service',
        ServiceDefinition
      >
      const { subject } = (await import(`@orderflow/${service.name}/subject`)) as Record<'subject', Subject>
      const settings = readSettings(definition, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
      return { ...service, definition, settings, parts: partsOf(definition, settings), subject }
    }),
  )
}

function partsOf(definition: ServiceDefinition, settings: BaseSettings): ServiceParts {
  const now = () => new Date(0)
  return createParts(definition, {
    settings,
    log: createLog('test', 'silent'),
    publish: async () => {},
    forward: async () => {},
    trust: { requireAdmitted() {} },
    documents: createDocuments(new FakeSidecar(), now),
    now,
    newId: () => '',
  })
}

export const reacting = (services: readonly TestedService[]): TestedService[] => services.filter(doesConsume)

export const typesOn = ({ parts }: Pick<TestedService, 'parts'>, topic: string): EventType[] =>
  handledTypes(parts.reactions[topic] ?? {})
