import { join } from 'node:path'
import { readApplication, type ServiceEntry, type Topic, topicOfEvent } from '@orderflow/service-kit/application'
import { CliError } from '../base/error.ts'
import { repository } from './paths.ts'

export type { Surroundings, Urgency } from '@orderflow/service-kit/application'

/** A service of `services.json`. Its name is also its App.Name, its Dapr app-id and its consumer group. */
export interface Service extends Omit<ServiceEntry, 'package' | 'produces' | 'watches'> {
  name: string
  /** The folder in the repository: the service's name, or the package that services.json names. */
  folder: string
  /** The name without `-service`. Names of sidecar, pod, variables and database file begin with it. */
  role: string
  produces: string[]
  /** Names of the service's own events, by topic. Empty for a service that only forwards events. */
  publishes: Record<string, string[]>
  /** True for a consumer, because a store is a view of consumed events (docs/adr/0057). */
  hasStore: boolean
  /** True for a monitor, which reads all topics without a consumer group and replays dead letters. */
  watches: boolean
}

export const application = readApplication(join(repository, 'services.json'))

export const services: readonly Service[] = Object.entries(application.services).map(([name, service]) => ({
  ...service,
  name,
  folder: service.package ?? name,
  role: name.replace(/-service$/, ''),
  produces: Object.keys(service.produces),
  publishes: service.produces,
  hasStore: doesConsume(service),
  watches: service.watches ?? false,
}))

export function doesConsume({ consumes }: Pick<Service, 'consumes'>): boolean {
  return Object.keys(consumes).length > 0
}

/** Returns true if the service signs or verifies events. */
export function isKnownBySignature(service: Service): boolean {
  return service.watches || service.hasStore || Object.values(service.publishes).flat().length > 0
}

export const storedServices: readonly Service[] = services.filter(({ hasStore }) => hasStore)

/** Each replica has `consumersPerReplica` Kafka components, which share the partitions of the replica. */
export const { partitions, consumersPerReplica } = application

/** The topics that outside publishers may write (components/trust/trust.json). */
export const outsideTopics: readonly string[] = application.topics
  .filter(({ outside }) => outside.length > 0)
  .map(({ name }) => name)

export const outsideEvents: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  application.topics.filter(({ outside }) => outside.length > 0).map(({ name, outside }) => [name, outside]),
)

/** Returns the topic of an event. For an unknown event, returns the first topic that outside publishers may write. */
export function topicFor(event: unknown): Topic | undefined {
  const own = typeof event === 'string' ? topicOfEvent(application, event) : undefined
  return own ?? application.topics.find(({ outside }) => outside.length > 0)
}

export const sidecarOf = ({ role }: Pick<Service, 'role'>): string => `${role}-sidecar`

/** @throws {CliError} `usage` with the names of all services, for an unknown name */
export function serviceNamed(name: string | undefined): Service {
  const found = services.find((service) => service.name === name)
  if (found) return found
  throw new CliError('usage', name ? `unknown service ${name}` : 'the name of a service is missing', {
    nextStep: `SERVICE is one of ${services.map((service) => service.name).join(', ')}`,
  })
}

export function entryOf<Entry>(record: Readonly<Record<string, Entry>>, name: string): Entry {
  const entry = record[name]
  if (entry === undefined) throw new Error(`no entry for ${name} among ${Object.keys(record).join(', ')}`)
  return entry
}

export function ofServices<Entry>(make: (service: Service, index: number) => Entry): Record<string, Entry> {
  return Object.fromEntries(services.map((service, index) => [service.name, make(service, index)]))
}

/** The first Kafka component for publishing, which also delivers background topics (components/kafka.yaml). */
export const publishingComponent = 'pubsub'

/** The Kafka components that deliver prompt topics and share a replica's partitions (docs/adr/0018). */
export const consumerComponents: readonly string[] = Array.from(
  { length: consumersPerReplica },
  (_, index) => `${publishingComponent}-${index + 1}`,
)

/** Returns the number of a replica's members in the consumer group: one for each component with a subscription. */
export function membersOf({ consumes }: Pick<Service, 'consumes'>): number {
  const urgencies = Object.values(consumes)
  return (urgencies.includes('prompt') ? consumerComponents.length : 0) + (urgencies.includes('background') ? 1 : 0)
}

/** The program in each service's folder that runs operators' commands. */
export const operateProgram = 'src/operate.ts'

/** Returns the command that prints a service's readiness in its container. Without the flag, Node could ask a proxy of the container's environment. */
export function readinessCommand({ http }: Pick<Service, 'http'>): string[] {
  const script = `fetch('http://localhost:${http}/readyz').then(async (answer) => console.log(await answer.text()))`
  return ['node', '--no-use-env-proxy', '--eval', script]
}

/**
 * Checks that stores can be rebuilt before services start.
 * @param running the names of running services; a further replica has a number at its end
 * @throws {CliError} `still-running` if a service with a store runs
 */
export function requireStoresUnused(running: readonly string[]): void {
  const names = storedServices.map(({ name }) => name)
  const using = running.filter((name) => names.includes(name.replace(/-\d+$/, '')))
  if (using.length === 0) return
  throw new CliError('still-running', `stores cannot be rebuilt before services start: ${using} already run`, {
    nextStep: 'make down, then make up REBUILD=1',
  })
}
