import { rmSync } from 'node:fs'
import { extentsOf, positionsOf, withAdmin } from '@orderflow/kafka-log'
import { freePorts, type KafkaConnection, type LocalStack, services, sidecarOf, startStack } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import {
  claimFolder,
  createPlan,
  dataFolder,
  ensureRunning,
  groupEnds,
  kafkaOf,
  makeActive,
  makePassive,
  type Plan,
  processState,
  recordedNames,
  releaseFolder,
  removeStack,
  signalGroup,
  stopProcess,
  stopStack,
} from '@orderflow/stack/internals'
import { provision } from '@orderflow/stack/machine'
import { consumedTopics, topics } from '@orderflow/stack/operate'
import { Producer } from '@platformatic/kafka'
import type { Side } from './mirror-maker.ts'

const quiet = { onProgress: () => {} }
/** The default of `./orderflow region active`. */
const backMs = 10 * 60_000

export interface Region extends Side {
  plan: Plan
  /** Starts Kafka with its old data. Services stay stopped. */
  startKafka: () => Promise<void>
  /** Prepares an empty or active Kafka for MirrorMaker. */
  makePassive: () => Promise<void>
  /** Gives the next record of each partition another offset than in an empty log. */
  moveOffsets: () => Promise<void>
  positions: () => ReturnType<typeof positionsOf>
  /** Starts all services. */
  start: () => Promise<LocalStack>
  /** Starts all services of a passive region, after a rebuild of their stores. Returns the time of each step. */
  promote: () => Promise<LocalStack>
  stopServices: () => Promise<void>
  /** Kills all processes at the same time. */
  kill: () => Promise<void>
  /** Stops Kafka, and deletes all data. */
  clean: () => Promise<void>
  release: () => Promise<void>
}

export async function openRegion(alias: Side['alias']): Promise<Region> {
  await provision(quiet)
  const folder = testFolder(`region-${alias}`)
  await claimFolder(folder)
  const ports = await freePorts()
  const servers = { store: 'sqlite', brokers: 1 } as const
  const plan = await createPlan(folder, ports, servers)
  // The folder is already claimed. A detached stack keeps the data in it.
  const start = (rebuild: boolean) => startStack({ folder, ports, servers, rebuild, detached: true })
  return {
    alias,
    plan,
    startKafka: () => ensureRunning(plan, ['kafka'], quiet),
    async makePassive() {
      const warnings = await makePassive(kafkaOf(plan), topics.processes)
      if (warnings.length > 0) throw new Error(warnings.join('\n'))
    },
    moveOffsets: () => moveOffsets(kafkaOf(plan)),
    positions: () => withAdmin(kafkaOf(plan), (admin) => positionsOf(admin, consumedTopics)),
    start: () => start(false),
    async promote() {
      await makeActive(kafkaOf(plan), topics.processes, backMs)
      return await start(true)
    },
    async stopServices() {
      const names = services.flatMap((service) => [service.name, sidecarOf(service)])
      await Promise.all(names.map((name) => stopProcess(folder, name, 10_000)))
    },
    async kill() {
      const states = recordedNames(folder).map((name) => processState(folder, name))
      const groups = states.flatMap((state) => (state.state === 'running' ? [state.group] : []))
      for (const group of groups) signalGroup(group, 'SIGKILL')
      await Promise.all(groups.map((group) => groupEnds(group, 20_000)))
    },
    async clean() {
      await stopStack(folder, () => {})
      removeStack(folder)
      rmSync(dataFolder(folder), { recursive: true })
    },
    release: () => releaseFolder(folder),
  }
}

async function moveOffsets(kafka: KafkaConnection): Promise<void> {
  const extents = await withAdmin(kafka, (admin) =>
    extentsOf(
      admin,
      topics.processes.map(({ name }) => name),
    ),
  )
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafka })
  const messages = extents.map(({ topic, partition }) => ({ topic, partition, value: Buffer.from('removed') }))
  await producer.send({ messages, acks: -1 })
  await producer.close()
  const removed = [...Map.groupBy(extents, ({ topic }) => topic)].map(([name, partitions]) => ({
    name,
    partitions: partitions.map(({ partition, end }) => ({ partition, offset: end + 1n })),
  }))
  await withAdmin(kafka, (admin) => admin.deleteRecords({ topics: removed }))
}
