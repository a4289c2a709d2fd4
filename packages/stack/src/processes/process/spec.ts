import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { sidecarTraceVariables } from '@orderflow/service-kit/setup'
import { jaegerVariables } from '../../application/jaeger.ts'
import {
  apiKeysFile,
  compileCacheFolder,
  daprdFile,
  isInstalled,
  packagesVersion,
  repository,
  versions,
} from '../../application/paths.ts'
import {
  bracketed,
  brokerPorts,
  entryOf,
  loopbacks,
  type Service,
  type ServicePorts,
  services,
  sidecarOf,
  storedServices,
} from '../../application/services.ts'
import { javaCommand } from '../../base/run-tool.ts'
import { brokerNames } from '../../kafka/broker.ts'
import {
  databaseFile,
  dataFolder,
  jaeger,
  kafkaOf,
  type LocalStore,
  type Plan,
  type ProcessName,
  type ServiceTokens,
} from '../plan.ts'
import { javaLocale, kafkaCommand } from '../servers/kafka.ts'
import { localSidecarUri, postgresqlSpec } from '../servers/postgresql.ts'
import { componentSettings, patientComponents } from './components.ts'
import { type ProcessSpec, processState } from './control.ts'
import { serviceFiles } from './files.ts'

export function processSpecs(plan: Plan): Record<ProcessName, ProcessSpec> {
  const brokers = brokerNames(plan).map((name) => ({
    name,
    command: javaCommand(),
    args: kafkaCommand(plan, name),
    env: javaLocale,
    ports: { ...brokerPorts(plan.ports, name) },
    version: versions.kafka,
  }))
  const database = plan.store === 'postgresql' ? [postgresqlSpec(plan.folder, plan.ports.postgresql)] : []
  const others = services.flatMap((service) => [serviceSpec(plan, service), sidecarSpec(plan, service)])
  return Object.fromEntries([...brokers, ...database, ...others].map((spec) => [spec.name, spec]))
}

/**
 * The heap limits of services, in MiB. Without the first option, a service keeps 300 MB of dead young objects on a large machine. Without
 * the second option, it collects old objects several times a second; 128 MiB would only add garbage. The third option is far above the
 * memory that deliveries need (packages/service-kit/src/stream/consuming/app-channel.ts).
 */
export const heapLimits = ['--max-semi-space-size=16', '--initial-heap-size=96', '--max-old-space-size=1024']

/**
 * The heap limits of a monitor, in MiB. Most of the monitor's data is in threads, which have their own limits
 * (packages/event-monitor/src/index/monitor-index.ts).
 */
export const watcherLimits = ['--max-semi-space-size=2', '--initial-heap-size=24', '--max-old-space-size=512']

/** The size in bytes from which freed buffers return to the system. The default of glibc is 32 MiB (docs/performance.md). */
export const watcherMalloc = { MALLOC_MMAP_THRESHOLD_: '262144' }

/**
 * Makes a sidecar collect garbage when its heap has tripled, instead of doubled, but more often above the limit. Without this limit,
 * deliveries of records of 256 KiB take twice the memory (docs/performance.md).
 */
export const sidecarMemory = { GOGC: '200', GOMEMLIMIT: '512MiB' }

/** Sidecars call each other only on loopback. By default daprd looks for the address of a network, and ends on a machine without one. */
const sidecarAddress = { DAPR_HOST_IP: '127.0.0.1' }

function serviceSpec(plan: Plan, service: Service): ProcessSpec {
  const { name, folder, hasStore, watches } = service
  const { http, https, channel, metrics, daprHttp, daprGrpc } = entryOf(plan.ports.services, name)
  const inspector = plan.inspected.includes(name) ? { inspector: entryOf(plan.ports.inspectors, name) } : {}
  return {
    name,
    command: process.execPath,
    args: [
      ...(watches ? watcherLimits : heapLimits),
      ...Object.values(inspector).flatMap((port) => [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http']),
      join(repository, folder, 'src/main.ts'),
    ],
    env: {
      ...plan.variables,
      // By default glibc has an arena for each thread, which wastes 15 MB in each service.
      MALLOC_ARENA_MAX: '2',
      // Caches compiled code, because stripping types takes 20 MB and a third of the start time.
      NODE_COMPILE_CACHE: compileCacheFolder,
      // Costs 3 MiB and 50 ms. Packages have source maps only if they are installed, and images contain no maps.
      ...(isInstalled && { NODE_OPTIONS: '--enable-source-maps' }),
      ...tokenVariables(entryOf(plan.tokens, name)),
      ...(hasStore && { DryRun__Token: entryOf(plan.tokens, name).dryRun }),
      ...streamVariables(plan, folder),
      ...authVariables(plan.variables),
      ...traceVariables(plan, name),
      Web__HttpPort: String(http),
      Web__HttpsPort: String(https),
      Web__CertificateFile: plan.certificate.certificate,
      Web__KeyFile: plan.certificate.key,
      AppChannel__Port: String(channel),
      Metrics__Port: String(metrics),
      Sidecar__HttpPort: String(daprHttp),
      Sidecar__GrpcPort: String(daprGrpc),
      ...monitorPage(plan),
      ...(watches && watchVariables(plan)),
    },
    ports: { http, https, channel, metrics, ...inspector },
    version: versionOf(plan, service),
    files: serviceFiles(service),
  }
}

/** The next `make up` restarts a service that a debugger can stop, because its version differs. */
const versionOf = ({ inspected }: Plan, { name }: Service) =>
  inspected.includes(name) ? `${packagesVersion} with inspector` : packagesVersion

const componentsOf = ({ folder, inspected }: Plan, { name }: Service) =>
  inspected.includes(name) ? patientComponents(folder) : join(repository, 'components')

/** Returns the variable with the monitor's address, to which services link. Returns no variable if the stack has such a setting. */
function monitorPage({ ports, variables }: Plan): Record<string, string> {
  if (variables.Telemetry__MonitorPage !== undefined) return {}
  const watcher = services.find(({ watches }) => watches)
  return watcher ? { Telemetry__MonitorPage: `http://localhost:${entryOf(ports.services, watcher.name).http}/` } : {}
}

const watchVariables = (plan: Plan): Record<string, string> => ({
  ...watcherMalloc,
  Monitor__Folder: join(dataFolder(plan.folder), 'monitor'),
  ...askVariables(plan),
})

/** Returns the settings with which a process of the plan calls the services. */
export const askVariables = ({ ports, tokens }: Plan): Record<string, string> =>
  watcherSettings({
    http: ({ name }) => `http://127.0.0.1:${entryOf(ports.services, name).http}`,
    dryRun: ({ name }) => `http://127.0.0.1:${entryOf(ports.services, name).metrics} ${entryOf(tokens, name).dryRun}`,
  })

/**
 * Returns the settings with which a monitor calls the other services.
 * @param of `http` returns the address of a service. `dryRun` returns the address of its port for metrics, a space, and its token for dry runs
 */
export function watcherSettings(of: Record<'http' | 'dryRun', (service: Service) => string>): Record<string, string> {
  const each = (asked: readonly Service[], textOf: (service: Service) => string) =>
    asked.map((one) => `${one.name}=${textOf(one)}`).join()
  return { Monitor__Addresses: each(services, of.http), Monitor__DryRuns: each(storedServices, of.dryRun) }
}

/** Returns the settings for the authentication of callers. If it is on, the keys of `./orderflow api-key` are valid, too. */
function authVariables({
  Auth__Mode: mode,
  Auth__ApiKeys: keys = apiKeysFile,
}: Plan['variables']): Record<string, string> {
  return mode === 'closed' ? { Auth__ApiKeys: keys } : {}
}

function sidecarSpec(plan: Plan, service: Service): ProcessSpec {
  const ports = entryOf(plan.ports.services, service.name)
  return {
    name: sidecarOf(service),
    command: daprdFile(),
    // The path is relative to the repository, because daprd splits paths at commas.
    args: daprdArguments(service, ports, plan.store, relative(repository, componentsOf(plan, service))),
    env: {
      ...plan.variables,
      ...sidecarMemory,
      ...sidecarAddress,
      ...componentSettings(join(repository, service.folder), plan.variables),
      ...tokenVariables(entryOf(plan.tokens, service.name)),
      ...streamVariables(plan, service.folder),
      ...traceVariables(plan, sidecarOf(service)),
      ...(service.hasStore && { State__ConnectionString: connectionString(plan, service) }),
    },
    ports: {
      http: ports.daprHttp,
      grpc: ports.daprGrpc,
      'internal grpc': ports.daprInternalGrpc,
      metrics: ports.daprMetrics,
    },
    // Not the version of Dapr, because a sidecar also reads generated files, which may differ between versions of the packages.
    version: versionOf(plan, service),
    files: sidecarFiles(service, plan.store),
  }
}

/** Returns the files that a sidecar reads when it starts, or that have its settings, relative to the repository. */
function sidecarFiles(service: Service, store: LocalStore): string[] {
  const { folders } = resourcesOf('components', service, store)
  const components = folders.flatMap((folder) => globSync(`${folder}/*.yaml`, { cwd: repository }).sort())
  return [`${service.folder}/appsettings.json`, ...components]
}

function connectionString({ folder, store, ports }: Plan, service: Service): string {
  if (store === 'postgresql') return localSidecarUri(folder, ports.postgresql, service.name)
  // SQLite reads the path of a file as a part of a URL.
  return databaseFile(folder, service).replaceAll(/[%?#]/g, encodeURIComponent)
}

/** Returns the settings of Kafka, which a service needs for its readiness check. Only the sidecar gets the settings of the store. */
function streamVariables(plan: Plan, folder: string): Record<string, string> {
  const settings = componentSettings(join(repository, folder), plan.variables)
  const stream = Object.entries(settings).filter(([name]) => name.startsWith('Stream__'))
  return { ...Object.fromEntries(stream), Stream__Brokers: kafkaOf(plan).bootstrapBrokers.join() }
}

function tokenVariables({ app, dapr }: ServiceTokens): Record<string, string> {
  return { APP_API_TOKEN: app, DAPR_API_TOKEN: dapr }
}

export function daprdArguments(
  service: Pick<Service, 'name' | 'hasStore'>,
  ports: ServicePorts,
  store: LocalStore,
  components = join(repository, 'components'),
): string[] {
  const resources = resourcesOf(components, service, store)
  const api = loopbacks().map(bracketed).join()
  return daprdFlags(service.name, ports, resources, { api }).flatMap(([flag, value]) => [`--${flag}`, value])
}

/** The largest message of a sidecar. Full batches exceed the default of 4Mi. */
export const maxBodySize = '16Mi'

/** Returns what daprd reads: the folder `components`, and the folder in it for the store, because daprd reads no subfolders (docs/stores.md). */
export function resourcesOf(
  components: string,
  { hasStore }: Pick<Service, 'hasStore'>,
  store: 'sqlite' | 'mongodb' | 'postgresql',
) {
  return {
    folders: [components, ...(hasStore ? [`${components}/${store}`] : [])],
    configuration: `${components}/configuration.yaml`,
  }
}

/**
 * Returns the flags of a sidecar. Without listen addresses daprd would open metrics and internal gRPC on every interface.
 * @param addresses `api` contains one or more addresses, separated by commas; `metrics` is the address for Prometheus
 */
export function daprdFlags(
  appId: string,
  ports: ServicePorts,
  resources: ReturnType<typeof resourcesOf>,
  { api = '127.0.0.1', metrics = '127.0.0.1' } = {},
): [flag: string, value: string][] {
  return [
    ['app-id', appId],
    ['app-port', String(ports.channel)],
    ['app-protocol', 'http'],
    ['dapr-http-port', String(ports.daprHttp)],
    ['dapr-grpc-port', String(ports.daprGrpc)],
    ['dapr-internal-grpc-port', String(ports.daprInternalGrpc)],
    ['metrics-port', String(ports.daprMetrics)],
    ['dapr-listen-addresses', api],
    ['dapr-internal-grpc-listen-address', '127.0.0.1'],
    ['metrics-listen-address', metrics],
    ...resources.folders.map((folder): [string, string] => ['resources-path', folder]),
    ['config', resources.configuration],
    ['max-body-size', maxBodySize],
  ]
}

/** Returns the variables for traces. By default traces go to the stack's Jaeger, if it runs. */
function traceVariables({ folder, ports, variables: own }: Plan, name: string): Record<string, string> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: elsewhere, OTEL_TRACES_SAMPLER: sampler } = own
  if (elsewhere) return { OTEL_SERVICE_NAME: name, ...sidecarTraceVariables(own) }
  if (processState(folder, jaeger).state !== 'running') return {}
  const variables = { ...jaegerVariables('127.0.0.1', ports), OTEL_SERVICE_NAME: name }
  return sampler ? { ...variables, OTEL_TRACES_SAMPLER: sampler } : variables
}
