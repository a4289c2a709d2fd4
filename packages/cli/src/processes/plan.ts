import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CertificateFiles, localCertificate, newSecret } from '../lib/credentials.ts'
import { removeUnfinished, replaceFile } from '../lib/files.ts'
import type { StackPorts } from '../lib/ports.ts'
import { type Service, services, sidecarOf } from '../lib/services.ts'

/** The name `kafka`, `postgresql`, or that of a service or sidecar. */
export type ProcessName = string

/** The process that receives traces. It is not part of the stack. */
export const jaeger = 'jaeger'

export type LocalStore = 'sqlite' | 'postgresql'

export const processNames: readonly ProcessName[] = [
  'kafka',
  ...services.flatMap((service) => [service.name, sidecarOf(service)]),
]

export function processNamesWith(store: LocalStore): readonly ProcessName[] {
  return store === 'postgresql' ? ['postgresql', ...processNames] : processNames
}

/** The plan's folder has run/, logs/, data/, certificates/ and secrets.json. */
export interface Plan {
  folder: string
  store: LocalStore
  ports: StackPorts
  tokens: StackTokens
  certificate: CertificateFiles
}

/** Creates a plan and the missing secrets. The default store is that of the last start. */
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

export function storeOf(folder: string): LocalStore {
  return existsSync(storeFile(folder)) ? (readFileSync(storeFile(folder), 'utf8') as LocalStore) : 'sqlite'
}

export function recordStore({ folder, store }: Plan): void {
  mkdirSync(dataFolder(folder), { recursive: true })
  replaceFile(storeFile(folder), store)
}

const storeFile = (folder: string) => join(dataFolder(folder), 'store')

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
