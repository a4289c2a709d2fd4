import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { images, serviceImage } from '../application/images.ts'
import { applicationName, isInstalled, programFile, repository, templateFile, versions } from '../application/paths.ts'
import { containerPorts, defaultPorts } from '../application/ports.ts'
import {
  entryOf,
  isKnownBySignature,
  type Service,
  services,
  sidecarOf,
  storedServices,
} from '../application/services.ts'
import { connectionStrings, kafkaPasswords, variableOf } from '../containers/project.ts'
import { podOf } from '../containers/replicas.ts'
import { brokerHeap, brokerMachine, brokerSecurity, brokerSettings, brokerVariable } from '../kafka/broker.ts'
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
import { filledIn, generated } from './text.ts'

/** Returns docker-compose.yml, from the template in `containers/`. */
export function composeFile(): string {
  const comment = 'The file docker-compose.override.yml, if it exists, changes or adds settings (docs/containers.md).'
  return `${generated(comment)}#\n${filledIn('containers/docker-compose.yml', {
    name: applicationName,
    ...Object.fromEntries(
      Object.entries({ ...defaultPorts, ...containerPorts }).map(([part, port]) => [part, String(port)]),
    ),
    templates: relative(repository, templateFile('')),
    setupArguments: isInstalled ? '' : ', args: { SERVICE: packages/cli }',
    exporterProgram: join('/app', relative(repository, programFile('#exporter'))),
    broker: brokerVariables({ ...brokerSettings, ...brokerSecurity(listeners, brokerSecrets) }, '      '),
    passwords: passwordsPart(),
    pods: services.map(podsOf).join(),
    connectionStrings: storedServices.map(mongoPart).join(''),
    services: services.map(servicePart).join(''),
  })}`
}

/** Returns the Dockerfile of an application that installs the packages. */
export function dockerfile(): string {
  return `${generated('')}#\n${filledIn('containers/Dockerfile.template', {
    node: versions.node,
    dapr: versions.dapr,
    archives: existsSync(join(repository, 'vendor')) ? 'COPY vendor vendor\n' : '',
    heapLimits: heapLimits.map((option) => `"${option}"`).join(', '),
  })}`
}

/** The broker's listeners: for containers, for this machine, and for the broker itself. */
const listeners = {
  clients: { INSIDE: ':19092', HOST: ':9092' },
  broker: 'localhost:9094',
  controller: 'localhost:9093',
}

const fromEnv = (variable: string) => `\${${variable}:?is not set; see .env.example}`

export const brokerSecrets = {
  // These two variables need no check here, because other containers in the file require them.
  password: `\${KAFKA_BROKER_PASSWORD}`,
  certificate: `\${KAFKA_CERTIFICATE}`,
  key: fromEnv('KAFKA_KEY'),
}

/** Returns the lines with a broker's variables. */
export function brokerVariables(settings: Record<string, string | number | boolean>, indent: string): string {
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

function passwordsPart(): string {
  return Object.values(kafkaPasswords)
    .map((variable) => `      ${variable}: ${fromEnv(variable)}\n`)
    .join('')
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
  const { name, folder, role, http, https, hasStore } = service
  const [pod, sidecar] = podOf(service)
  const secret = (what: 'APP_TOKEN' | 'DAPR_TOKEN' | 'DRY_RUN_TOKEN' | 'KAFKA_PASSWORD') =>
    fromEnv(variableOf(service, what))
  const published = `\${${variableOf(service, 'HTTP_PORT')}:-${http}}:${http}`
  const publishedTls = `\${${variableOf(service, 'HTTPS_PORT')}:-${https}}:${https}`
  return `
  ${pod}:
    <<: *pod
    image: ${serviceImage(name)}
    networks: { default: { aliases: [${podsOf(service)}] } }
    ports:
      - 127.0.0.1:${published}
      - 127.0.0.1:${publishedTls}

  ${sidecar}:
    <<: *sidecar
    network_mode: service:${pod}
    depends_on:
      ${pod}: { condition: service_started, restart: true }
      setup: { condition: service_completed_successfully }
    environment:
      <<: [*stream-settings, *trace-settings, *network-settings]
      OTEL_SERVICE_NAME: ${sidecar}
      GOGC: "${sidecarMemory.GOGC}"
      GOMEMLIMIT: ${sidecarMemory.GOMEMLIMIT}
      Stream__SaslUsername: ${name}
      Stream__SaslPassword: &${role}-kafka-password ${secret('KAFKA_PASSWORD')}
      APP_API_TOKEN: &${role}-app-token ${secret('APP_TOKEN')}
      DAPR_API_TOKEN: &${role}-dapr-token ${secret('DAPR_TOKEN')}${hasStore ? `\n      State__ConnectionString: *${role}-store` : ''}
    command:
${sidecarCommand(service, 'mongodb')}
  ${name}:
    <<: *service
    image: ${serviceImage(name)}
    build: { context: ., target: service, args: { SERVICE: ${folder} } }
    network_mode: service:${pod}
    depends_on:
      ${pod}: { condition: service_started, restart: true }
      ${sidecar}: { condition: service_started }
    environment:
      <<: [*stream-settings, *auth-settings, ${isKnownBySignature(service) ? '*trust-settings, ' : ''}*trace-settings, *network-settings]
      Telemetry__TracePage: \${Telemetry__TracePage-}
      Telemetry__MonitorPage: ${monitorPage()}
      Stream__SaslUsername: ${name}
      Stream__SaslPassword: *${role}-kafka-password
      APP_API_TOKEN: *${role}-app-token
      DAPR_API_TOKEN: *${role}-dapr-token
      Metrics__Host: 0.0.0.0${hasStore ? `\n      DryRun__Token: ${secret('DRY_RUN_TOKEN')}` : ''}
      Web__Hosts: ${podsOf(service)},${pod},\${Web__Hosts-}
      Web__Proxies: \${Web__Proxies:-0}
      Web__CertificateFile: /certificates/localhost.crt
      Web__KeyFile: /certificates/localhost.key
      Limits__AddressPerMinute: "0"${service.watches ? watchPart() : ''}
    healthcheck:
      test: [CMD, bash, -c, "[ -e /dev/shm/ready ] && sleep 8; exec 3<>/dev/tcp/127.0.0.1/${http} && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ $$status = 200 ] && : >/dev/shm/ready"]
      <<: *probe
`
}

function monitorPage(): string {
  const watcher = services.find(({ watches }) => watches)
  const usual = watcher ? `http://localhost:\${${variableOf(watcher, 'HTTP_PORT')}:-${watcher.http}}/` : ''
  return `\${Telemetry__MonitorPage-${usual}}`
}

function watchPart(): string {
  const settings = watcherSettings({
    http: (one) => `http://${podsOf(one)}:${one.http}`,
    dryRun: (one) => {
      const { metrics } = entryOf(defaultPorts.services, one.name)
      return `http://${podsOf(one)}:${metrics} ${fromEnv(variableOf(one, 'DRY_RUN_TOKEN'))}`
    },
  })
  return `
${Object.entries(settings)
  .map(([name, value]) => `      ${name}: ${value}\n`)
  .join('')}      ${Object.entries(watcherMalloc).map(([name, value]) => `${name}: "${value}"`)}
    entrypoint: [node, ${watcherLimits.map((one) => `"${one}"`).join(', ')}, src/main.ts]
    cpu_shares: 256
    volumes: ["certificates:/certificates:ro", "./.stack/auth:/auth:ro", "./components/trust:/app/components/trust:ro", "monitor:/data"]`
}

/** The Prometheus container can reach the metrics port, but the port is not published. */
function sidecarCommand(service: Service, store: 'mongodb' | 'postgresql'): string {
  const { name } = service
  const resources = resourcesOf('/components', service, store)
  const flags = daprdFlags(name, entryOf(defaultPorts.services, name), resources, { metrics: '0.0.0.0' })
  return ['      - /daprd\n', ...flags.map(([flag, value]) => `      - --${flag}=${value}\n`)].join('')
}

export function composePostgresqlFile(): string {
  const settings = Object.entries(postgresqlSettings).map(([name, value]) => `, -c, ${name}=${value}`)
  return `${generated(`Replaces MongoDB by PostgreSQL as the store. make up STACK=docker STORE=postgresql sets COMPOSE_FILE in
.env. Compose then reads docker-compose.yml and this file, even if you run docker compose yourself.`)}
services:
  mongo: !reset null

  postgresql:
    image: ${images.postgresql}
    logging:
      driver: json-file
      options: { max-size: 10m, max-file: "3" }
    restart: on-failure
    stop_grace_period: 30s
    ports: ["127.0.0.1:\${POSTGRESQL_PORT:-${defaultPorts.postgresql}}:5432"]
    volumes: ["postgresql:/var/lib/postgresql/data"]
    command: [postgres${settings.join('')}]
    environment:
      POSTGRES_USER: ${postgresqlUser}
      POSTGRES_PASSWORD: \${POSTGRESQL_PASSWORD:?${unset}}
    healthcheck:
      # Checks TCP, because the first start creates the user with a temporary server, which listens only on a Unix socket.
      test: [CMD, bash, -c, "[ -e /dev/shm/ready ] && sleep 8; pg_isready --quiet --host=127.0.0.1 && : >/dev/shm/ready"]
      interval: 2s
      timeout: 12s
      start_period: 60s
      retries: 5

  setup:
    environment:
      State__ConnectionString: ${postgresqlUri('postgresql', 5432, `\${POSTGRESQL_PASSWORD:?${unset}}`)}
${storedServices.map(postgresqlPart).join('')}    depends_on:
      mongo: !reset null
      postgresql: { condition: service_healthy }
${storedServices.map(sidecarPart).join('')}
volumes:
  mongo: !reset null
  postgresql:
`
}

const unset = 'is not set; make up STACK=docker writes it into .env'

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
