import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Addresses } from '../commands/addresses.ts'
import { repository } from '../lib/paths.ts'
import { defaultPorts } from '../processes/ports.ts'

/** What `.env` says of the Compose project: its name, and where its containers are reached from this machine. */
export interface Project extends Addresses {
  name: string
}

const envFile = (folder: string) => join(folder, '.env')

/** Writes `.env` with random secrets from `.env.example` when there is none; true when it did. */
export function ensureEnvFile(folder = repository): boolean {
  if (existsSync(envFile(folder))) return false
  const secret = () => randomBytes(24).toString('base64url')
  // Volumes keep the passwords they were made with. A name of its own keeps another checkout's apart.
  const name = `orderflow-${randomBytes(2).toString('hex')}`
  const lines = readFileSync(join(repository, '.env.example'), 'utf8')
    .replaceAll(/^([A-Z_]+)=$/gm, (_line, variable) => `${variable}=${secret()}`)
    .replace(/^# COMPOSE_PROJECT_NAME=.*$/m, `COMPOSE_PROJECT_NAME=${name}`)
  writeFileSync(envFile(folder), lines, { mode: 0o600 })
  return true
}

/** The project of this checkout; undefined while there is no `.env`, as nothing was ever started then. */
export function readProject(folder = repository): Project | undefined {
  if (!existsSync(envFile(folder))) return undefined
  const env = { ...parseEnv(readFileSync(envFile(folder), 'utf8')), ...process.env }
  const port = (name: string, usual: number) => Number(env[name] ?? usual)
  return {
    name: env.COMPOSE_PROJECT_NAME ?? 'orderflow',
    orderUrl: `http://localhost:${port('ORDER_HTTP_PORT', defaultPorts.order.http)}`,
    orderHttpsUrl: `https://localhost:${port('ORDER_HTTPS_PORT', defaultPorts.order.https)}`,
    paymentUrl: `http://localhost:${port('PAYMENT_HTTP_PORT', defaultPorts.payment.http)}`,
    paymentHttpsUrl: `https://localhost:${port('PAYMENT_HTTPS_PORT', defaultPorts.payment.https)}`,
    kafka: {
      bootstrapBrokers: [`localhost:${port('KAFKA_PORT', defaultPorts.kafka)}`],
      sasl: { mechanism: 'PLAIN', username: 'orderflow', password: env.KAFKA_PASSWORD ?? '' },
    },
  }
}
