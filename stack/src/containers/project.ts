import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { type Addresses, addressAt } from '../kafka/addresses.ts'
import type { ComposeStore } from '../lib/image-names.ts'
import { repository } from '../lib/paths.ts'
import { defaultPorts } from '../lib/ports.ts'
import { newSecret } from '../lib/secret.ts'
import { ofServices, services } from '../lib/services.ts'
import { variableOf } from './variables.ts'

/** What `.env` says of the Compose project: its name and store, and where its containers are reached from this machine. */
export interface Project extends Addresses {
  name: string
  store: ComposeStore
}

const envFile = (folder: string) => join(folder, '.env')

/**
 * Writes `.env` from `.env.example` when there is none, with random secrets, and those that one of an earlier version lacks; true when
 * it wrote something.
 */
export function ensureEnvFile(folder = repository): boolean {
  const existing = existsSync(envFile(folder)) ? readFileSync(envFile(folder), 'utf8') : undefined
  const text = withSecrets(existing ?? newText())
  if (text === existing) return false
  writeFileSync(envFile(folder), text, { mode: 0o600 })
  return true
}

function newText(): string {
  // Volumes keep the passwords they were made with. A name of its own keeps another checkout's apart.
  const name = `orderflow-${randomBytes(2).toString('hex')}`
  return readFileSync(join(repository, '.env.example'), 'utf8')
    .replaceAll(/^([A-Z_]+)=$/gm, (_line, variable) => `${variable}=${newSecret()}`)
    .replace(/^# COMPOSE_PROJECT_NAME=.*$/m, `COMPOSE_PROJECT_NAME=${name}`)
}

function withSecrets(text: string): string {
  const known = parseEnv(text)
  const tokens = services.flatMap((service) => [variableOf(service, 'APP_TOKEN'), variableOf(service, 'DAPR_TOKEN')])
  const missing = ['POSTGRESQL_PASSWORD', ...tokens].filter((name) => !known[name])
  if (missing.length === 0) return text
  return `${text.trimEnd()}\n${missing.map((name) => `${name}=${newSecret()}\n`).join('')}`
}

/** What Compose reads besides docker-compose.yml when the store is PostgreSQL. */
export const postgresqlFile = 'docker-compose.postgresql.yml'

/** Writes into `.env` which files Compose reads, so that `docker compose` by hand knows them, too. */
export function recordStore(store: ComposeStore, folder = repository): void {
  const others = readFileSync(envFile(folder), 'utf8').replace(/^COMPOSE_FILE=.*(\n|$)/gm, '')
  const line = store === 'postgresql' ? `COMPOSE_FILE=docker-compose.yml:${postgresqlFile}\n` : ''
  writeFileSync(envFile(folder), `${others.trimEnd()}\n${line}`, { mode: 0o600 })
}

/** The volume that has a store's data. */
export function volumeOf({ name }: Project, store: ComposeStore): string {
  return `${name}_${store === 'mongodb' ? 'mongo' : 'postgresql'}`
}

/** The project of this checkout; undefined while there is no `.env`, as nothing was ever started then. */
export function readProject(folder = repository): Project | undefined {
  if (!existsSync(envFile(folder))) return undefined
  const env = { ...parseEnv(readFileSync(envFile(folder), 'utf8')), ...process.env }
  const port = (name: string, usual: number) => Number(env[name] ?? usual)
  return {
    name: env.COMPOSE_PROJECT_NAME ?? 'orderflow',
    store: env.COMPOSE_FILE?.split(':').includes(postgresqlFile) ? 'postgresql' : 'mongodb',
    services: ofServices((service) =>
      addressAt('localhost', {
        http: port(variableOf(service, 'HTTP_PORT'), service.http),
        https: port(variableOf(service, 'HTTPS_PORT'), service.https),
      }),
    ),
    kafka: {
      bootstrapBrokers: [`localhost:${port('KAFKA_PORT', defaultPorts.kafka)}`],
      sasl: { mechanism: 'PLAIN', username: 'orderflow', password: env.KAFKA_PASSWORD ?? '' },
    },
  }
}
