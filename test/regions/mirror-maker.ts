import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { extentsOf, openLog, withAdmin } from '@orderflow/kafka-log'
import { mirrorMakerTool } from '@orderflow/programs'
import type { KafkaConnection } from '@orderflow/stack'
import { eventually, repository } from '@orderflow/stack/base'
import {
  brokerMachine,
  javaCommand,
  kafkaJarsFolder,
  kafkaOf,
  type Plan,
  processState,
  provisionTools,
  signalGroup,
  startProcess,
  stopProcess,
} from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'

const name = 'mirror-maker'
const stopMs = 20_000
const copyMs = 120_000

/** A region, and its alias in the properties of MirrorMaker. */
export interface Side {
  alias: 'a' | 'b'
  plan: Plan
}

export interface MirrorMaker {
  /** Waits until the target lacks at most `missing` records, by default none. If it must have all records, stop the publishers first. */
  copied: (missing?: number) => Promise<void>
  /** Suspends the process, so that it copies nothing from now on. */
  freeze: () => void
  /** Kills the process, even if it is frozen. */
  kill: () => Promise<void>
  stop: () => Promise<void>
}

/** Returns the properties of the operator's guide, for a copy in this direction. */
function propertiesOf(from: Side, to: Side): string {
  const guide = readFileSync(join(repository, 'docs/operations.md'), 'utf8')
  const [, text = ''] = /```properties\n(clusters = a, b\n.*?)```/s.exec(guide) ?? []
  const addresses = [from, to].map(
    ({ alias, plan }) => `${alias}.bootstrap.servers = ${kafkaOf(plan).bootstrapBrokers}\n`,
  )
  const single = [
    '',
    'checkpoints.topic.',
    'offset-syncs.topic.',
    'heartbeats.topic.',
    'offset.storage.',
    'status.storage.',
    'config.storage.',
  ]
  return [
    text
      .replace(/^[ab]\.bootstrap\.servers.*\n/gm, '')
      .replaceAll('a->b', `${from.alias}->${to.alias}`)
      .replace(/\bb\.(?=\w)/g, `${to.alias}.`),
    ...addresses,
    // The clusters of this test have one broker.
    ...single.map((prefix) => `${prefix}replication.factor = 1\n`),
  ].join('')
}

/**
 * Starts MirrorMaker 2 next to the target.
 * @param changes properties that replace those of the guide
 */
export async function startMirrorMaker(
  from: Side,
  to: Side,
  changes: Record<string, string> = {},
): Promise<MirrorMaker> {
  const { folder } = to.plan
  const tool = mirrorMakerTool()
  await provisionTools([tool], { onProgress: () => {} })
  const file = join(folder, `${name}.properties`)
  const changed = Object.entries(changes).map(([key, value]) => `${key} = ${value}\n`)
  writeFileSync(file, propertiesOf(from, to) + changed.join(''))
  const logging = `-Dlog4j2.configurationFile=${join(repository, 'packages/stack/templates/kafka/log4j2.properties')}`
  const classes = [kafkaJarsFolder(), tool.folder].map((jars) => join(jars, '*')).join(':')
  const main = 'org.apache.kafka.connect.mirror.MirrorMaker'
  const args = [...brokerMachine, logging, '-Xmx256m', '-cp', classes, main, file]
  const group = startProcess(folder, { name, command: javaCommand(), args, env: {}, ports: {} })

  const copied = (most = 0) =>
    eventually(
      async () => {
        const { state } = processState(folder, name)
        if (state !== 'running') throw new Error(`MirrorMaker ended: ${folder}/logs/${name}.log`)
        return (await uncopied(from, kafkaOf(to.plan))) <= most
      },
      `MirrorMaker to copy ${from.alias} to ${to.alias}`,
      copyMs,
    )
  const stop = async (graceMs: number) => void (await stopProcess(folder, name, graceMs))
  return {
    copied: async (most) => void (await copied(most)),
    freeze: () => signalGroup(group, 'SIGSTOP'),
    kill: () => stop(0),
    stop: () => stop(stopMs),
  }
}

type OffsetKey = [connector: string, of: { topic: string; partition: number }]

/** Returns the number of records that the target lacks, by the offsets that MirrorMaker stores in the target. */
async function uncopied(from: Side, target: KafkaConnection): Promise<number> {
  const topic = `mm2-offsets.${from.alias}.internal`
  const names = topics.processes.map((each) => each.name)
  const extents = await withAdmin(kafkaOf(from.plan), (admin) => extentsOf(admin, names))
  const next = new Map<string, bigint>()
  const log = openLog(target)
  try {
    if (!(await log.topics()).includes(topic)) return Number.POSITIVE_INFINITY
    for await (const records of log.read(topic, await log.spans(topic))) {
      for (const { key, value } of records) {
        const [connector, { topic: copied, partition }] = JSON.parse(String(key)) as OffsetKey
        // The positions of consumer groups are in the same topic.
        if (connector !== 'MirrorSourceConnector') continue
        next.set(`${copied}/${partition}`, BigInt((JSON.parse(String(value)) as { offset: number }).offset) + 1n)
      }
    }
  } finally {
    await log.close()
  }
  const lacking = extents.map(({ topic: of, partition, start, end }) =>
    Number(end - (next.get(`${of}/${partition}`) ?? start)),
  )
  return lacking.reduce((sum, count) => sum + Math.max(count, 0), 0)
}
