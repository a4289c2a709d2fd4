import type { EventType } from '@orderflow/envelope-schema'
import {
  type BaseSettings,
  createDocuments,
  createLog,
  createParts,
  readSettings,
  type ServiceDefinition,
  type ServiceParts,
} from '@orderflow/service-kit'
import { FakeSidecar, type Subject } from '@orderflow/service-kit/testing'
import { doesConsume, type Service, services } from '@orderflow/stack'

/** A service as the specs of all services see it. */
export interface TestedService extends Service {
  definition: ServiceDefinition
  /** Those of its appsettings.json. */
  settings: BaseSettings
  /** What it does, by its own account; none of it is called. */
  parts: ServiceParts
  subject: Subject
}

/** Every service of services.json, by what its package says of itself. */
export async function testedServices(): Promise<TestedService[]> {
  return Promise.all(
    services.map(async (service) => {
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

/** Those of the services that react to events. */
export const reacting = (services: readonly TestedService[]): TestedService[] => services.filter(doesConsume)

/** Types of the events that it reacts to on a topic. */
export const typesOn = ({ parts }: Pick<TestedService, 'parts'>, topic: string): EventType[] =>
  Object.keys(parts.reactions[topic] ?? {}) as EventType[]
