import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brokerHeap, brokerMachine, brokerRules, brokerSettings } from '../kafka/broker.ts'
import { localKafka } from '../kafka/connection.ts'
import { kafkaMissing } from '../kafka/readiness.ts'
import { CliError } from '../lib/error.ts'
import { replaceFile } from '../lib/files.ts'
import { classArchiveFile, cliFolder, kafkaJarsFolder } from '../lib/paths.ts'
import { eventually } from '../lib/poll.ts'
import type { StackPorts } from '../lib/ports.ts'
import { bracketed, loopbacks } from '../lib/ports.ts'
import { javaCommand } from '../lib/run-tool.ts'
import { dataFolder, type Plan } from './plan.ts'

export function kafkaCommand(plan: Plan): string[] {
  return brokerCommand(plan, sharedClasses())
}

function sharedClasses(): string[] {
  const archive = classArchiveFile()
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : []
}

function brokerCommand(plan: Plan, more: string[] = []): string[] {
  return [...javaArguments([brokerHeap, ...more]), 'kafka.Kafka', propertiesFile(plan.folder)]
}

function javaArguments(more: string[]): string[] {
  const logging = `-Dlog4j2.configurationFile=${join(cliFolder, 'kafka/log4j2.properties')}`
  return [...brokerMachine, logging, ...more, '-cp', join(kafkaJarsFolder(), '*')]
}

function propertiesFile(folder: string): string {
  return join(dataFolder(folder), 'kafka.properties')
}

/**
 * Writes the properties, and formats the broker's log folder once. Formats a temporary folder first, so an interrupted run leaves no incomplete one.
 */
export async function prepareKafka(plan: Plan): Promise<void> {
  const logs = join(dataFolder(plan.folder), 'kafka')
  mkdirSync(dataFolder(plan.folder), { recursive: true })
  if (!existsSync(logs)) {
    const temporary = `${logs}.new`
    rmSync(temporary, { recursive: true, force: true })
    replaceFile(propertiesFile(plan.folder), propertiesText(brokerProperties(plan.ports, temporary)))
    await format(propertiesFile(plan.folder))
    renameSync(temporary, logs)
  }
  replaceFile(propertiesFile(plan.folder), propertiesText(brokerProperties(plan.ports, logs)))
  if (!existsSync(classArchiveFile())) await archiveClasses(plan)
}

/** Starts the broker once to archive its loaded and verified classes. The archive nearly halves the processor time of a start. */
async function archiveClasses(plan: Plan): Promise<void> {
  const unfinished = `${classArchiveFile()}.${process.pid}`
  const broker = spawn(javaCommand(), brokerCommand(plan, [`-XX:ArchiveClassesAtExit=${unfinished}`]), {
    stdio: 'ignore',
  })
  const ended = once(broker, 'exit')
  try {
    await eventually(
      () => broker.exitCode !== null || kafkaMissing(localKafka(plan.ports.kafka)).then((missing) => !missing),
      'Kafka to start',
    )
  } finally {
    broker.kill()
    await ended
  }
  if (existsSync(unfinished)) renameSync(unfinished, classArchiveFile())
}

async function format(properties: string): Promise<void> {
  const clusterId = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url')
  // An id may begin with a dash, so option and id are one argument.
  const storageTool = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', properties]
  try {
    await promisify(execFile)(javaCommand(), [...javaArguments(['-Xmx128m', ...sharedClasses()]), ...storageTool])
  } catch (cause) {
    const { stderr = '', stdout = '' } = cause as { stderr?: string; stdout?: string }
    throw new CliError('process-died', `cannot format Kafka's log folder:\n${stdout}${stderr}`, { cause })
  }
}

/** Returns the properties of a broker that is its own controller (KRaft), on loopback only. */
function brokerProperties({ kafka, kafkaController }: StackPorts, logs: string) {
  // Each address has a listener, so that a client gets back the address that it used.
  const clients = Object.fromEntries(
    loopbacks().map((address) => [address === '::1' ? 'PLAINTEXT6' : 'PLAINTEXT', `${bracketed(address)}:${kafka}`]),
  )
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${kafkaController}`,
    listeners: Object.entries({ ...clients, CONTROLLER: `127.0.0.1:${kafkaController}` })
      .map(([name, address]) => `${name}://${address}`)
      .join(),
    'listener.security.protocol.map': [...Object.keys(clients), 'CONTROLLER'].map((name) => `${name}:PLAINTEXT`).join(),
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': logs,
    ...brokerRules,
    ...brokerSettings,
  }
}

function propertiesText(properties: Record<string, string | number | boolean>): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${String(value).replaceAll('\\', '\\\\')}\n`)
    .join('')
}
