import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import {
  type Addresses,
  addressAt,
  type Brokers,
  brokerNames,
  brokerPorts,
  brokerPortVariable,
  entryOf,
  type KafkaConnection,
  kafkaPasswords,
  ofServices,
  postgresqlUri,
  type RunningStack,
  type Service,
  type StackPorts,
  securedKafka,
  services,
  sidecarUri,
  variableOf,
  withLogin,
} from '@orderflow/stack'
import { pemOf } from '@orderflow/stack/base'
import { operatorUser } from '@orderflow/stack/operate'

export interface ComposeSettings {
  secrets: Record<string, string>
  tokens: RunningStack['tokens']
  addresses: Addresses
  /** Returns the connection of a Kafka user, by default with the password of `.env`. */
  kafkaAs: (user: string, password?: string) => KafkaConnection
  /** The address of the sidecars’ database server for programs on this machine, with the user who has all rights. */
  storeUri: string
  /** Returns the same address with the user of a service’s sidecar. */
  sidecarUri: (service: Service) => string
}

/** The container of the sidecars’ database server. The variable `STORE` chooses the server for the whole run. */
export const storeServer = process.env.STORE === 'postgresql' ? 'postgresql' : 'mongo'

export function portVariables(ports: StackPorts): Record<string, string> {
  const ofEach = services.flatMap((service) => {
    const { http, https } = entryOf(ports.services, service.name)
    return [
      [variableOf(service, 'HTTP_PORT'), String(http)],
      [variableOf(service, 'HTTPS_PORT'), String(https)],
    ]
  })
  const ofBrokers = brokerNames({ brokers: 3 }).map((name) => [
    brokerPortVariable(name),
    String(brokerPorts(ports, name).broker),
  ])
  return {
    ...Object.fromEntries([...ofEach, ...ofBrokers]),
    MONGO_PORT: String(mongoPort(ports)),
    POSTGRESQL_PORT: String(ports.postgresql),
    JAEGER_PORT: String(ports.jaeger),
    PROMETHEUS_PORT: String(ports.prometheus),
  }
}

/** In containers, Kafka’s controller needs no published port, so MongoDB gets the controller’s port number. */
const mongoPort = ({ kafkaController }: StackPorts) => kafkaController

/** @param envFile the `.env` file that `make up` wrote */
export function composeSettings(envFile: string, ports: StackPorts, brokers: Brokers): ComposeSettings {
  const variables = parseEnv(readFileSync(envFile, 'utf8')) as Record<string, string>
  const isSecret = ([name]: [string, string]) => /_(PASSWORD|TOKEN|KEYS?)$/.test(name)
  const secrets = Object.fromEntries(Object.entries(variables).filter(isSecret))
  const tokensOf = (service: (typeof services)[number]) => ({
    app: entryOf(secrets, variableOf(service, 'APP_TOKEN')),
    dapr: entryOf(secrets, variableOf(service, 'DAPR_TOKEN')),
    dryRun: service.hasStore ? entryOf(secrets, variableOf(service, 'DRY_RUN_TOKEN')) : '',
  })
  const certificate = pemOf('CERTIFICATE', entryOf(variables, 'KAFKA_CERTIFICATE'))
  const kafkaAddresses = brokerNames({ brokers }).map((name) => `127.0.0.1:${brokerPorts(ports, name).broker}`)
  const kafkaAs: ComposeSettings['kafkaAs'] = (
    username,
    password = entryOf(secrets, entryOf(kafkaPasswords, username)),
  ) => securedKafka(kafkaAddresses.join(), { username, password }, certificate)
  const storeUri =
    storeServer === 'postgresql'
      ? postgresqlUri('127.0.0.1', ports.postgresql, entryOf(secrets, 'POSTGRESQL_PASSWORD'))
      : mongoUri(ports, entryOf(secrets, 'MONGO_PASSWORD'))
  const uriOf = storeServer === 'postgresql' ? sidecarUri : withLogin
  return {
    secrets,
    tokens: ofServices(tokensOf),
    addresses: {
      services: ofServices(({ name }) => addressAt('127.0.0.1', entryOf(ports.services, name))),
      kafka: kafkaAs(operatorUser),
    },
    kafkaAs,
    storeUri,
    sidecarUri: (service) => uriOf(storeUri, service.name, entryOf(secrets, variableOf(service, 'STORE_PASSWORD'))),
  }
}

/** Connects directly to this address, because the replica set reports a name that only the Docker network can resolve. */
function mongoUri(ports: StackPorts, password: string): string {
  return `mongodb://orderflow:${password}@127.0.0.1:${mongoPort(ports)}/?authSource=admin&directConnection=true`
}
