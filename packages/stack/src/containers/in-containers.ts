import { writeSync } from 'node:fs'
import { localFolder } from '../application/paths.ts'
import { membersOf, operateProgram, type Service, sidecarOf, storedServices } from '../application/services.ts'
import { withStackLock } from '../application/stack-record.ts'
import { attempt, CliError } from '../base/error.ts'
import { runInTerminal } from '../base/run-tool.ts'
import { type LogOptions, logLines, paint } from '../base/terminal.ts'
import { brokerNames } from '../kafka/broker.ts'
import { streamSettings } from '../kafka/connection.ts'
import { groupMembers, type Missing, membersMissing, untilNothingMissing } from '../kafka/readiness.ts'
import { composeMissing, docker, engineMissing } from '../provision/engine.ts'
import { type ProgressOptions, type Runner, warnAboutReplicas } from '../runner.ts'
import { type Container, compose, containersOf, containersOfCheckout, serviceOf } from './docker.ts'
import { pullStackImages } from './images.ts'
import { hasVolume, lastBrokers } from './kafka-volumes.ts'
import {
  defaultServers,
  ensureEnvFile,
  type Project,
  readProject,
  recordObservers,
  recordServers,
  requireProject,
  volumeOf,
} from './project.ts'
import {
  composeFiles,
  expectedContainers,
  podsOf,
  readReplicaCounts,
  removeAdditions,
  withoutNumber,
  writeAdditions,
} from './replicas.ts'
import { dockerStatus, requireContainers, runningServices } from './status.ts'
import { dockerUp, optionsOf, startServers } from './up.ts'
import { requireRecorded } from './variables.ts'

export const inContainers: Runner = {
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
  clean,
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
  streamVariables,
}

/** Removes all containers. Returns false if there were none. */
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

/** Removes the volumes of the project. Returns their names. */
async function clean(): Promise<string[]> {
  const project = readProject()
  return project ? await cleanProject(project).catch(() => []) : []
}

/** Removes the volumes. Resets the store, the number of brokers and the numbers of replicas to their defaults. */
async function cleanProject({ name, store, brokers }: Project): Promise<string[]> {
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
    // The reader of the output may have ended, as in `make logs | head`.
    if (error.code !== 'interrupted' && attempt(() => writeSync(1, '\n')) !== undefined) throw error
  })
}

/** Runs an operator's command in the service's container, which has the settings and the sidecar's network. */
async function operate(service: Service, args: string[]): Promise<number> {
  requireProject()
  requireRecorded(process.env)
  const { Id } = requireRunningContainer(await containersOfCheckout(), service.name)
  return runInTerminal('docker', ['exec', Id, 'node', operateProgram, ...args])
}

/** Returns the variables with which operators' commands on this machine use the stack's Kafka. */
async function streamVariables(): Promise<Record<string, string>> {
  const { kafka } = requireProject()
  requireRecorded(process.env)
  return { ...(await trustVariables()), ...streamSettings(kafka) }
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

async function scale(service: string, count: number, { onProgress, signal }: ProgressOptions): Promise<void> {
  requireProject()
  requireRecorded(process.env)
  await writeAdditions({ ...readReplicaCounts(), [service]: count })
  const { store, brokers } = readProject() ?? defaultServers
  const { kafka } = await dockerUp({ store, brokers, observed: false, rebuild: false, onProgress, signal })
  const members = await groupMembers(kafka, [service])
  onProgress(paint('green', `${service}: runs ${count} times, members of its consumer group: ${members.size}`))
  warnAboutReplicas(count, onProgress)
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
  const isSidecar = (container: Container) => withoutNumber(serviceOf(container)) === sidecarOf(service)
  const running = containers.filter((container) => isSidecar(container) && container.State.Status === 'running')
  return membersMissing(kafka, service.name, running.length * membersOf(service))
}

function containerNamed(name: string, containers: Container[]): Container {
  const found = containers.find((container) => serviceOf(container) === name)
  if (found) return found
  throw new CliError('not-running', `container ${name} does not exist`, { nextStep: 'make up' })
}
