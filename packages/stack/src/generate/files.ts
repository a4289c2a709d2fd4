import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled, programFile, repository, versions } from '../application/paths.ts'
import {
  application,
  consumerComponents,
  defaultPorts,
  doesConsume,
  entryOf,
  publishingComponent,
  type Service,
  services,
  storedServices,
} from '../application/services.ts'
import { templateText } from '../application/templates.ts'
import { replaceFile } from '../base/files.ts'
import { withValues } from '../base/json.ts'
import { print } from '../base/terminal.ts'
import { brokersFile, postgresqlFile } from '../containers/project.ts'
import { containersConfig, containersJaeger } from '../observe/config.ts'
import { chartFiles } from './chart.ts'
import {
  kafkaFile,
  publishersFile,
  resiliencyFile,
  savingComponentFile,
  scopesOf,
  subscriptionsFile,
} from './components.ts'
import { composeBrokersFile, composeFile, composePostgresqlFile, dockerfile } from './compose.ts'
import { asyncApiFile, bundledSchemas, topicConstants, topicsFile } from './contract.ts'
import { launchFile, runConfigurations } from './editors.ts'
import { alertsFile, dashboardFile } from './objective.ts'

export async function generate(): Promise<void> {
  const types = write(await changedTypes())
  // This process has read the old copies of the schemas.
  if (types.some((path) => path.endsWith('.json'))) {
    execFileSync(process.execPath, [programFile('#generate')], { cwd: repository, stdio: 'inherit' })
    return
  }
  const others = write(changedFiles())
  if (types.length + others.length === 0) print('nothing has changed')
}

type GeneratedFile = readonly [path: string, text: string | undefined]

/** Writes or removes files. Returns their paths. */
function write(files: GeneratedFile[]): string[] {
  for (const [path, text] of files) {
    if (text === undefined) rmSync(join(repository, path))
    else replaceFile(join(repository, path), text)
    print(`${text === undefined ? 'removed' : 'written'}: ${path}`)
  }
  return files.map(([path]) => path)
}

const isChanged = ([path, text]: GeneratedFile) => read(path) !== text

/** Loads the generator of types only here, because it takes a second. */
const changedTypes = async () => (await (await import('./types.ts')).typesAndCopies()).filter(isChanged)

const changedFiles = () => [...generatedFiles()].filter(isChanged)

/** Returns the paths of all files that `generate` would change. */
export async function outdatedFiles(): Promise<string[]> {
  return [...(await changedTypes()), ...changedFiles()].map(([path]) => path)
}

/** Returns the paths of all files that `generate` writes or removes, also of those that are up to date. */
export async function generatedPaths(): Promise<string[]> {
  return [...(await (await import('./types.ts')).typesAndCopies()), ...generatedFiles()].map(([path]) => path)
}

function read(path: string): string | undefined {
  const file = join(repository, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** Returns generated files by path. Undefined means that the file must be removed. */
export function generatedFiles(): Map<string, string | undefined> {
  const changed = (path: string, change: (text: string) => string) =>
    [path, change(readFileSync(join(repository, path), 'utf8'))] as const
  const scoped = (path: string, users: readonly Service[]) => changed(path, (text) => withScopes(text, users))
  const found = readdirSync(join(repository, 'components')).filter((file) => /^subscriptions\..*yaml$/.test(file))
  const files = new Map([
    ...found.map((file) => [`components/${file}`, undefined] as const),
    ...services
      .filter(doesConsume)
      .map((service) => [`components/subscriptions.${service.name}.yaml`, subscriptionsFile(service)] as const),
    ['components/kafka.yaml', kafkaFile()],
    ['components/trust/publishers.json', publishersFile()],
    ['components/resiliency.yaml', resiliencyFile()],
    scoped('components/secretstore.yaml', services),
    ...['mongodb', 'postgresql', 'sqlite'].map((store) =>
      scoped(`components/${store}/statestore.yaml`, storedServices),
    ),
    ['components/postgresql/statestore-save.yaml', savingComponentFile()],
    ['envelope-schema/asyncapi.json', asyncApiFile()],
    ['envelope-schema/topics.gen.ts', topicConstants()],
    ['envelope-schema/topics.json', topicsFile()],
    ...bundledSchemas(),
    ['.node-version', `${versions.node}\n`],
    ['docker-compose.yml', composeFile()],
    ...(isInstalled ? [['Dockerfile', dockerfile()] as const] : []),
    [brokersFile, composeBrokersFile()],
    [postgresqlFile, composePostgresqlFile()],
    ['components/observe/jaeger.yml', containersJaeger()],
    ['components/observe/prometheus.yml', containersConfig()],
    ['components/observe/alerts.yml', alertsFile(templateText('observe/alerts.yml'), application.objective)],
    ['components/observe/dashboard.json', dashboardFile(templateText('observe/dashboard.json'), application.objective)],
    changed('.devcontainer/devcontainer.json', devcontainerFile),
    ['.vscode/launch.json', launchFile(read('.vscode/launch.json'))],
    ...runConfigurations(readIfFolder('.run')),
    ...services.map((service) => changed(`${service.folder}/appsettings.json`, (text) => settingsFile(text, service))),
  ])
  const chart = new Map(chartFiles(chartResources(files)))
  const former = readIfFolder('chart/files/components').filter((path) => !chart.has(path))
  return new Map([...files, ...former.map((path) => [path, undefined] as const), ...chart])
}

/** Returns the paths of a folder's files. */
function readIfFolder(folder: string): string[] {
  return existsSync(join(repository, folder))
    ? readdirSync(join(repository, folder)).map((name) => `${folder}/${name}`)
    : []
}

/** The files of `components/` that a cluster needs. */
const forCluster = /^components\/([\w.-]+\.yaml|(mongodb|postgresql|trust)\/.+|observe\/alerts\.yml)$/

/** Returns these files by their paths in the folder `files` of the chart. */
function chartResources(files: ReadonlyMap<string, string | undefined>): Map<string, string> {
  const byHand = ['components/configuration.yaml', 'components/trust/trust.json']
  const all = [...files, ...byHand.map((path) => [path, readFileSync(join(repository, path), 'utf8')] as const)]
  return new Map(
    all.flatMap(([path, text]) => {
      const isNeeded = text !== undefined && forCluster.test(path)
      return isNeeded ? [[path.replace(/^components\/(?=.+\/)/, ''), text] as const] : []
    }),
  )
}

/** Writes who may load a component. In Kubernetes, every sidecar of the namespace would load it otherwise. */
function withScopes(text: string, users: readonly Service[]): string {
  return `${text.replace(/\nscopes:\n( {2}- .*\n)+$/, '\n')}${scopesOf(users)}`
}

function devcontainerFile(text: string): string {
  const { kafka, jaeger, prometheus } = defaultPorts
  const ports = [...services.flatMap(({ http, https }) => [http, https]), kafka, jaeger, prometheus]
  return withValues(text, [[['forwardPorts'], `[${ports.join(', ')}]`]])
}

/**
 * Writes into appsettings.json what follows from services.json: the ports, the address of Kafka, and the Kafka components. If publishing through a
 * component fails, the service uses the next one (docs/adr/0012).
 */
function settingsFile(text: string, { name, http, https, channel }: Service): string {
  const { daprHttp, daprGrpc, metrics } = entryOf(defaultPorts.services, name)
  return withValues(text, [
    [['Web', 'HttpPort'], String(http)],
    [['Web', 'HttpsPort'], String(https)],
    [['AppChannel', 'Port'], String(channel)],
    [['Metrics', 'Port'], String(metrics)],
    [['Sidecar', 'HttpPort'], String(daprHttp)],
    [['Sidecar', 'GrpcPort'], String(daprGrpc)],
    [['Stream', 'PubSub'], JSON.stringify([publishingComponent, ...consumerComponents].join())],
    [['Stream', 'Brokers'], JSON.stringify(`127.0.0.1:${defaultPorts.kafka}`)],
  ])
}
