import { images } from '../application/images.ts'
import { brokerPorts, defaultPorts } from '../application/ports.ts'
import { services, sidecarOf } from '../application/services.ts'
import { filledIn, generatedFrom } from '../application/templates.ts'
import { brokerPortVariable } from '../containers/project.ts'
import { brokerNames, brokerSettings, clusterSecurity, replicationSettings } from '../kafka/broker.ts'
import { brokerSecrets, brokerVariables } from './compose.ts'

const names = brokerNames({ brokers: 3 })

/** The brokers' listeners: for containers, for this machine, for brokers and setup, and for controllers. */
const listeners = {
  clients: { INSIDE: ':19092', HOST: ':9092' },
  broker: ':9094',
  controller: ':9093',
}

/** Returns the Compose file that adds two brokers to docker-compose.yml. */
export function composeBrokersFile(): string {
  const security = clusterSecurity(listeners, brokerSecrets)
  const clients = [...services.flatMap((service) => [sidecarOf(service), service.name]), 'exporter']
  const all = (port: number) => names.map((name) => `${name}:${port}`).join()
  return generatedFrom('containers/docker-compose.brokers.yml', {
    inside: all(19092),
    controllers: all(9093),
    setupBrokers: all(9094),
    image: images.kafka,
    settings: brokerVariables({ ...brokerSettings, ...replicationSettings, ...security }, '  '),
    initialControllers: names.map((name, index) => `${index + 1}@${name}:9093:${directoryId(index + 1)}`).join(),
    brokers: names.map(brokerPart).join(''),
    dependencies: names.map((name) => `      ${name}: { condition: service_healthy }\n`).join(''),
    clients: clients.map((name) => `\n  ${name}:\n    environment: *stream-settings\n`).join(''),
    volumes: names.map((_, index) => `  ${brokerVolume(index + 1)}:\n`).join(''),
  })
}

/** Returns the id of a broker's first log folder, in the form of Kafka: 16 bytes in base64. */
const directoryId = (number: number) => Buffer.from(`orderflow-kafka${number}`).toString('base64url')

/** Differs from the volume of a single broker, which has another format. */
const brokerVolume = (number: number) => `kafka-${number}`

function brokerPart(name: string, index: number): string {
  const number = index + 1
  const port = `\${${brokerPortVariable(name)}:-${brokerPorts(defaultPorts, name).broker}}`
  return filledIn('containers/broker.yml', {
    name,
    number,
    port,
    volume: brokerVolume(number),
    // The first broker has the ports of docker-compose.yml, and loses its setting for a single controller.
    ports: number === 1 ? '' : `    ports: ["127.0.0.1:${port}:9092"]\n`,
    removed: number === 1 ? '      KAFKA_CONTROLLER_QUORUM_VOTERS: !reset null\n' : '',
  })
}
