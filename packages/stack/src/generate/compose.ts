import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { images, serviceImage } from '../application/images.ts'
import { applicationName, isInstalled, programFile, repository, templateFile, versions } from '../application/paths.ts'
import {
  brokerPorts,
  containerPorts,
  defaultPorts,
  entryOf,
  isKnownBySignature,
  type Service,
  services,
  sidecarOf,
  storedServices,
} from '../application/services.ts'
import { filledIn, generated, generatedFrom } from '../application/templates.ts'
import {
  brokerPortVariable,
  connectionStrings,
  kafkaPasswords,
  variableOf,
  variablePrefix,
} from '../containers/project.ts'
import { podOf } from '../containers/replicas.ts'
import {
  brokerHeap,
  brokerMachine,
  brokerNames,
  brokerSecurity,
  brokerSettings,
  brokerVariable,
  clusterSecurity,
  replicationSettings,
} from '../kafka/broker.ts'
import { podsOf } from '../observe/config.ts'
import {
  daprdFlags,
  heapLimits,
  resourcesOf,
  sidecarMemory,
  watcherLimits,
  watcherMalloc,
  watcherSettings,
} from '../processes/process/spec.ts'
import { postgresqlSettings, postgresqlUri, postgresqlUser, tablesUser } from '../stores/databases.ts'

/** Returns docker-compose.yml, from the template in `containers/`. */
export function composeFile(): string {
  const comment = 'The file docker-compose.override.yml, if it exists, changes or adds settings (docs/containers.md).'
  return `${generated(comment)}#\n${filledIn('containers/docker-compose.yml', {
    name: applicationName,
    ...defaultPorts,
    ...containerPorts,
    templates: relative(repository, templateFile('')),
    setupArguments: isInstalled ? '' : ', args: { SERVICE: packages/stack }',
    exporterProgram: join('/app', relative(repository, programFile('#exporter'))),
    broker: brokerVariables({ ...brokerSettings, ...brokerSecurity(listeners, brokerSecrets) }, '      '),
    passwords: linesOf(Object.fromEntries(Object.values(kafkaPasswords).map((name) => [name, fromEnv(name)]))),
    pods: services.map(podsOf).join(),
    connectionStrings: storedServices.map(mongoPart).join(''),
    services: services.map(servicePart).join(''),
  })}`
}

/** Returns the Dockerfile of an application that installs the packages. */
export function dockerfile(): string {
  return generatedFrom('containers/Dockerfile.template', {
    node: versions.node,
    dapr: versions.dapr,
    archives: existsSync(join(repository, 'vendor')) ? 'COPY vendor vendor\n' : '',
    heapLimits: heapLimits.map((option) => `"${option}"`).join(', '),
  })
}

/** The broker's listeners: for containers, for this machine, and for the broker itself. */
const listeners = {
  clients: { INSIDE: ':19092', HOST: ':9092' },
  broker: 'localhost:9094',
  controller: 'localhost:9093',
}

const fromEnv = (variable: string) => `\${${variable}:?is not set; see .env.example}`

const brokerSecrets = {
  // These two variables need no check here, because other containers in the file require them.
  password: `\${KAFKA_BROKER_PASSWORD}`,
  certificate: `\${KAFKA_CERTIFICATE}`,
  key: fromEnv('KAFKA_KEY'),
}

/** Returns the lines with a broker's variables. */
function brokerVariables(settings: Record<string, string | number | boolean>, indent: string): string {
  const variables = [
    ['KAFKA_HEAP_OPTS', brokerHeap] as const,
    ['KAFKA_JVM_PERFORMANCE_OPTS', brokerMachine.join(' ')] as const,
    ...Object.entries(settings).map(([setting, value]) => [brokerVariable(setting), value] as const),
  ]
  return variables.map(([variable, value]) => `${indent}${variable}: ${scalar(value)}\n`).join('')
}

/** Returns a value for YAML, with quotes if needed. Compose requires strings, and YAML reads some unquoted words as other types. */
function scalar(value: string | number | boolean): string {
  if (typeof value === 'boolean') return `"${value}"`
  return typeof value === 'number' || /^[a-z][\w.-]*$/i.test(value) ? String(value) : `'${value}'`
}

/** Returns the line with the URI of a service's sidecar for MongoDB. */
function mongoPart(service: Service): string {
  const password = fromEnv(variableOf(service, 'STORE_PASSWORD'))
  const uri = `mongodb://${service.name}:${password}@mongo:27017/?authSource=admin&replicaSet=rs0`
  return connectionString(service, uri)
}

const connectionString = ({ name, role }: Service, uri: string) =>
  `      ${entryOf(connectionStrings, name)}: &${role}-store ${uri}\n`

function servicePart(service: Service): string {
  const [pod, sidecar] = podOf(service)
  const dryRunToken = `      DryRun__Token: ${fromEnv(variableOf(service, 'DRY_RUN_TOKEN'))}\n`
  return filledIn('containers/service.yml', {
    ...service,
    ...sidecarMemory,
    PREFIX: variablePrefix(service),
    pod,
    sidecar,
    image: serviceImage(service.name),
    pods: podsOf(service),
    connectionString: service.hasStore ? `      State__ConnectionString: *${service.role}-store\n` : '',
    sidecarCommand: sidecarCommand(service, 'mongodb'),
    trust: isKnownBySignature(service) ? '*trust-settings, ' : '',
    monitorPage: monitorPage(),
    dryRunToken: service.hasStore ? dryRunToken : '',
    watcher: service.watches ? watcherPart() : '',
  })
}

function monitorPage(): string {
  const watcher = services.find(({ watches }) => watches)
  const usual = watcher ? `http://localhost:\${${variableOf(watcher, 'HTTP_PORT')}:-${watcher.http}}/` : ''
  return `\${Telemetry__MonitorPage-${usual}}`
}

function watcherPart(): string {
  const settings = watcherSettings({
    http: (one) => `http://${podsOf(one)}:${one.http}`,
    dryRun: (one) => {
      const { metrics } = entryOf(defaultPorts.services, one.name)
      return `http://${podsOf(one)}:${metrics} ${fromEnv(variableOf(one, 'DRY_RUN_TOKEN'))}`
    },
  })
  return filledIn('containers/watcher.yml', {
    settings: linesOf(settings),
    mmapThreshold: watcherMalloc.MALLOC_MMAP_THRESHOLD_,
    limits: watcherLimits.map((one) => `"${one}"`).join(', '),
  })
}

const linesOf = (variables: Record<string, string>) =>
  Object.entries(variables)
    .map(([name, value]) => `      ${name}: ${value}\n`)
    .join('')

/** The Prometheus container can reach the metrics port, but the port is not published. */
function sidecarCommand(service: Service, store: 'mongodb' | 'postgresql'): string {
  const { name } = service
  const resources = resourcesOf('/components', service, store)
  const flags = daprdFlags(name, entryOf(defaultPorts.services, name), resources, { metrics: '0.0.0.0' })
  return ['      - /daprd\n', ...flags.map(([flag, value]) => `      - --${flag}=${value}\n`)].join('')
}

export function composePostgresqlFile(): string {
  const password = `\${POSTGRESQL_PASSWORD:?is not set; make up STACK=docker writes it into .env}`
  return generatedFrom('containers/docker-compose.postgresql.yml', {
    image: images.postgresql,
    port: defaultPorts.postgresql,
    settings: Object.entries(postgresqlSettings)
      .map(([name, value]) => `, -c, ${name}=${value}`)
      .join(''),
    user: postgresqlUser,
    password,
    uri: postgresqlUri('postgresql', 5432, password),
    connectionStrings: storedServices.map(postgresqlPart).join(''),
    sidecars: storedServices.map(sidecarPart).join(''),
  })
}

/** Returns the line with the URI of a service's sidecar for PostgreSQL. */
function postgresqlPart(service: Service): string {
  const password = fromEnv(variableOf(service, 'STORE_PASSWORD'))
  return connectionString(service, postgresqlUri('postgresql', 5432, password, tablesUser(service.name)))
}

function sidecarPart(service: Service): string {
  return `
  ${sidecarOf(service)}:
    environment:
      State__ConnectionString: *${service.role}-store
    command:
${sidecarCommand(service, 'postgresql')}`
}

const names = brokerNames({ brokers: 3 })

/** The brokers' listeners: for containers, for this machine, for brokers and setup, and for controllers. */
const listenersOfThree = {
  clients: { INSIDE: ':19092', HOST: ':9092' },
  broker: ':9094',
  controller: ':9093',
}

/** Returns the Compose file that adds two brokers to docker-compose.yml. */
export function composeBrokersFile(): string {
  const security = clusterSecurity(listenersOfThree, brokerSecrets)
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
