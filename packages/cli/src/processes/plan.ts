import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CertificateFiles, localCertificate, newSecret } from '../lib/credentials.ts'
import { removeUnfinished, replaceFile } from '../lib/files.ts'
import type { StackPorts } from '../lib/ports.ts'
import { type Service, services, sidecarOf } from '../lib/services.ts'

/** `kafka`, `postgresql`, a service or its sidecar. */
export type ProcessName = string

/** The process that takes traces, beside the stack's own. */
export const jaeger = 'jaeger'

/** The stores of a stack of processes: a file of each service, or a server. */
export type LocalStore = 'sqlite' | 'postgresql'

/** The processes of every stack, in the order in which they start. */
export const processNames: readonly ProcessName[] = [
  'kafka',
  ...services.flatMap((service) => [service.name, sidecarOf(service)]),
]

/** Returns the processes of a stack with this store. */
export function processNamesWith(store: LocalStore): readonly ProcessName[] {
  return store === 'postgresql' ? ['postgresql', ...processNames] : processNames
}

/**
 * Everything one stack is made of: its folder (run/, logs/, data/, certificates/, secrets.json), store, ports, tokens,
 * certificate.
 */
export interface Plan {
  folder: string
  store: LocalStore
  ports: StackPorts
  tokens: StackTokens
  certificate: CertificateFiles
}

/**
 * Makes what is missing of a stack's secrets and reads the rest. The store is that of the last start when it is left
 * out.
 */
export async function createPlan(folder: string, ports: StackPorts, store = storeOf(folder)): Promise<Plan> {
  const tokens = stackTokens(folder)
  return { folder, store, ports, tokens, certificate: await localCertificate(join(folder, 'certificates')) }
}

export function logFile(folder: string, name: string): string {
  return join(folder, 'logs', `${name}.log`)
}

export function dataFolder(folder: string): string {
  return join(folder, 'data')
}

/** The store that a folder's stack was started with last; SQLite when it never was. */
export function storeOf(folder: string): LocalStore {
  return existsSync(storeFile(folder)) ? (readFileSync(storeFile(folder), 'utf8') as LocalStore) : 'sqlite'
}

export function recordStore({ folder, store }: Plan): void {
  mkdirSync(dataFolder(folder), { recursive: true })
  replaceFile(storeFile(folder), store)
}

const storeFile = (folder: string) => join(dataFolder(folder), 'store')

/** PostgreSQL's data. */
export function databaseFolder(folder: string): string {
  return join(dataFolder(folder), 'postgresql')
}

/** The SQLite file of a service's store. */
export function databaseFile(folder: string, { role }: Pick<Service, 'role'>): string {
  return join(dataFolder(folder), `${role}.db`)
}

/** Tokens between one service and those who may ask it. */
export interface ServiceTokens {
  /** The sidecar shows it to the service (APP_API_TOKEN). */
  app: string
  /** The service shows it to the sidecar (DAPR_API_TOKEN). */
  dapr: string
  /** The monitor shows it to the service. */
  dryRun: string
}

/** By service. */
export type StackTokens = Record<string, ServiceTokens>

/**
 * The stack's tokens, made once per service and kept readable by its owner only. They travel by environment, never in
 * arguments.
 */
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

/** A password of the stack, by what it is for; made once, as the tokens are. */
export function stackPassword(folder: string, use: string): string {
  const file = join(folder, `${use}.password`)
  if (!existsSync(file)) replaceFile(file, newSecret(), 0o600)
  return readFileSync(file, 'utf8')
}
