import { readdirSync } from 'node:fs'
import { images } from '../application/images.ts'
import { applicationName, imagePath, packagesVersion, programFile, templateFile } from '../application/paths.ts'
import {
  defaultPorts,
  entryOf,
  isKnownBySignature,
  operateProgram,
  partitions,
  type Service,
  services,
  storedServices,
} from '../application/services.ts'
import { filledIn, generated, templateText } from '../application/templates.ts'
import { connectionStrings, kafkaPasswords, variableOf } from '../containers/project.ts'
import { operationNames } from '../kafka/access.ts'
import { type Right, stackRights } from '../kafka/rights.ts'
import { topics } from '../kafka/topics.ts'
import { keptOfSidecars } from '../observe/config.ts'
import {
  daprdFlags,
  maxBodySize,
  sidecarMemory,
  watcherLimits,
  watcherMalloc,
  watcherSettings,
} from '../processes/process/spec.ts'

/**
 * Returns the files of the Helm chart by path. Its templates are the same in every application. They read what follows from services.json
 * from `files/application.json`.
 * @param resources the files of `components/` that the chart contains, by path
 */
export function chartFiles(resources: ReadonlyMap<string, string>): [path: string, text: string][] {
  const templates = readdirSync(templateFile('chart/templates'))
  return [
    [
      'chart/Chart.yaml',
      generated('') + filledIn('chart/Chart.yaml', { name: applicationName, version: packagesVersion }),
    ],
    ['chart/values.yaml', generated('') + valuesFile()],
    ['chart/values.schema.json', valuesSchema()],
    ['chart/files/application.json', json(facts())],
    ...templates.map((name): [string, string] => [`chart/templates/${name}`, templateText(`chart/templates/${name}`)]),
    ...[...resources].map(([path, text]): [string, string] => [`chart/files/${path}`, text]),
  ]
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

function valuesFile(): string {
  const perService = services.map(
    ({ name, replicas, watches }) =>
      `  ${name}:
    replicas: ${replicas}
    resources: { requests: { cpu: 100m, memory: ${watches ? 256 : 192}Mi }, limits: { memory: 1280Mi } }
`,
  )
  return filledIn('chart/values.yaml', {
    name: applicationName,
    registry: 'localhost',
    services: perService.join(''),
    sidecarMemory: sidecarMemory.GOMEMLIMIT,
    partitions: String(partitions.containers),
  })
}

function valuesSchema(): string {
  const schema = JSON.parse(templateText('chart/values.schema.json'))
  schema.properties.services.properties = Object.fromEntries(
    services.map(({ name }) => [name, { $ref: '#/$defs/service' }]),
  )
  schema.properties.rebuild.items.enum = storedServices.map(({ name }) => name)
  return json(schema)
}

/** The ports of each sidecar. They are those of Dapr's injector, so that a service needs no other settings with an injected sidecar. */
const sidecarPorts = { daprHttp: 3500, daprGrpc: 50001, daprInternalGrpc: 50002, daprMetrics: 9090, public: 3501 }

/** The folder into which a pod mounts `components/` and the store's components. */
const componentsFolder = '/components'

function facts(): object {
  const users = Object.groupBy(stackRights, ({ user }) => user) as Record<string, Right[]>
  return {
    partitions: partitions.containers,
    services: Object.fromEntries(services.map((service) => [service.name, serviceFacts(service)])),
    sidecar: {
      image: images.daprd,
      http: sidecarPorts.daprHttp,
      grpc: sidecarPorts.daprGrpc,
      metrics: sidecarPorts.daprMetrics,
      public: sidecarPorts.public,
      maxBodySize,
      keptMetrics: keptOfSidecars,
    },
    setup: ['node', imagePath(programFile('#setup'))],
    rebuild: ['node', operateProgram, 'rebuild', '--when-stopped'],
    exporter: {
      command: ['node', imagePath(programFile('#exporter')), '0.0.0.0', String(defaultPorts.exporter)],
      port: defaultPorts.exporter,
    },
    passwords: {
      services: Object.fromEntries(services.map(({ name }) => [name, entryOf(kafkaPasswords, name)])),
      others: Object.fromEntries(
        Object.entries(kafkaPasswords).filter(([user]) => !services.some(({ name }) => name === user)),
      ),
    },
    connectionStrings,
    operator: storedServices[0]?.name ?? '',
    topics: topics.containers.map(({ name, partitions, configs }) => ({ name, partitions, configs })),
    rights: Object.fromEntries(Object.entries(users).map(([user, rights]) => [user, byResource(rights)])),
  }
}

function serviceFacts(service: Service): object {
  const { name, channel, http, hasStore, watches } = service
  const ports = { ...entryOf(defaultPorts.services, name), ...sidecarPorts }
  const folders = { folders: [componentsFolder], configuration: `${componentsFolder}/configuration.yaml` }
  const flags = [
    ...daprdFlags(name, ports, folders, { metrics: '0.0.0.0' }),
    ['dapr-public-port', String(ports.public)],
  ]
  return {
    ports: { http, channel, metrics: ports.metrics },
    hasStore,
    watches,
    isKnownBySignature: isKnownBySignature(service),
    topics: Object.keys(service.consumes),
    sidecar: flags.map(([flag, value]) => `--${flag}=${value}`),
    ...(watches && watcherFacts()),
  }
}

function watcherFacts(): object {
  const settings = watcherSettings({
    http: ({ name, http }) => `http://${name}:${http}`,
    dryRun: (stored) => {
      const { metrics } = entryOf(defaultPorts.services, stored.name)
      return `http://${stored.name}-metrics:${metrics} $(${variableOf(stored, 'DRY_RUN_TOKEN')})`
    },
  })
  return {
    command: ['node', ...watcherLimits, 'src/main.ts'],
    environment: { ...settings, ...watcherMalloc },
    dryRuns: storedServices.map((one) => ({ name: one.name, variable: variableOf(one, 'DRY_RUN_TOKEN') })),
  }
}

/** Returns one entry for each topic and group. Strimzi uses Kafka's names of operations. */
function byResource(rights: readonly Right[]): object[] {
  const groups = Map.groupBy(rights, ({ resource, name }) => `${resource} ${name}`)
  return [...groups.values()].map((all) => ({
    resource: all[0]?.resource,
    name: all[0]?.name,
    operations: all.map(({ operation }) => operationNames[operation]),
  }))
}
