import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresqlFile } from '../containers/project.ts'
import { replaceFile } from '../lib/files.ts'
import { cliFolder, isInstalled, programFile, repository, versions } from '../lib/paths.ts'
import { defaultPorts } from '../lib/ports.ts'
import {
  application,
  consumerComponents,
  doesConsume,
  entryOf,
  publishingComponent,
  type Service,
  services,
} from '../lib/services.ts'
import { print } from '../lib/terminal.ts'
import { containersConfig, containersJaeger } from '../observe/config.ts'
import { kafkaFile, publishersFile, resiliencyFile, savingComponentFile, subscriptionsFile } from './components.ts'
import { composeFile, composePostgresqlFile, dockerfile } from './compose.ts'
import { asyncApiFile, bundledSchemas, topicConstants, topicsFile } from './contract.ts'
import { alertsFile, dashboardFile } from './objective.ts'

export function generate(): void {
  const types = generateTypes()
  if (types !== '') print(types)
  // This process has read the old copy of the envelope schemas.
  if (types.includes('schemas/common.json')) {
    execFileSync(process.execPath, [programFile('#cli'), 'generate'], { cwd: repository, stdio: 'inherit' })
    return
  }
  const changed = changedFiles()
  for (const [path, text] of changed) {
    if (text === undefined) rmSync(join(repository, path))
    else replaceFile(join(repository, path), text)
    print(`${text === undefined ? 'removed' : 'written'}: ${path}`)
  }
  if (changed.length === 0 && types === '') print('nothing has changed')
}

/** Returns the generated files that differ from their new text, except those of `generateTypes`. */
const changedFiles = () => [...generatedFiles()].filter(([path, text]) => read(path) !== text)

/** Returns the paths of all files that `generate` would change. */
export async function outdatedFiles(): Promise<string[]> {
  const { generatedFiles: typesAndCopies } = await import('@orderflow/envelope/generate-types')
  const others = (await typesAndCopies()).map(
    ([file, text]) => [relative(repository, fileURLToPath(file)), text] as const,
  )
  return [...others.filter(([path, text]) => read(path) !== text), ...changedFiles()].map(([path]) => path)
}

function generateTypes(): string {
  const script = programFile('@orderflow/envelope/generate-types')
  return execFileSync(process.execPath, [script], { cwd: repository, encoding: 'utf8' }).trim()
}

function read(path: string): string | undefined {
  const file = join(repository, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** Returns a file of this package. */
const template = (name: string) => readFileSync(join(cliFolder, name), 'utf8')

/** Returns generated files by path. Undefined means that the file must be removed. */
export function generatedFiles(): Map<string, string | undefined> {
  const changed = (path: string, change: (text: string) => string) =>
    [path, change(readFileSync(join(repository, path), 'utf8'))] as const
  const found = readdirSync(join(repository, 'components')).filter((file) => /^subscriptions\..*yaml$/.test(file))
  return new Map([
    ...found.map((file) => [`components/${file}`, undefined] as const),
    ...services
      .filter(doesConsume)
      .map((service) => [`components/subscriptions.${service.name}.yaml`, subscriptionsFile(service)] as const),
    ['components/kafka.yaml', kafkaFile()],
    ['components/trust/publishers.json', publishersFile()],
    ['components/resiliency.yaml', resiliencyFile()],
    ['components/postgresql/statestore-save.yaml', savingComponentFile()],
    ['envelope-schema/asyncapi.json', asyncApiFile()],
    ['envelope-schema/topics.gen.ts', topicConstants()],
    ['envelope-schema/topics.json', topicsFile()],
    ...bundledSchemas(),
    ['.node-version', `${versions.node}\n`],
    ['docker-compose.yml', composeFile()],
    ...(isInstalled ? [['Dockerfile', dockerfile()] as const] : []),
    [postgresqlFile, composePostgresqlFile()],
    ['components/observe/jaeger.yml', containersJaeger()],
    ['components/observe/prometheus.yml', containersConfig()],
    ['components/observe/alerts.yml', alertsFile(template('observe/alerts.yml'), application.objective)],
    ['components/observe/dashboard.json', dashboardFile(template('observe/dashboard.json'), application.objective)],
    changed('.devcontainer/devcontainer.json', devcontainerFile),
    ...services.map((service) => changed(`${service.folder}/appsettings.json`, (text) => settingsFile(text, service))),
  ])
}

function devcontainerFile(text: string): string {
  const { kafka, jaeger, prometheus } = defaultPorts
  const ports = [...services.flatMap(({ http, https }) => [http, https]), kafka, jaeger, prometheus]
  return text.replace(/"forwardPorts": \[.*?\]/, `"forwardPorts": [${ports.join(', ')}]`)
}

/**
 * Writes into appsettings.json what follows from services.json: the ports, the address of Kafka, and the Kafka components. If publishing through a
 * component fails, the service uses the next one (docs/adr/0012).
 */
function settingsFile(text: string, { name, http, https, channel }: Service): string {
  const { daprHttp, daprGrpc, metrics } = entryOf(defaultPorts.services, name)
  const values: [section: string, key: string, value: number | string][] = [
    ['Web', 'HttpPort', http],
    ['Web', 'HttpsPort', https],
    ['AppChannel', 'Port', channel],
    ['Metrics', 'Port', metrics],
    ['Sidecar', 'HttpPort', daprHttp],
    ['Sidecar', 'GrpcPort', daprGrpc],
    ['Stream', 'PubSub', [publishingComponent, ...consumerComponents].join()],
    ['Stream', 'Brokers', `127.0.0.1:${defaultPorts.kafka}`],
  ]
  return values.reduce((changed, [section, key, value]) => {
    const setting = new RegExp(`("${section}": \\{[^}]*?"${key}": )("[^"]*"|\\d+)`)
    return changed.replace(setting, (_, before: string) => before + JSON.stringify(value))
  }, text)
}
