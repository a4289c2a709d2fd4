import { join } from 'node:path'
import { type CertificateFiles, localCertificate } from '../lib/certificate.ts'
import type { StackPorts } from '../lib/ports.ts'
import { type Service, services, sidecarOf } from '../lib/services.ts'
import { type StackTokens, stackTokens } from './secrets.ts'

/** `kafka`, a service or its sidecar. */
export type ProcessName = string

/** In the order they start. */
export const processNames: readonly ProcessName[] = [
  'kafka',
  ...services.flatMap((service) => [service.name, sidecarOf(service)]),
]

/** Everything one stack is made of: its folder (run/, logs/, data/, certificates/, secrets.json), ports, tokens, certificate. */
export interface Plan {
  folder: string
  ports: StackPorts
  tokens: StackTokens
  certificate: CertificateFiles
}

/** Makes what is missing of a stack's secrets and reads the rest. */
export async function createPlan(folder: string, ports: StackPorts): Promise<Plan> {
  const tokens = stackTokens(folder)
  return { folder, ports, tokens, certificate: await localCertificate(join(folder, 'certificates')) }
}

export function logFile(folder: string, name: string): string {
  return join(folder, 'logs', `${name}.log`)
}

export function dataFolder(folder: string): string {
  return join(folder, 'data')
}

/** The SQLite file of a service's store. */
export function databaseFile(folder: string, { role }: Pick<Service, 'role'>): string {
  return join(dataFolder(folder), `${role}.db`)
}
