import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import {
  type Addresses,
  addressAt,
  entryOf,
  type KafkaConnection,
  kafkaPasswords,
  ofServices,
  operatorUser,
  pemOf,
  postgresqlUri,
  type StackPorts,
  type StackTokens,
  securedKafka,
  services,
  variableOf,
} from '@orderflow/cli'

/** How a stack of containers is reached, and the secrets that `make up` has made for it. */
export interface ComposeSettings {
  /** Those of `.env`. */
  secrets: Record<string, string>
  tokens: StackTokens
  addresses: Addresses
  /** Kafka as one of its users reaches it, with the password of `.env` unless another is given. */
  kafkaAs: (user: string, password?: string) => KafkaConnection
  /** The sidecars' database server, reached from this machine. */
  storeUri: string
}

/** The container of the sidecars' database server: `STORE` decides, for the whole run. */
export const storeServer = process.env.STORE === 'postgresql' ? 'postgresql' : 'mongo'

/** What docker-compose.yml calls the ports that it publishes. */
export function portVariables(ports: StackPorts): Record<string, string> {
  const ofEach = services.flatMap((service) => {
    const { http, https } = entryOf(ports.services, service.name)
    return [
      [variableOf(service, 'HTTP_PORT'), String(http)],
      [variableOf(service, 'HTTPS_PORT'), String(https)],
    ]
  })
  return { ...Object.fromEntries(ofEach), ...serverPorts(ports) }
}

const serverPorts = (ports: StackPorts) => ({
  KAFKA_PORT: String(ports.kafka),
  MONGO_PORT: String(mongoPort(ports)),
  POSTGRESQL_PORT: String(ports.postgresql),
  JAEGER_PORT: String(ports.jaeger),
  PROMETHEUS_PORT: String(ports.prometheus),
})

/** The controller of Kafka has no port of its own here. */
const mongoPort = ({ kafkaController }: StackPorts) => kafkaController

/** @param envFile that `make up` wrote */
export function composeSettings(envFile: string, ports: StackPorts): ComposeSettings {
  const variables = parseEnv(readFileSync(envFile, 'utf8')) as Record<string, string>
  const isSecret = ([name]: [string, string]) => /_(PASSWORD|TOKEN|KEYS?)$/.test(name)
  const secrets = Object.fromEntries(Object.entries(variables).filter(isSecret))
  const tokensOf = (service: (typeof services)[number]) => ({
    app: entryOf(secrets, variableOf(service, 'APP_TOKEN')),
    dapr: entryOf(secrets, variableOf(service, 'DAPR_TOKEN')),
    dryRun: service.hasStore ? entryOf(secrets, variableOf(service, 'DRY_RUN_TOKEN')) : '',
  })
  const certificate = pemOf('CERTIFICATE', entryOf(variables, 'KAFKA_CERTIFICATE'))
  const kafkaAs: ComposeSettings['kafkaAs'] = (
    username,
    password = entryOf(secrets, entryOf(kafkaPasswords, username)),
  ) => securedKafka(`127.0.0.1:${ports.kafka}`, { username, password }, certificate)
  return {
    secrets,
    tokens: ofServices(tokensOf),
    addresses: {
      services: ofServices(({ name }) => addressAt('127.0.0.1', entryOf(ports.services, name))),
      kafka: kafkaAs(operatorUser),
    },
    kafkaAs,
    storeUri:
      storeServer === 'postgresql'
        ? postgresqlUri('127.0.0.1', ports.postgresql, entryOf(secrets, 'POSTGRESQL_PASSWORD'))
        : mongoUri(ports, entryOf(secrets, 'MONGO_PASSWORD')),
  }
}

/** The replica set's only member is known by a name that is the network's own. */
function mongoUri(ports: StackPorts, password: string): string {
  return `mongodb://orderflow:${password}@127.0.0.1:${mongoPort(ports)}/?authSource=admin&directConnection=true`
}
