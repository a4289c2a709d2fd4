import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/kafka-log'
import { localFolder } from '../application/paths.ts'
import { brokerPorts, type Service, type StackPorts, services, sidecarOf } from '../application/services.ts'
import { changeStack, readStack } from '../application/stack-record.ts'
import { givenSettings, givenVariables, requireSameVariables } from '../application/variables.ts'
import { type CertificatePair, localCertificate, newSecret } from '../base/credentials.ts'
import { removeUnfinished, replaceFile } from '../base/files.ts'
import { type Brokers, brokerNames } from '../kafka/broker.ts'

/** The name of a broker, `postgresql`, or the name of a service or sidecar. */
export type ProcessName = string

/** The process that receives traces. */
export const jaeger = 'jaeger'

/** The processes of `make observe`, which are not part of the stack. */
export const observers: readonly ProcessName[] = [jaeger, 'exporter', 'prometheus']

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

/** The plan's folder has run/, logs/, data/, certificates/, secrets.json and stack.json. */
export interface Plan extends Servers {
  folder: string
  /** The variables of services and sidecars: settings, proxies and certificate authorities. */
  variables: Record<string, string>
  /** The names of the services to which a debugger can attach. */
  inspected: readonly string[]
  ports: StackPorts
  tokens: StackTokens
  certificate: CertificatePair
}

/**
 * Creates a plan and the missing secrets. The default servers and the variables are those of the last start. Before the first start, the variables
 * are those of this shell.
 */
export async function createPlan(
  folder: string,
  ports: StackPorts,
  servers: Partial<Servers> = {},
  inspected: readonly string[] = [],
): Promise<Plan> {
  const tokens = stackTokens(folder)
  const certificate = await localCertificate(join(folder, 'certificates'))
  const { variables = givenVariables(process.env) } = readStack(folder)
  return { folder, variables, inspected, ...serversOf(folder), ...servers, ports, tokens, certificate }
}

export const logFile = (folder: string, name: string): string => join(folder, 'logs', `${name}.log`)

export const dataFolder = (folder: string): string => join(folder, 'data')

/** Returns the servers of the last start. Version 0.2.0 recorded only the store, in a file among the data. */
export function serversOf(folder: string): Servers {
  const { store, brokers } = readStack(folder)
  const earlier = join(dataFolder(folder), 'store')
  const last = store ?? (existsSync(earlier) ? readFileSync(earlier, 'utf8') : 'sqlite')
  return { store: last as LocalStore, brokers: (brokers ?? 1) as Brokers }
}

/** The caller has checked that processes support both. */
export function serversFrom({ store, brokers }: { store: string; brokers: number }): Servers {
  return { store: store as LocalStore, brokers: brokers as Brokers }
}

/** Records the runner, the servers and the variables of a stack, before its first process starts. */
export function recordStart({ folder, store, brokers, variables }: Plan): void {
  changeStack(folder, { runner: 'local', store, brokers, variables })
}

export const databaseFolder = (folder: string): string => join(dataFolder(folder), 'postgresql')

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

/** @throws {CliError} `still-running` if this shell has other settings than the stack, which all commands use */
export function requireOwnSettings(): void {
  const { variables } = readStack(localFolder)
  if (variables) requireSameVariables(variables, givenSettings(process.env))
}
