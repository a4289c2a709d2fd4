import { portUses, requireFreePorts } from '../application/free-ports.ts'
import { brokerPorts, doesConsume, entryOf, type Service, services, sidecarOf } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { withHeartbeat } from '../base/run-tool.ts'
import { brokerNames } from '../kafka/broker.ts'
import { localKafka } from '../kafka/connection.ts'
import {
  brokersMissing,
  groupMembers,
  groupMissing,
  kafkaMissing,
  type Missing,
  serviceMissing,
} from '../kafka/readiness.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { denyTransactions } from '../kafka/transactions.ts'
import type { ProvisionOptions } from '../provision/build.ts'
import { serviceDatabases } from '../stores/databases.ts'
import { kafkaOf, type Plan, type ProcessName, recordStart, serverNames } from './plan.ts'
import { processState, startProcess, stopProcesses } from './process/control.ts'
import { hashOfFiles } from './process/files.ts'
import { processSpecs } from './process/spec.ts'
import { requireAlive, waitUntil } from './process/wait.ts'
import { lostBrokers, prepareKafka, requireLog } from './servers/kafka.ts'
import { postgresqlAnswers, preparePostgresql } from './servers/postgresql.ts'

export interface EnsureOptions extends ProvisionOptions {
  onStarted?: (name: ProcessName) => void
}

/** The parts of a service's readiness that name a store that needs a rebuild (packages/service-kit/src/runtime/lost-writes/lost-writes.ts). */
export const rebuildReasons = /#(the-store-lost-writes|documents-of-entities)\b/
const rebuildStep = 'make down, then make up REBUILD=1'

const kafkaTimeoutMs = 60_000
const servicesTimeoutMs = 60_000
const replicationTimeoutMs = 60 * 60_000

/** @throws {CliError} `port-in-use` before the first process starts; `process-died`, `not-ready`, `data-lost` or `interrupted` during the wait */
export async function ensureRunning(plan: Plan, names: readonly ProcessName[], options: EnsureOptions): Promise<void> {
  const specs = processSpecs(plan)
  const absent = names.filter((name) => processState(plan.folder, name).state !== 'running')
  await requireFreePorts(absent.flatMap((name) => portUses(entryOf(specs, name))))
  recordStart(plan)
  const start = (name: ProcessName) => {
    startProcess(plan.folder, entryOf(specs, name))
    options.onStarted?.(name)
  }

  const used = serversFor(plan, options).filter(({ name }) => names.includes(name))
  const lost = lostBrokers(plan)
  // Checks this before the other brokers start, because they would wait for a quorum.
  if (absent.some((name) => lost.includes(name))) requireLog(plan)
  const startServers = async (servers: typeof used) => {
    for (const { name, prepare } of servers.filter((server) => absent.includes(server.name))) {
      options.onProgress(
        `${name}: starting${lost.includes(name) ? ' with an empty log, because its disk was lost' : ''}`,
      )
      await prepare()
      start(name)
    }
    await Promise.all(servers.map(({ name, answers }) => answers().then(() => options.onProgress(`${name}: ready`))))
  }
  // A broker with an empty log starts when the others have elected a controller. Otherwise Kafka 4.3 may end it, if it was the last controller.
  await startServers(used.filter(({ name }) => !lost.includes(name)))
  await startServers(used.filter(({ name }) => lost.includes(name)))
  if (used.some(({ name }) => brokerNames(plan).includes(name))) await prepareTopics(plan, options)
  const isServer = (name: ProcessName) => used.some((server) => server.name === name)
  const others = absent.filter((name) => !isServer(name))
  const stale = await staleMembers(plan, others, options)
  if (others.length > 0) options.onProgress(`${others.join(', ')}: starting`)
  others.forEach(start)
  const waits = names.filter((name) => !isServer(name)).map((name) => waitForProcess(plan, name, stale, options))
  await Promise.all(waits)
  requireAlive({ folder: plan.folder, processes: names })
}

/** Stops processes in this order, and starts them again. The caller must hold the stack's lock. */
export async function restartProcesses(
  plan: Plan,
  names: readonly ProcessName[],
  options: EnsureOptions,
): Promise<void> {
  for (const name of names) await stopProcesses(plan.folder, [name], options.onProgress)
  await ensureRunning(plan, names, options)
}

/**
 * Restarts the processes that another version started, for example before an upgrade. Restarts one broker after the other, then one service after
 * the other, with its sidecar. Meanwhile, events wait in Kafka.
 */
export async function restartOutdated(plan: Plan, options: EnsureOptions): Promise<void> {
  const specs = processSpecs(plan)
  const isOutdated = (name: ProcessName) => {
    const state = processState(plan.folder, name)
    return state.state === 'running' && state.version !== entryOf(specs, name).version
  }
  const brokers = brokerNames(plan).map((name) => [name])
  const groups = [...brokers, ...services.map((service) => [service.name, sidecarOf(service)])]
  const outdated = groups.filter((names) => names.some(isOutdated))
  if (outdated.length === 0) return
  await ensureRunning(plan, serverNames(plan), options)
  for (const names of outdated) {
    options.onProgress(`${names.join(', ')}: restarting, because another version started it`)
    await restartProcesses(plan, names, options)
  }
}

/** Stops services and sidecars whose files have changed since their start. The caller must hold the stack's lock. */
export async function stopChanged(plan: Plan, { onProgress }: EnsureOptions): Promise<void> {
  const changed = Object.values(processSpecs(plan)).filter(({ name, files }) => {
    const state = processState(plan.folder, name)
    return files && state.state === 'running' && state.files !== hashOfFiles(files)
  })
  if (changed.length === 0) return
  const names = changed.map(({ name }) => name)
  onProgress(`${names.join(', ')}: restarting, because files have changed`)
  await stopProcesses(plan.folder, names, onProgress)
}

function serversFor(plan: Plan, options: EnsureOptions) {
  const { folder, ports } = plan
  return [
    ...brokerNames(plan).map((name) => ({
      name,
      prepare: () => prepareKafka(plan, name),
      answers: () => brokerAnswers(plan, name, options),
    })),
    {
      name: 'postgresql',
      prepare: () => preparePostgresql(folder),
      answers: () => postgresqlAnswers(folder, ports.postgresql, serviceDatabases, options.signal),
    },
  ]
}

async function brokerAnswers(plan: Plan, name: ProcessName, { signal }: EnsureOptions): Promise<void> {
  const watch = { folder: plan.folder, processes: [name], timeoutMs: kafkaTimeoutMs, signal }
  await waitUntil(name, watch, () => kafkaMissing(localKafka(brokerPorts(plan.ports, name).broker)))
}

async function prepareTopics(plan: Plan, options: EnsureOptions): Promise<void> {
  if (plan.brokers > 1) await untilReplicated(plan, options)
  // Adds the rule against transactions before topics exist.
  await denyTransactions(kafkaOf(plan))
  for (const warning of await ensureTopics(kafkaOf(plan), topics.processes)) options.onProgress(`warning: ${warning}`)
}

/** Waits until all brokers have all records. After the loss of a disk, one of them copies its whole log. */
async function untilReplicated(plan: Plan, { onProgress, signal }: EnsureOptions): Promise<void> {
  const processes = brokerNames(plan)
  const watch = { folder: plan.folder, processes, timeoutMs: replicationTimeoutMs, signal }
  let missing: Missing
  await withHeartbeat('kafka', { onProgress, detail: () => missing ?? '' }, () =>
    waitUntil('kafka', watch, async () => {
      missing = await brokersMissing(kafkaOf(plan), plan.brokers)
      return missing
    }),
  )
}

/** Returns the group members that belong to killed sidecars. They keep their partitions for a while, so new sidecars must wait. */
async function staleMembers(plan: Plan, starting: ProcessName[], { signal }: EnsureOptions): Promise<Set<string>> {
  const groups = starting.flatMap((name) => consumerBehind(name)?.name ?? [])
  let members = new Set<string>()
  if (groups.length === 0) return members
  const watch = { folder: plan.folder, processes: brokerNames(plan), timeoutMs: kafkaTimeoutMs, signal }
  await waitUntil('the group coordinator', watch, async () => {
    try {
      members = await groupMembers(kafkaOf(plan), groups)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  })
  return members
}

async function waitForProcess(
  plan: Plan,
  name: ProcessName,
  stale: Set<string>,
  options: EnsureOptions,
): Promise<void> {
  const { signal } = options
  const processes = [...brokerNames(plan), name]
  await waitUntil(name, { folder: plan.folder, processes, timeoutMs: servicesTimeoutMs, signal }, async () => {
    const missing = await missingOf(plan, name, stale)
    if (missing && rebuildReasons.test(missing)) throw new CliError('data-lost', missing, { nextStep: rebuildStep })
    return missing
  })
  options.onProgress(consumerBehind(name) ? `${name}: consuming` : `${name}: ready`)
}

function missingOf(plan: Plan, name: ProcessName, stale: Set<string>): Promise<Missing> {
  // A sidecar's consumer group is its app-id (components/kafka.yaml).
  const served = serviceOfSidecar(name)
  if (served) return groupMissing(kafkaOf(plan), served.name, stale)
  return serviceMissing(name, entryOf(plan.ports.services, name).http)
}

function consumerBehind(name: ProcessName): Service | undefined {
  const service = serviceOfSidecar(name)
  return service && doesConsume(service) ? service : undefined
}

function serviceOfSidecar(name: ProcessName): Service | undefined {
  return services.find((service) => sidecarOf(service) === name)
}
