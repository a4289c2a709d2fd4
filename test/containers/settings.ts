import {
  type Addresses,
  addressAt,
  entryOf,
  freePorts,
  newSecret,
  ofServices,
  type StackTokens,
  services,
} from '@orderflow/stack'
import { variableOf } from '@orderflow/stack/containers'

/** What docker-compose.yml asks for, made for one run. */
export interface ComposeSettings {
  variables: Record<string, string>
  tokens: StackTokens
  addresses: Addresses
  mongoUri: string
}

/** Free ports of this machine, and secrets that nobody has used before. */
export async function composeSettings(): Promise<ComposeSettings> {
  const { kafka, kafkaController: mongo, services: ports } = await freePorts()
  const [kafkaPassword, mongoPassword] = [newSecret(), newSecret()]
  const tokens = ofServices(() => ({ app: newSecret(), dapr: newSecret() }))
  const ofEach = services.flatMap((service) => {
    const [{ http, https }, { app, dapr }] = [entryOf(ports, service.name), entryOf(tokens, service.name)]
    return [
      [variableOf(service, 'HTTP_PORT'), String(http)],
      [variableOf(service, 'HTTPS_PORT'), String(https)],
      [variableOf(service, 'APP_TOKEN'), app],
      [variableOf(service, 'DAPR_TOKEN'), dapr],
    ]
  })
  return {
    variables: {
      ...Object.fromEntries(ofEach),
      KAFKA_PORT: String(kafka),
      MONGO_PORT: String(mongo),
      KAFKA_PASSWORD: kafkaPassword,
      MONGO_PASSWORD: mongoPassword,
    },
    tokens,
    addresses: {
      services: ofServices(({ name }) => addressAt('127.0.0.1', entryOf(ports, name))),
      kafka: {
        bootstrapBrokers: [`127.0.0.1:${kafka}`],
        sasl: { mechanism: 'PLAIN', username: 'orderflow', password: kafkaPassword },
      },
    },
    // The replica set's only member is known by a name that is the network's own.
    mongoUri: `mongodb://orderflow:${mongoPassword}@127.0.0.1:${mongo}/?authSource=admin&directConnection=true`,
  }
}
