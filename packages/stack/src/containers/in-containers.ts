import { writeSync } from 'node:fs'
import { type Brokers, brokerNames } from '../kafka/broker.ts'
import { streamSettings } from '../kafka/connection.ts'
import { groupMembers, type Missing, membersMissing, untilNothingMissing } from '../kafka/readiness.ts'
import { CliError } from '../lib/error.ts'
import type { ComposeStore } from '../lib/images.ts'
import { localFolder } from '../lib/paths.ts'
import { runInTerminal } from '../lib/run-tool.ts'
import {
  membersOf,
  operateProgram,
  partitions,
  readinessCommand,
  type Service,
  services,
  sidecarOf,
  storedServices,
} from '../lib/services.ts'
import { withStackLock } from '../lib/stack-lock.ts'
import { type LogOptions, logLines, paint } from '../lib/terminal.ts'
import type { KafkaOptions, ProgressOptions, Readiness, Runner, ServiceProbe } from '../runner.ts'
import { type Container, compose, containersOf, docker, serviceOf } from './docker.ts'
import { composeMissing, engineMissing } from './engine.ts'
import { pullStackImages } from './images.ts'
import { hasVolume, lastBrokers } from './kafka-volumes.ts'
import {
  defaultServers,
  ensureEnvFile,
  type Project,
  readProject,
  recordObservers,
  recordServers,
  volumeOf,
} from './project.ts'
import {
  composeFiles,
  expectedContainers,
  podOf,
  podsOf,
  readReplicaCounts,
  removeAdditions,
  writeAdditions,
} from './replicas.ts'
import { dockerStatus, requireContainers } from './status.ts'
import { type DockerKafkaOptions, dockerUp, startServers } from './up.ts'
import { requireRecorded } from './variables.ts'

export const containerRunner: Runner = {
  name: 'docker',
  title: 'in containers',
  stores: ['mongodb', 'postgresql'],
  surroundings: 'containers',
  brokerCounts: [1, 3],
  lastBrokers,
  missing: async (options, store) =>
    (await engineMissing()) ??
    (await composeMissing()) ??
    (await pullStackImages(options, store === 'postgresql' ? store : readProject()?.store)),
  state: async () => {
    const containers = await containersOfCheckout()
    if (containers.some(({ State }) => State.Status === 'running')) return 'running'
    return containers.length > 0 ? 'stopped' : 'absent'
  },
  lastStore: () => readProject()?.store ?? 'mongodb',
  dataOf: async () => {
    const project = readProject()
    if (!project) return undefined
    const volume = volumeOf(project, project.store)
    return (await hasVolume(volume)) ? `the volume ${volume}` : undefined
  },
  up: ({ observed, rebuild, ...options }) => dockerUp({ ...optionsOf(options), observed, rebuild }),
  startKafka: async (options) => (await startServers(optionsOf(options))).kafka,
  down,
  clean: async () => {
    const project = readProject()
    return project ? await clean(project).catch(() => []) : []
  },
  restart,
  scale,
  status: () => dockerStatus(requireProject()),
  runningServices,
  logNames: expectedContainers,
  logs,
  reach: requireProject,
  requireRunning: () => requireContainers(requireProject()),
  requireKafka: async () => {
    const project = requireProject()
    const all = brokerNames(project)
    const running = (await containersOfCheckout()).filter(({ State }) => State.Status === 'running').map(serviceOf)
    const brokers = all.filter((name) => running.includes(name))
    await requireContainers(project, brokers.length > 0 ? brokers : all)
  },
  operate,
  streamVariables: async () => {
    const { kafka } = requireProject()
    requireRecorded(process.env)
    return { ...(await trustVariables()), ...streamSettings(kafka) }
  },
}

/** The caller has checked that this runner supports both. */
function optionsOf({ store, brokers, onProgress, signal }: KafkaOptions): DockerKafkaOptions {
  return { store: store as ComposeStore, brokers: brokers as Brokers, onProgress, signal }
}

function requireProject(): Project {
  const project = readProject()
  if (project) return project
  throw new CliError('not-running', 'the stack is not running', { nextStep: 'make up' })
}

/** Returns an empty list without a Docker engine. */
async function containersOfCheckout(): Promise<Container[]> {
  const project = readProject()
  return project ? await containersOf(project.name).catch(() => []) : []
}

async function down(onProgress: (line: string) => void): Promise<boolean> {
  if ((await containersOfCheckout()).length === 0) return false
  return await withStackLock(localFolder, onProgress, async () => {
    // The `.env` of an earlier version may lack variables that Compose requires.
    await ensureEnvFile()
    await compose(composeFiles(), ['down', '--remove-orphans'])
    recordObservers([])
    return true
  })
}

/** Removes the volumes. Resets the store, the number of brokers and the numbers of replicas to their defaults. */
async function clean({ name, store, brokers }: Project): Promise<string[]> {
  removeAdditions()
  if (store !== defaultServers.store || brokers !== defaultServers.brokers) recordServers(defaultServers)
  const label = `label=com.docker.compose.project=${name}`
  const volumes = (await docker('volume', 'ls', '--quiet', '--filter', label)).trim().split('\n').filter(Boolean)
  for (const volume of volumes) await docker('volume', 'rm', volume)
  return volumes
}

async function logs(names: readonly string[], { follow, signal }: LogOptions): Promise<void> {
  const args = ['logs', '--tail', String(logLines), ...(follow ? ['--follow'] : []), ...names]
  await compose(composeFiles(), args, signal).catch((error: CliError) => {
    if (error.code !== 'interrupted' && hasReader()) throw error
  })
}

/** Returns false if the reader of the output has ended, as in `make logs | head`. */
function hasReader(): boolean {
  try {
    writeSync(1, '\n')
    return true
  } catch {
    return false
  }
}

async function scale(service: string, count: number, { onProgress, signal }: ProgressOptions): Promise<void> {
  requireProject()
  requireRecorded(process.env)
  await writeAdditions({ ...readReplicaCounts(), [service]: count })
  const { store, brokers } = readProject() ?? defaultServers
  const { kafka } = await dockerUp({ store, brokers, observed: false, rebuild: false, onProgress, signal })
  const members = await groupMembers(kafka, [service])
  onProgress(paint('green', `${service}: runs ${count} times, members of its consumer group: ${members.size}`))
  if (count > partitions.containers) {
    onProgress(
      `warning: a topic has ${partitions.containers} partitions, so only ${partitions.containers} replicas receive its events`,
    )
  }
}

/**
 * Each replica must be ready and consume before the next one restarts.
 * @throws {CliError} `not-running` with the name of a missing container
 */
async function restart(service: Service, { onProgress }: ProgressOptions): Promise<void> {
  const project = requireProject()
  requireRecorded(process.env)
  await withStackLock(localFolder, onProgress, () => restartPods(project, service, onProgress))
}

async function restartPods(project: Project, service: Service, onProgress: (line: string) => void): Promise<void> {
  for (const [, sidecar, own] of podsOf(service)) {
    const containers = await containersOf(project.name)
    const [sidecarId, ownId] = [sidecar, own].map((name) => containerNamed(name, containers).Id) as [string, string]
    // The service stops first, because its last requests need the sidecar.
    for (const id of [ownId, sidecarId]) await docker('stop', id)
    for (const id of [sidecarId, ownId]) await docker('start', id)
    await untilNothingMissing(own, () => replicaMissing(project, service, own))
    onProgress(`${own}: restarted`)
  }
}

async function replicaMissing({ name, kafka }: Project, service: Service, own: string): Promise<Missing> {
  const containers = await containersOf(name)
  const health = containerNamed(own, containers).State.Health?.Status
  if (health !== 'healthy') return `${own} is ${health}`
  // Expects only the members of running sidecars, because a sidecar of another replica may have failed.
  const isSidecar = (container: Container) => serviceOf(container).replace(/-\d+$/, '') === sidecarOf(service)
  const running = containers.filter((container) => isSidecar(container) && container.State.Status === 'running')
  return membersMissing(kafka, service.name, running.length * membersOf(service))
}

function containerNamed(name: string, containers: Container[]): Container {
  const found = containers.find((container) => serviceOf(container) === name)
  if (found) return found
  throw new CliError('not-running', `container ${name} does not exist`, { nextStep: 'make up' })
}

/** Calls each service inside its container, because only the first replica has a published port. */
async function runningServices(): Promise<ServiceProbe[]> {
  const running = (await containersOfCheckout()).filter(({ State }) => State.Status === 'running')
  return running.flatMap((container) => {
    const service = services.find((each) => isReplicaOf(serviceOf(container), each))
    if (!service) return []
    // biome-ignore lint/plugin/no-spread-arguments: four arguments
    const printed = () => docker('exec', container.Id, ...readinessCommand(service))
    const ask = async () => JSON.parse(await printed()) as Readiness
    return [{ name: serviceOf(container), ask }]
  })
}

function isReplicaOf(container: string, service: Service): boolean {
  const [, , first] = podOf(service)
  return container === first || (container.startsWith(`${first}-`) && /^\d+$/.test(container.slice(first.length + 1)))
}

/** Runs an operator's command in the service's container, which has the settings and the sidecar's network. */
async function operate(service: Service, args: string[]): Promise<number> {
  requireProject()
  requireRecorded(process.env)
  const { Id } = requireRunningContainer(await containersOfCheckout(), service.name)
  return runInTerminal('docker', ['exec', Id, 'node', operateProgram, ...args])
}

async function trustVariables(): Promise<Record<string, string>> {
  // All services with a store have the same keys.
  const { Config } = requireRunningContainer(await containersOfCheckout(), storedServices[0]?.name ?? '')
  const pairs = Config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
  return Object.fromEntries(pairs.filter(([variable]) => variable.startsWith('Trust__')))
}

function requireRunningContainer(containers: Container[], service: string): Container {
  const running = containers.find((each) => serviceOf(each) === service && each.State.Status === 'running')
  if (running) return running
  throw new CliError('not-running', `${service} does not run`, { nextStep: 'make up' })
}
