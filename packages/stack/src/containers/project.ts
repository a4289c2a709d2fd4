import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { ComposeStore } from '../application/images.ts'
import { jaegerVariables } from '../application/jaeger.ts'
import { applicationName, repository } from '../application/paths.ts'
import {
  brokerPorts,
  containerPorts,
  defaultPorts,
  ofServices,
  type Service,
  services,
  storedServices,
} from '../application/services.ts'
import { bodyOf, isFor, isLasting, makeCertificate, newSecret, pemOf } from '../base/credentials.ts'
import { CliError } from '../base/error.ts'
import { removeUnfinished, replaceFile } from '../base/files.ts'
import { type Brokers, brokerNames } from '../kafka/broker.ts'
import { addressAt, securedKafka } from '../kafka/connection.ts'
import { exporterUser, operatorUser, publishUser } from '../kafka/rights.ts'
import type { Reached } from '../runner.ts'

/** The servers of a stack, which `.env` selects by the names of Compose files. */
export interface ComposeServers {
  store: ComposeStore
  brokers: Brokers
}

export interface Project extends Reached, ComposeServers {
  name: string
  profiles: readonly string[]
}

export const envFile = (folder: string): string => join(folder, '.env')

/**
 * Writes `.env` from `.env.example` with random secrets and a certificate for Kafka. Adds missing variables to an existing file, and replaces a
 * certificate that lacks the name of a broker. Returns true if the file has changed.
 */
export async function ensureEnvFile(folder = repository, brokers: Brokers = 1): Promise<boolean> {
  removeUnfinished(folder)
  const existing = existsSync(envFile(folder)) ? readFileSync(envFile(folder), 'utf8') : undefined
  const text = await withCertificate(withSecrets(existing ?? newText()), brokerNames({ brokers }))
  if (text === existing) return false
  replaceFile(envFile(folder), text, 0o600)
  return true
}

function newText(): string {
  // A volume keeps the passwords with which it was created. The random name separates the volumes of different checkouts.
  const name = `${applicationName}-${randomBytes(2).toString('hex')}`
  return readFileSync(join(repository, '.env.example'), 'utf8')
    .replaceAll(/^([A-Z_]+)=$/gm, (_line, variable) => `${variable}=${newSecret()}`)
    .replace(/^# COMPOSE_PROJECT_NAME=.*$/m, `COMPOSE_PROJECT_NAME=${name}`)
}

function withSecrets(text: string): string {
  const known = parseEnv(text)
  const tokens = [
    ...services.flatMap((service) => [variableOf(service, 'APP_TOKEN'), variableOf(service, 'DAPR_TOKEN')]),
    ...storedServices.flatMap((service) => [
      variableOf(service, 'DRY_RUN_TOKEN'),
      variableOf(service, 'STORE_PASSWORD'),
    ]),
  ]
  const passwords = ['KAFKA_BROKER_PASSWORD', ...Object.values(kafkaPasswords), 'POSTGRESQL_PASSWORD', 'SIGNING_KEYS']
  const missing = [...passwords, ...tokens].filter((name) => !known[name])
  return withVariables(text, Object.fromEntries(missing.map((name) => [name, newSecret()])))
}

async function withCertificate(text: string, hosts: readonly string[]): Promise<string> {
  const { KAFKA_CERTIFICATE: body, KAFKA_KEY: knownKey } = parseEnv(text)
  const known = body && pemOf('CERTIFICATE', body)
  if (known && knownKey && isLasting(known) && isFor(hosts, known)) return text
  const { certificate, key } = await makeCertificate([...brokerNames({ brokers: 3 })])
  return withVariables(text, { KAFKA_CERTIFICATE: bodyOf(certificate), KAFKA_KEY: bodyOf(key) })
}

export function withVariables(text: string, variables: Record<string, string>): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  if (lines.length === 0) return text
  const others = Object.keys(variables).reduce(
    (rest, name) => rest.replace(new RegExp(`^${name}=.*\\n?`, 'm'), ''),
    text,
  )
  return `${others.trimEnd()}\n${lines.join('')}`
}

export const brokersFile = 'docker-compose.brokers.yml'
export const postgresqlFile = 'docker-compose.postgresql.yml'

/** The application's own settings of containers. Compose reads them after the generated files. */
const overrideFile = 'docker-compose.override.yml'

/** The servers of docker-compose.yml without further files. */
export const defaultServers: ComposeServers = { store: 'mongodb', brokers: 1 }

const addedFiles = ({ store, brokers }: ComposeServers) => [
  ...(brokers === 3 ? [brokersFile] : []),
  ...(store === 'postgresql' ? [postgresqlFile] : []),
]

/** Returns the names of the Compose files for these servers. */
export function filesOf(servers: ComposeServers, folder = repository): string[] {
  const own = existsSync(join(folder, overrideFile)) ? [overrideFile] : []
  return ['docker-compose.yml', ...addedFiles(servers), ...own]
}

/** Writes the Compose files of these servers to `.env`, so that `docker compose` without options reads them. */
export function recordServers(servers: ComposeServers, folder = repository): void {
  const others = readFileSync(envFile(folder), 'utf8').replace(/^COMPOSE_FILE=.*(\n|$)/gm, '')
  const line = addedFiles(servers).length > 0 ? `COMPOSE_FILE=${filesOf(servers, folder).join(':')}\n` : ''
  replaceFile(envFile(folder), `${others.trimEnd()}\n${line}`, 0o600)
}

const observersPart = /^# from make observe\n(?:.*\n)*?# to here\n/m

/**
 * Writes the observers' profiles to `.env`, so that `docker compose` without options starts the observers. Adds the address for traces, unless `.env`
 * names another collector.
 * @param profiles an empty list switches the observers off
 */
export function recordObservers(profiles: readonly string[], folder = repository): void {
  const others = readFileSync(envFile(folder), 'utf8').replace(observersPart, '')
  const { JAEGER_PORT: page = defaultPorts.jaeger, ...known } = parseEnv(others)
  const variables = known.OTEL_EXPORTER_OTLP_ENDPOINT
    ? {}
    : jaegerVariables('jaeger', { otlp: defaultPorts.otlp, jaeger: Number(page) })
  const untold = Object.entries(variables).filter(([name]) => known[name] === undefined)
  const lines = [['COMPOSE_PROFILES', profiles.join()], ...untold].map(([name, value]) => `${name}=${value}\n`)
  const part = profiles.length > 0 ? `# from make observe\n${lines.join('')}# to here\n` : ''
  replaceFile(envFile(folder), `${others.trimEnd()}\n${part}`, 0o600)
}

export function volumeOf({ name }: Project, store: ComposeStore): string {
  return `${name}_${store === 'mongodb' ? 'mongo' : 'postgresql'}`
}

/** Returns the address at which a broker is published. */
const brokerAddress = (port: (name: string, usual: number) => number) => (broker: string) =>
  `localhost:${port(brokerPortVariable(broker), brokerPorts(defaultPorts, broker).broker)}`

/** Returns a name such as `KAFKA_2_PORT`. */
export const brokerPortVariable = (broker: string): string => `${broker.toUpperCase().replace('-', '_')}_PORT`

/** Returns undefined before the first start, because this start writes `.env`. */
export function readProject(folder = repository): Project | undefined {
  if (!existsSync(envFile(folder))) return undefined
  const env = parseEnv(readFileSync(envFile(folder), 'utf8'))
  const port = (name: string, usual: number) => Number(env[name] ?? usual)
  const profiles = (env.COMPOSE_PROFILES ?? '').split(',').filter(Boolean)
  const files = env.COMPOSE_FILE?.split(':') ?? []
  const servers: ComposeServers = {
    store: files.includes(postgresqlFile) ? 'postgresql' : 'mongodb',
    brokers: files.includes(brokersFile) ? 3 : 1,
  }
  const kafkaCertificate = pemOf('CERTIFICATE', env.KAFKA_CERTIFICATE ?? '')
  const kafkaOf = (username: string) =>
    securedKafka(
      brokerNames(servers).map(brokerAddress(port)).join(),
      { username, password: env[kafkaPasswords[username] ?? ''] ?? '' },
      kafkaCertificate,
    )
  return {
    name: env.COMPOSE_PROJECT_NAME ?? applicationName,
    ...servers,
    services: ofServices((service) =>
      addressAt('localhost', {
        http: port(variableOf(service, 'HTTP_PORT'), service.http),
        https: port(variableOf(service, 'HTTPS_PORT'), service.https),
      }),
    ),
    kafka: kafkaOf(operatorUser),
    publisher: kafkaOf(publishUser),
    profiles,
    observers: {
      jaeger: port('JAEGER_PORT', defaultPorts.jaeger),
      prometheus: port('PROMETHEUS_PORT', defaultPorts.prometheus),
      grafana: profiles.includes('grafana') ? port('GRAFANA_PORT', containerPorts.grafana) : undefined,
    },
  }
}

/** @throws {CliError} `not-running` before the first start */
export function requireProject(): Project {
  const project = readProject()
  if (project) return project
  throw new CliError('not-running', 'the stack is not running', { nextStep: 'make up' })
}

/** Returns a name such as `ORDER_HTTP_PORT`. */
export const variableOf = (service: Pick<Service, 'role'>, what: ServiceVariable): string =>
  `${variablePrefix(service)}_${what}`

export const variablePrefix = ({ role }: Pick<Service, 'role'>): string => role.toUpperCase().replaceAll('-', '_')

type ServiceVariable =
  | 'HTTP_PORT'
  | 'HTTPS_PORT'
  | 'APP_TOKEN'
  | 'DAPR_TOKEN'
  | 'DRY_RUN_TOKEN'
  | 'KAFKA_PASSWORD'
  | 'STORE_PASSWORD'
  | 'CONNECTION_STRING'

/** The names of the variables in which the program setup gets the URIs of sidecars, by service. */
export const connectionStrings: Readonly<Record<string, string>> = Object.fromEntries(
  storedServices.map((service) => [service.name, variableOf(service, 'CONNECTION_STRING')]),
)

/** The names of the variables with Kafka's passwords, by user. */
export const kafkaPasswords: Readonly<Record<string, string>> = {
  [operatorUser]: 'KAFKA_OPERATOR_PASSWORD',
  [publishUser]: 'KAFKA_PUBLISHER_PASSWORD',
  [exporterUser]: 'KAFKA_EXPORTER_PASSWORD',
  ...Object.fromEntries(services.map((service) => [service.name, variableOf(service, 'KAFKA_PASSWORD')])),
}
