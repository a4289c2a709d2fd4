import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { classArchiveFile, kafkaJarsFolder, repository, templateFile } from '../../application/paths.ts'
import { bracketed, brokerPorts, entryOf, loopbacks } from '../../application/services.ts'
import { changeStack, type KafkaCluster, readStack } from '../../application/stack-record.ts'
import { CliError } from '../../base/error.ts'
import { replaceFile } from '../../base/files.ts'
import { eventually, javaCommand, runTool } from '../../base/run-tool.ts'
import {
  brokerHeap,
  brokerMachine,
  brokerNames,
  brokerRules,
  brokerSettings,
  controllerSecurity,
  replicationSettings,
} from '../../kafka/broker.ts'
import { localKafka } from '../../kafka/connection.ts'
import { logLost } from '../../kafka/lost-log.ts'
import { kafkaMissing } from '../../kafka/readiness.ts'
import { dataFolder, type Plan, type ProcessName, stackPassword } from '../plan.ts'
import { processState, startProcess, stopProcess } from '../process/control.ts'

/** In the locale C or POSIX, Java opens only paths in ASCII. */
export const javaLocale = { LC_ALL: 'C.UTF-8' }

export function kafkaCommand(plan: Plan, name: ProcessName): string[] {
  return brokerCommand(propertiesFile(plan.folder, name), sharedClasses())
}

function sharedClasses(): string[] {
  const archive = classArchiveFile()
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : []
}

function brokerCommand(properties: string, more: string[] = []): string[] {
  return [...javaArguments([brokerHeap, ...more]), 'kafka.Kafka', properties]
}

function javaArguments(more: string[]): string[] {
  const logging = `-Dlog4j2.configurationFile=${templateFile('kafka/log4j2.properties')}`
  return [...brokerMachine, logging, ...more, '-cp', join(kafkaJarsFolder(), '*')]
}

const propertiesFile = (folder: string, name: ProcessName): string => join(dataFolder(folder), `${name}.properties`)

/**
 * Writes the properties of a broker, and formats its log folder if it is missing. Formats a temporary folder first, so an interrupted run leaves no
 * incomplete one.
 * @throws {CliError} `data-lost` if too few log folders are left to recover the log
 */
export async function prepareKafka(plan: Plan, name: ProcessName = 'kafka'): Promise<void> {
  const file = propertiesFile(plan.folder, name)
  const logs = join(dataFolder(plan.folder), name)
  mkdirSync(dataFolder(plan.folder), { recursive: true })
  if (!existsSync(logs)) {
    requireLog(plan)
    const temporary = `${logs}.new`
    rmSync(temporary, { recursive: true, force: true })
    replaceFile(file, propertiesText(brokerProperties(plan, name, temporary)), 0o600)
    await format(file, formatOptions(plan, name))
    renameSync(temporary, logs)
  }
  recordMember(plan, name)
  replaceFile(file, propertiesText(brokerProperties(plan, name, logs)), 0o600)
  // A broker of three does not answer alone.
  if (plan.brokers === 1 && !existsSync(classArchiveFile())) await archiveClasses(plan)
}

/** The longest time for writing the archive at the end of the broker, in milliseconds. */
const archiveTimeoutMs = 60_000

/** Starts the broker once to archive its loaded and verified classes. The archive nearly halves the processor time of a start. */
async function archiveClasses({ folder, ports }: Plan): Promise<void> {
  const unfinished = `${classArchiveFile()}.${process.pid}`
  const args = brokerCommand(propertiesFile(folder, 'kafka'), [`-XX:ArchiveClassesAtExit=${unfinished}`])
  const kafka = localKafka(ports.kafka)
  // A process of the stack, so that make down finds it after a kill of this command.
  startProcess(folder, { name: 'kafka', command: javaCommand(), args, env: javaLocale, ports: {} })
  try {
    await eventually(
      () => processState(folder, 'kafka').state !== 'running' || kafkaMissing(kafka).then((missing) => !missing),
      'Kafka to start',
    )
  } finally {
    await stopProcess(folder, 'kafka', archiveTimeoutMs)
  }
  if (existsSync(unfinished)) renameSync(unfinished, classArchiveFile())
}

async function format(properties: string, options: string[]): Promise<void> {
  const java = javaArguments(['-Xmx128m', ...sharedClasses()])
  const args = [...java, 'kafka.tools.StorageTool', 'format', '-c', properties, ...options]
  // All programs of Kafka run in the repository, because its path may contain a comma, which separates folders in `log.dirs`.
  await runTool(javaCommand(), args, { cwd: repository, env: javaLocale }).catch((cause: Error) => {
    throw new CliError('process-died', `cannot format Kafka's log folder: ${cause.message}`, { cause })
  })
}

/** Returns the cluster of the stack, which the first call creates. */
function clusterOf(plan: Plan): KafkaCluster {
  const { cluster } = readStack(plan.folder)
  if (cluster) return cluster
  const directories = Object.fromEntries(brokerNames(plan).map((name) => [name, newId()]))
  const created = { clusterId: formattedId(plan) ?? newId(), directories, formatted: [] }
  changeStack(plan.folder, { cluster: created })
  return created
}

/** Returns the id of a cluster that an earlier version formatted without a record. */
function formattedId({ folder }: Plan): string | undefined {
  const file = join(dataFolder(folder), 'kafka', 'meta.properties')
  return existsSync(file) ? /^cluster\.id=(.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined
}

function recordMember(plan: Plan, name: ProcessName): void {
  const cluster = clusterOf(plan)
  if (cluster.formatted.includes(name)) return
  changeStack(plan.folder, { cluster: { ...cluster, formatted: [...cluster.formatted, name] } })
}

/** Returns the brokers whose log folder is missing, although they have had one. */
export function lostBrokers({ folder }: Pick<Plan, 'folder'>): ProcessName[] {
  const { formatted = [] } = readStack(folder).cluster ?? {}
  return formatted.filter((name) => !existsSync(join(dataFolder(folder), name)))
}

/**
 * Checks that a majority of the brokers has its log folder. Otherwise the brokers would start an empty log, or wait for a quorum for ever.
 * @throws {CliError} `data-lost`
 */
export function requireLog(plan: Plan): void {
  const lost = lostBrokers(plan)
  if (lost.length * 2 > plan.brokers) throw logLost(lost.map((name) => join(dataFolder(plan.folder), name)))
}

/** Returns a random id in the form of Kafka. It may begin with a dash, so option and id must be one argument. */
const newId = () => Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url')

/**
 * Returns the options that format a log folder. A broker that lost its folder is a new controller for the others, which add it to the quorum
 * themselves (`controller.quorum.auto.join.enable`).
 */
function formatOptions(plan: Plan, name: ProcessName): string[] {
  const { clusterId, directories, formatted } = clusterOf(plan)
  const id = `--cluster-id=${clusterId}`
  if (plan.brokers === 1) return [id]
  if (formatted.includes(name)) return [id, '--no-initial-controllers']
  const controllers = brokerNames(plan).map((each, index) => {
    return `${index + 1}@${controllerAddress(plan, each)}:${entryOf(directories, each)}`
  })
  return [id, `--initial-controllers=${controllers.join()}`]
}

const controllerAddress = ({ ports }: Plan, name: ProcessName) => `127.0.0.1:${brokerPorts(ports, name).controller}`

/** Returns the properties of a broker that is also a controller (KRaft), on loopback only. */
function brokerProperties(plan: Plan, name: ProcessName, logs: string) {
  const { broker } = brokerPorts(plan.ports, name)
  const names = brokerNames(plan)
  const number = names.indexOf(name) + 1
  const controllers = names.map((each) => controllerAddress(plan, each))
  // Each address has a listener, so that a client gets back the address that it used.
  const clients = Object.fromEntries(
    loopbacks().map((address) => [address === '::1' ? 'PLAINTEXT6' : 'PLAINTEXT', `${bracketed(address)}:${broker}`]),
  )
  return {
    'process.roles': 'broker,controller',
    'node.id': number,
    ...(plan.brokers === 1
      ? { 'controller.quorum.voters': `1@${controllers[0]}` }
      : { 'controller.quorum.bootstrap.servers': controllers.join(), 'broker.rack': `rack-${number}` }),
    listeners: Object.entries({ ...clients, CONTROLLER: controllerAddress(plan, name) })
      .map(([name, address]) => `${name}://${address}`)
      .join(),
    'listener.security.protocol.map': [
      ...Object.keys(clients).map((name) => `${name}:PLAINTEXT`),
      `CONTROLLER:${plan.brokers === 1 ? 'PLAINTEXT' : 'SASL_PLAINTEXT'}`,
    ].join(),
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': relative(repository, logs),
    ...brokerRules,
    ...brokerSettings,
    ...(plan.brokers > 1 && { ...replicationSettings, ...controllerSecurity(stackPassword(plan.folder, 'kafka')) }),
  }
}

/** Returns the text of a properties file, which Java reads as Latin-1. */
export function propertiesText(properties: Record<string, string | number | boolean>): string {
  const escaped = (value: string) =>
    value
      .replaceAll('\\', '\\\\')
      .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${escaped(String(value))}\n`)
    .join('')
}
