import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StackError } from '../lib/error.ts'
import { kafkaJarsFolder, repository } from '../lib/paths.ts'
import { javaCommand } from '../processes/java.ts'
import { dataFolder, type Plan } from '../processes/plan.ts'
import type { StackPorts } from '../processes/ports.ts'

/** Arguments of java for the broker. The heap is Kafka's need at this size, measured; its own default is 1 GB. */
export function kafkaCommand(plan: Plan): string[] {
  return [...javaArguments('-Xmx512m'), 'kafka.Kafka', propertiesFile(plan.folder)]
}

/** A broker for one machine: what the second compiler and a parallel collector take in its first minutes, the rest has not. */
const virtualMachine = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Djava.awt.headless=true']

function javaArguments(...more: string[]): string[] {
  const logging = `-Dlog4j2.configurationFile=${join(repository, 'stack/kafka/log4j2.properties')}`
  return [...virtualMachine, logging, ...more, '-cp', join(kafkaJarsFolder(), '*')]
}

function propertiesFile(folder: string): string {
  return join(dataFolder(folder), 'kafka.properties')
}

/** Writes the broker's properties and, once, formats its log folder (in a temporary place: half a format must not count). */
export async function prepareKafka(plan: Plan): Promise<void> {
  const logs = join(dataFolder(plan.folder), 'kafka')
  mkdirSync(dataFolder(plan.folder), { recursive: true })
  if (!existsSync(logs)) {
    const temporary = `${logs}.new`
    rmSync(temporary, { recursive: true, force: true })
    writeFileSync(propertiesFile(plan.folder), propertiesText(brokerProperties(plan.ports, temporary)))
    await format(propertiesFile(plan.folder))
    renameSync(temporary, logs)
  }
  writeFileSync(propertiesFile(plan.folder), propertiesText(brokerProperties(plan.ports, logs)))
}

async function format(properties: string): Promise<void> {
  const clusterId = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url')
  // With '=', since an id may begin with a dash.
  const storageTool = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', properties]
  try {
    await promisify(execFile)(javaCommand(), [...javaArguments('-Xmx128m'), ...storageTool])
  } catch (cause) {
    const { stderr = '', stdout = '' } = cause as { stderr?: string; stdout?: string }
    throw new StackError('process-died', `Kafka's log folder could not be formatted:\n${stdout}${stderr}`, { cause })
  }
}

/** One broker that is its own controller (KRaft), on loopback only. */
export function brokerProperties(ports: StackPorts, logs: string): Record<string, string | number | boolean> {
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${ports.kafkaController}`,
    listeners: `PLAINTEXT://127.0.0.1:${ports.kafka},CONTROLLER://127.0.0.1:${ports.kafkaController}`,
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': logs,
    // Topics are created with their partitions and limits by the stack, never by a misspelt name.
    'auto.create.topics.enable': false,
    'log.retention.ms': -1,
    // A killed sidecar's partitions move after components/kafka.yaml's sessionTimeout, and the first member does not wait.
    'group.min.session.timeout.ms': 2000,
    'group.initial.rebalance.delay.ms': 0,
    // A broker that was killed cannot register again before its last session ends; the default is 9 s.
    'broker.session.timeout.ms': 1500,
    'broker.heartbeat.interval.ms': 300,
    // One broker: nothing to replicate to, and fifty partitions of offsets only slow the start.
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
  }
}

function propertiesText(properties: Record<string, string | number | boolean>): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${String(value).replaceAll('\\', '\\\\')}\n`)
    .join('')
}
