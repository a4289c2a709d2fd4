import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EventType } from '@orderflow/envelope'
import {
  type AllParts,
  type BaseSettings,
  createDocuments,
  createLog,
  createParts,
  handledTypes,
  readSettings,
  type ServiceDefinition,
} from '@orderflow/service-kit'
import { FakeSidecar, type Subject } from '@orderflow/service-kit/testing'
import { doesConsume, type Service, services } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'

export interface TestedService extends Service {
  definition: ServiceDefinition
  settings: BaseSettings
  /** The routes and reactions of the service. The specs do not call them. */
  parts: AllParts
  subject: Subject
}

const subjectFile = 'test/subject.ts'

/**
 * Returns the services that have a subject for tests. Only services without reactions and own events may lack a subject, because their other
 * specs come from their routes.
 * @throws {Error} if another service lacks its subject
 */
export function withSubject(all: readonly Service[], root: string): Service[] {
  return all.filter((service) => {
    const { name, folder, publishes } = service
    if (existsSync(join(root, folder, subjectFile))) return true
    if (!doesConsume(service) && Object.values(publishes).flat().length === 0) return false
    throw new Error(
      `${name} has no data for tests: create ${join(folder, subjectFile)}, which exports \`subject\` (a Subject of @orderflow/service-kit/testing)`,
    )
  })
}

/** Prints an error, because Mocha hides the errors of test files with a top-level await. */
export async function testedServices(): Promise<TestedService[]> {
  try {
    return await Promise.all(withSubject(services, repository).map(load))
  } catch (error) {
    console.error(error)
    throw error
  }
}

async function load(service: Service): Promise<TestedService> {
  const read = (file: string) => import(pathToFileURL(join(repository, service.folder, file)).href)
  const { service: definition } = (await read('src/service.ts')) as Record<'service', ServiceDefinition>
  const { subject } = (await read(subjectFile)) as Record<'subject', Subject>
  const settings = readSettings(definition, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
  return { ...service, definition, settings, parts: partsOf(definition, settings), subject }
}

function partsOf(definition: ServiceDefinition, settings: BaseSettings): AllParts {
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
