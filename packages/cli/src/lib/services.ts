import { join } from 'node:path'
import { readApplication, type ServiceEntry, type Topic, topicOfEvent } from '@orderflow/service-kit/application'
import { CliError } from './error.ts'
import { repository } from './paths.ts'

export type { Surroundings, Urgency } from '@orderflow/service-kit/application'

/**
 * A service of `services.json`. Its name is its App.Name, its Dapr app-id and, if it consumes anything, its consumer
 * group.
 */
export interface Service extends Omit<ServiceEntry, 'package' | 'produces' | 'watches'> {
  name: string
  /** From the repository: the folder of the service's name, or the package that services.json names. */
  folder: string
  /** The name without `-service`: its sidecar, pod, variables and database file are called after it. */
  role: string
  /** Topics that it publishes to. */
  produces: string[]
  /** Names of the events that it publishes as itself, by topic; none where it only hands on what others say. */
  publishes: Record<string, string[]>
  /**
   * Whether it has a state store. That is a view of what it consumes (docs/adr/0001), so who consumes nothing has none.
   */
  hasStore: boolean
  /** Whether it reads all topics by itself, in no consumer group, and sends dead letters back. */
  watches: boolean
}

/** The repository's services.json. */
export const application = readApplication(join(repository, 'services.json'))

/** The services of the system, in the order in which they start: the one place that says which there are. */
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

/** Returns whether a service has a subscription, and so a consumer group. */
export function doesConsume({ consumes }: Pick<Service, 'consumes'>): boolean {
  return Object.keys(consumes).length > 0
}

/** The services that have a store. */
export const storedServices: readonly Service[] = services.filter(({ hasStore }) => hasStore)

/** The number of partitions of each topic, and of the Kafka components that share those of a replica. */
export const { partitions, consumersPerReplica } = application

/**
 * Topics that applications outside may write, too, as far as components/trust/trust.json lets them. All others are our
 * services' alone.
 */
export const outsideTopics: readonly string[] = application.topics
  .filter(({ outside }) => outside.length > 0)
  .map(({ name }) => name)

/** Returns the topic of an event; for an event of no topic the first one that outside applications may write. Undefined without one. */
export function topicFor(event: unknown): Topic | undefined {
  const own = typeof event === 'string' ? topicOfEvent(application, event) : undefined
  return own ?? application.topics.find(({ outside }) => outside.length > 0)
}

/** Returns the name of a service's sidecar, as a process and as a container. */
export const sidecarOf = ({ role }: Pick<Service, 'role'>): string => `${role}-sidecar`

/** @throws {CliError} `usage` naming all services, when none is called so */
export function serviceNamed(name: string | undefined): Service {
  const found = services.find((service) => service.name === name)
  if (found) return found
  throw new CliError('usage', name ? `there is no service ${name}` : 'which service?', {
    nextStep: `SERVICE is one of ${services.map((service) => service.name).join(', ')}`,
  })
}

/** Returns the entry of one service or process in a record that has one for each. */
export function entryOf<Entry>(record: Readonly<Record<string, Entry>>, name: string): Entry {
  const entry = record[name]
  if (entry === undefined) throw new Error(`there is nothing for ${name} among ${Object.keys(record).join(', ')}`)
  return entry
}

/** A record with an entry for each service. */
export function ofServices<Entry>(make: (service: Service, index: number) => Entry): Record<string, Entry> {
  return Object.fromEntries(services.map((service, index) => [service.name, make(service, index)]))
}

/** The Kafka component that publishes first, and brings what is not urgent (components/kafka.yaml). */
export const publishingComponent = 'pubsub'

/** The Kafka components that bring what is waited for and share a replica's partitions (docs/adr/0018). */
export const consumerComponents: readonly string[] = Array.from(
  { length: consumersPerReplica },
  (_, index) => `${publishingComponent}-${index + 1}`,
)

/** Returns the number of group members of a sidecar: one for each of its components with a subscription. */
export function membersOf({ consumes }: Pick<Service, 'consumes'>): number {
  const urgencies = Object.values(consumes)
  return (urgencies.includes('prompt') ? consumerComponents.length : 0) + (urgencies.includes('background') ? 1 : 0)
}

/** The program of each service's folder that runs an operator's commands. */
export const operateProgram = 'src/operate.ts'
