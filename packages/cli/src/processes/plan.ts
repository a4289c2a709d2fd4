import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { type Brokers, brokerNames } from '../kafka/broker.ts'
import { type CertificateFiles, localCertificate, newSecret } from '../lib/credentials.ts'
import { removeUnfinished, replaceFile } from '../lib/files.ts'
import { brokerPorts, type StackPorts } from '../lib/ports.ts'
import { type Service, services, sidecarOf } from '../lib/services.ts'

/** The name of a broker, `postgresql`, or the name of a service or sidecar. */
export type ProcessName = string

/** The process that receives traces. It is not part of the stack. */
export const jaeger = 'jaeger'

export type LocalStore = 'sqlite' | 'postgresql'

/** The servers of a stack, which stay the same as long as its data exist. */
export interface Servers {
  store: LocalStore
  brokers: Brokers
}

/** Returns the names of the processes that services need: the database and the brokers. */
export function serverNames({ store, brokers }: Servers): readonly ProcessName[] {
  return [...(store === 'postgresql' ? ['postgresql'] : []), ...brokerNames({ brokers })]
}

export function processNamesWith(servers: Servers): readonly ProcessName[] {
  return [...serverNames(servers), ...services.flatMap((service) => [service.name, sidecarOf(service)])]
}

/** Returns the connection to all brokers of a stack. */
export const kafkaOf = ({ ports, brokers }: Pick<Plan, 'ports' | 'brokers'>): KafkaConnection => ({
  bootstrapBrokers: brokerNames({ brokers }).map((name) => `127.0.0.1:${brokerPorts(ports, name).broker}`),
})

/** The plan's folder has run/, logs/, data/, certificates/ and secrets.json. */
export interface Plan extends Servers {
  folder: string
  /** The names of the services to which a debugger can attach. */
  inspected: readonly string[]
  ports: StackPorts
  tokens: StackTokens
  certificate: CertificateFiles
}

/** Creates a plan and the missing secrets. The default servers are those of the last start. */
export async function createPlan(
  folder: string,
  ports: StackPorts,
  servers: Partial<Servers> = {},
  inspected: readonly string[] = [],
): Promise<Plan> {
  const tokens = stackTokens(folder)
  const certificate = await localCertificate(join(folder, 'certificates'))
  return { folder, inspected, ...serversOf(folder), ...servers, ports, tokens, certificate }
}

export function logFile(folder: string, name: string): string {
  return join(folder, 'logs', `${name}.log`)
}

export function dataFolder(folder: string): string {
  return join(folder, 'data')
}

export function storeOf(folder: string): LocalStore {
  return existsSync(storeFile(folder)) ? (readFileSync(storeFile(folder), 'utf8') as LocalStore) : 'sqlite'
}

export function brokersOf(folder: string): Brokers {
  return existsSync(brokersFile(folder)) ? 3 : 1
}

/** Returns the servers of the last start. */
export const serversOf = (folder: string): Servers => ({ store: storeOf(folder), brokers: brokersOf(folder) })

export function recordServers({ folder, store, brokers }: Plan): void {
  mkdirSync(dataFolder(folder), { recursive: true })
  replaceFile(storeFile(folder), store)
  if (brokers > 1) replaceFile(brokersFile(folder), String(brokers))
}

const storeFile = (folder: string) => join(dataFolder(folder), 'store')
const brokersFile = (folder: string) => join(dataFolder(folder), 'brokers')

export function databaseFolder(folder: string): string {
  return join(dataFolder(folder), 'postgresql')
}

export function databaseFile(folder: string, { role }: Pick<Service, 'role'>): string {
  return join(dataFolder(folder), `${role}.db`)
}

export interface ServiceTokens {
  /** The token that the sidecar sends to the service (APP_API_TOKEN). */
  app: string
  /** The token that the service sends to the sidecar (DAPR_API_TOKEN). */
  dapr: string
  /** The token that the monitor sends to the service to request a dry run. */
  dryRun: string
}

export type StackTokens = Record<string, ServiceTokens>

/** Creates tokens once, in a file that only its owner can read. Processes get the tokens in variables, never in arguments. */
export function stackTokens(folder: string): StackTokens {
  removeUnfinished(folder)
  const file = join(folder, 'secrets.json')
  const tokens: StackTokens = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const without = services.filter(({ name }) => !tokens[name]?.dryRun)
  if (without.length === 0) return tokens
  for (const { name } of without)
    tokens[name] = { app: newSecret(), dapr: newSecret(), dryRun: newSecret(), ...tokens[name] }
  replaceFile(file, `${JSON.stringify(tokens, null, 2)}\n`, 0o600)
  return tokens
}

/** Returns the password for a purpose. The first call creates it. */
export function stackPassword(folder: string, use: string): string {
  const file = join(folder, `${use}.password`)
  if (!existsSync(file)) replaceFile(file, newSecret(), 0o600)
  return readFileSync(file, 'utf8')
}
