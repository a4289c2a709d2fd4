import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { readApplication, type ServiceEntry, type Topic, topicOfEvent } from '@orderflow/service-kit/application'
import { CliError } from '../base/error.ts'
import { localFolder, repository } from './paths.ts'
import { changeStack, readStack } from './stack-record.ts'

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

/** Returns true if the service uses the clock of the log. */
export const hasClock = ({ deadlines, calls }: Pick<ServiceEntry, 'deadlines' | 'calls'>): boolean =>
  deadlines === true || calls === true

/** Returns true if the service signs or verifies events. */
export function isKnownBySignature(service: Service): boolean {
  return service.watches || service.hasStore || Object.values(service.publishes).flat().length > 0
}

export const storedServices: readonly Service[] = services.filter(({ hasStore }) => hasStore)

/** Each replica has `consumersPerReplica` Kafka components, which share the partitions of the replica. */
export const { partitions, consumersPerReplica } = application

/** The events that outside publishers may write (components/trust/trust.json), by topic. */
export const outsideEvents: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  application.topics.filter(({ outside }) => outside.length > 0).map(({ name, outside }) => [name, outside]),
)

export const outsideTopics: readonly string[] = Object.keys(outsideEvents)

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

export interface ServicePorts {
  http: number
  https: number
  /** The port at which the sidecar calls the service. */
  channel: number
  metrics: number
  daprHttp: number
  daprGrpc: number
  daprInternalGrpc: number
  daprMetrics: number
}

export interface BrokerPorts {
  broker: number
  controller: number
}

export interface StackPorts {
  kafka: number
  kafkaController: number
  /** The ports of the second and the third broker, by name. */
  moreBrokers: Record<string, BrokerPorts>
  postgresql: number
  /** The port at which `make observe` receives traces. */
  otlp: number
  jaeger: number
  prometheus: number
  exporter: number
  /** The ports at which debuggers attach to services (`make dev INSPECT=1`), by service. */
  inspectors: Record<string, number>
  services: Record<string, ServicePorts>
}

const { portOffset } = application

/** The ports of a kind, such as those of sidecars, have this distance from those of the next kind. */
const mostServices = 100

/** The port of the first sidecar for HTTP. */
const firstSidecar = portOffset + 3500

/**
 * Returns a number for each service. Its sidecar's ports and its metrics' port derive from the number. Services keep theirs, even after another service
 * was removed, because running processes use these ports. Other services get the first free numbers.
 * @param recorded the ports of sidecars in appsettings.json; undefined for a new service
 */
export function slotsOf(recorded: readonly (number | undefined)[]): number[] {
  const known = recorded.map((port = 0) => port - firstSidecar)
  const isKept = (slot: number, index: number) => slot >= 0 && slot < mostServices && known.indexOf(slot) === index
  const kept = new Set(known.filter(isKept))
  let next = 0
  return known.map((slot, index) => {
    if (isKept(slot, index)) return slot
    while (kept.has(next)) next += 1
    return next++
  })
}

function recordedPort({ folder }: Service): number | undefined {
  const file = join(repository, folder, 'appsettings.json')
  if (!existsSync(file)) return undefined
  return JSON.parse(readFileSync(file, 'utf8')).Sidecar?.HttpPort
}

const slots = slotsOf(services.map(recordedPort))
const slotAt = (index: number) => slots[index] ?? index

/** Returns the ports of a sidecar and of its service's metrics. `index` is the service's index in services.json. */
function innerPorts(index: number): Omit<ServicePorts, 'http' | 'https' | 'channel'> {
  const first = portOffset + slotAt(index)
  return {
    daprHttp: first + 3500,
    daprGrpc: first + 3600,
    daprInternalGrpc: first + 3700,
    daprMetrics: first + 3800,
    metrics: first + 3900,
  }
}

/** The default ports, which services.json, appsettings.json and the documentation also name. All are below the ephemeral range of every system. */
export const defaultPorts: StackPorts = {
  kafka: portOffset + 9092,
  kafkaController: portOffset + 9093,
  moreBrokers: {
    'kafka-2': { broker: portOffset + 9094, controller: portOffset + 9095 },
    'kafka-3': { broker: portOffset + 9096, controller: portOffset + 9097 },
  },
  postgresql: portOffset + 5433,
  otlp: portOffset + 4318,
  jaeger: portOffset + 6686,
  prometheus: portOffset + 9090,
  exporter: portOffset + 9091,
  // Leaves out 9229, the default of Node, which other programs with an inspector use.
  inspectors: ofServices((_, index) => portOffset + 9230 + slotAt(index)),
  services: ofServices(({ http, https, channel }, index) => ({ http, https, channel, ...innerPorts(index) })),
}

/**
 * The default ports of programs that run only in containers. The usual ports plus an offset would be in the ephemeral range, or would equal a port of
 * another application.
 */
export const containerPorts = {
  mongo: portOffset === 0 ? 27017 : portOffset + 7070,
  grafana: portOffset === 0 ? 3000 : portOffset + 3040,
}

/** Returns the ports of the broker `kafka`, `kafka-2` or `kafka-3`. */
export const brokerPorts = ({ kafka, kafkaController, moreBrokers }: StackPorts, name: string): BrokerPorts =>
  name === 'kafka' ? { broker: kafka, controller: kafkaController } : entryOf(moreBrokers, name)

/** Keeps all ports below 65536. */
const largestOffset = 50_000

/** Returns the default ports plus `PORT_OFFSET`, by default that of this checkout. */
export function localPorts({ PORT_OFFSET = '' }: NodeJS.ProcessEnv = offsetOfCheckout()): StackPorts {
  const offset = Number(PORT_OFFSET)
  if (!Number.isInteger(offset) || offset < 0 || offset > largestOffset) {
    throw new CliError('usage', `PORT_OFFSET=${PORT_OFFSET} cannot be added to a port`, {
      nextStep: `set PORT_OFFSET to a number from 0 to ${largestOffset}, such as 10000, for all commands`,
    })
  }
  return mapPorts(defaultPorts, (port) => port + offset)
}

/** Returns `PORT_OFFSET` of the last start, or of this shell before the first one. */
function offsetOfCheckout(): NodeJS.ProcessEnv {
  const { portOffset } = readStack(localFolder)
  return portOffset === undefined ? process.env : { PORT_OFFSET: String(portOffset) }
}

/**
 * Records the offset with which the stack of this checkout starts, for commands in other shells.
 * @throws {CliError} `usage` for an invalid offset, `still-running` if the stack runs with another one
 */
export function recordOffset({ PORT_OFFSET }: NodeJS.ProcessEnv, isRunning: boolean): void {
  const { portOffset } = readStack(localFolder)
  const offset = PORT_OFFSET ? localPorts({ PORT_OFFSET }).kafka - defaultPorts.kafka : (portOffset ?? 0)
  // A running stack without a record was started by version 0.2.0.
  if (isRunning && portOffset !== undefined && offset !== portOffset) {
    throw new CliError('still-running', `the stack already runs with PORT_OFFSET=${portOffset}`, {
      nextStep: `leave PORT_OFFSET out; or make down, then make up PORT_OFFSET=${PORT_OFFSET}`,
    })
  }
  changeStack(localFolder, { portOffset: offset })
}

/** Returns an object with the same names, and another number in place of each port. */
export function mapPorts<Ports extends object>(ports: Ports, next: (port: number) => number): Ports {
  const other = (port: number | object) => (typeof port === 'number' ? next(port) : mapPorts(port, next))
  return Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, other(port)])) as Ports
}

/** Returns 127.0.0.1, and ::1 if this machine has IPv6. A program may use either for `localhost`. */
export function loopbacks(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
  return ['127.0.0.1', ...(own.includes('::1') ? ['::1'] : [])]
}

/** Encloses IPv6 addresses in brackets, so that a port can follow. */
export const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)
