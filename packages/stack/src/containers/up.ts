import { type ComposeStore, images, stackImages } from '../application/images.ts'
import { localFolder, repository } from '../application/paths.ts'
import { services } from '../application/services.ts'
import { withStackLock } from '../application/stack-record.ts'
import { CliError, succeeds } from '../base/error.ts'
import { poll, withHeartbeat, withRetries } from '../base/run-tool.ts'
import type { Brokers } from '../kafka/broker.ts'
import { brokersMissing, type Missing, untilAllConsume } from '../kafka/readiness.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import type { ProvisionOptions } from '../provision/build.ts'
import { composeMissing, docker, engineMissing } from '../provision/engine.ts'
import type { KafkaOptions, ProgressOptions } from '../runner.ts'
import { type Container, compose, containersOf, serviceOf } from './docker.ts'
import { buildServiceImages, ensureImages, pull } from './images.ts'
import { isRecorded, recordBrokers, recordVolumes, requireLog } from './kafka-volumes.ts'
import {
  type ComposeServers,
  ensureEnvFile,
  type Project,
  readProject,
  recordObservers,
  recordServers,
} from './project.ts'
import { rebuildStores } from './rebuild.ts'
import { composeFiles, podsOf, readReplicaCounts, writeAdditions } from './replicas.ts'
import { recordVariables } from './variables.ts'

interface DockerKafkaOptions extends ProgressOptions, ComposeServers {}

interface DockerUpOptions extends DockerKafkaOptions {
  /** True to start the observers, too: at this start and at every later start until `make down`. */
  observed: boolean
  /** True to rebuild all stores from the log before services start. */
  rebuild: boolean
}

/** The caller has checked that this runner supports both. */
export function optionsOf({ store, brokers, onProgress, signal }: KafkaOptions): DockerKafkaOptions {
  return { store: store as ComposeStore, brokers: brokers as Brokers, onProgress, signal }
}

const replicationTimeoutMs = 60 * 60_000

/** @throws {CliError} `no-engine` if Docker or Compose is missing; only `./orderflow engine` installs them */
export async function dockerUp(options: DockerUpOptions): Promise<Project> {
  const project = await prepareProject(options)
  await withStackLock(localFolder, options.onProgress, () => startProject(project, options))
  return project
}

/** The caller holds the stack's lock. */
async function startProject(project: Project, { rebuild, ...options }: DockerUpOptions): Promise<void> {
  const { onProgress } = options
  await replaceOutdated(project, onProgress)
  if (rebuild) await rebuildStores(project.name, { start: startContainers, onProgress })
  onProgress('containers: starting')
  await startContainers(['--remove-orphans'])
  recordVolumes(project)
  const restarted = await restartCompanions(project.name)
  if (restarted.length > 0) {
    onProgress(`${restarted.join(', ')}: restarted to use the network of the new pod`)
    await startContainers(['--remove-orphans'])
  }
  await untilReplicated(project, options)
  // The container `setup` has checked the topics, too, but its warnings are only in its log.
  const warnings = await withRetries('Kafka', () => ensureTopics(project.kafka, topics.containers))
  for (const warning of warnings) onProgress(`warning: ${warning}`)
  await untilAllConsume(project.kafka, onProgress)
}

/**
 * Starts Kafka and the store, and creates the topics. Services stay stopped.
 * @throws {CliError} `compose-failed` if the container `setup` fails
 */
export async function startServers(options: DockerKafkaOptions): Promise<Project> {
  const project = await prepareProject({ ...options, observed: false })
  options.onProgress('setup: starting')
  if (await withStackLock(localFolder, options.onProgress, () => isSetUp(project))) return project
  throw new CliError('compose-failed', 'the topics were not created', { nextStep: 'make logs SERVICE=setup' })
}

/** Writes the files of this machine, and pulls or builds all images. */
async function prepareProject({
  store,
  brokers,
  observed,
  onProgress,
  signal,
}: Omit<DockerUpOptions, 'rebuild'>): Promise<Project> {
  const missing = (await engineMissing()) ?? (await composeMissing())
  if (missing) throw new CliError('no-engine', missing, { nextStep: './orderflow engine, or make up STACK=local' })
  if (await ensureEnvFile(repository, brokers)) onProgress('.env: written, with random values for missing secrets')
  recordVariables(process.env, await isRecordedAndRunning(readProject() as Project))
  const last = readProject() as Project
  await requireLog({ ...last, brokers })
  if (last.store !== store || last.brokers !== brokers) recordServers({ store, brokers })
  if (observed) await addObservers({ onProgress, signal })
  // Writes this file again, because the other Compose files may have changed.
  await writeAdditions(readReplicaCounts())
  const project = readProject() as Project
  for (const { name, standIn } of await ensureImages({ onProgress, signal }, stackImages(store))) {
    if (standIn) onProgress(`warning: ${name} is a stand-in: ${standIn}`)
  }
  await buildServiceImages(onProgress)
  recordBrokers(project, { brokers })
  return project
}

/** @param args options, then names in docker-compose.yml; without names, starts all containers */
function startContainers(args: string[]): Promise<void> {
  return compose(composeFiles(), ['up', '--detach', '--wait', '--wait-timeout', '180', ...args])
}

/** Returns false for a stack that version 0.2.0 started, whose variables are perhaps only in the shell. */
async function isRecordedAndRunning({ name }: Project): Promise<boolean> {
  return isRecorded(name) && (await containersOf(name)).some(({ State }) => State.Status === 'running')
}

/** Waits until all brokers have all records. After the loss of a disk, one of them copies its whole log. */
async function untilReplicated({ kafka, brokers }: Project, { onProgress, signal }: ProgressOptions): Promise<void> {
  if (brokers === 1) return
  let missing: Missing
  const probe = async () => {
    missing = await brokersMissing(kafka, brokers)
    return missing === undefined
  }
  const wait = () => poll(probe, { timeoutMs: replicationTimeoutMs, everyMs: 200, signal })
  if (await withHeartbeat('kafka', { onProgress, detail: () => missing ?? '' }, wait)) return
  throw new CliError('not-ready', `kafka: ${missing}`, { nextStep: 'make status, make logs' })
}

/**
 * Replaces the pods of containers whose image has changed, for example after an upgrade. Compose would stop all pods at the same time. Before that,
 * replaces Kafka and the store if they have changed. Also runs `setup`, because a new version may need new rights.
 */
async function replaceOutdated(project: Project, onProgress: (line: string) => void): Promise<void> {
  const outdated = await outdatedContainers(project.name)
  const pods = services.flatMap(podsOf).filter((pod) => pod.some((name) => outdated.includes(name)))
  if (pods.length === 0) return
  onProgress('setup: starting')
  // If setup fails, the start of all containers reports it.
  if (!(await isSetUp(project))) return
  for (const pod of pods) {
    onProgress(`${pod.at(-1)}: replacing, because its image has changed`)
    await startContainers(['--no-deps', ...pod])
  }
}

/** Starts Kafka and the store, and runs `setup`. Returns false if it fails. */
async function isSetUp(project: Project): Promise<boolean> {
  await startContainers(['setup'])
  recordVolumes(project)
  const setup = (await containersOf(project.name)).find((container) => serviceOf(container) === 'setup')
  return setup !== undefined && (await docker('wait', setup.Id)).trim() === '0'
}

/** Returns the names in docker-compose.yml of running containers whose image is not the present one of its name. */
async function outdatedContainers(project: string): Promise<string[]> {
  const running = (await containersOf(project)).filter(({ State }) => State.Status === 'running')
  const names = [...new Set(running.map(({ Config }) => Config.Image))]
  const ids = await Promise.all(
    names.map((name) => docker('image', 'inspect', '--format', '{{.Id}}', name).catch(() => '')),
  )
  const present = new Map(names.map((name, index) => [name, ids[index]?.trim()]))
  return running.filter(({ Config, Image }) => present.get(Config.Image) !== Image).map(serviceOf)
}

/** Pulls or builds the observers' images. Grafana is optional, because its image cannot be built. */
async function addObservers(options: ProvisionOptions): Promise<void> {
  for (const { name, standIn } of await ensureImages(options, [images.jaeger, images.prometheus])) {
    if (standIn) options.onProgress(`warning: ${name} is a stand-in: ${standIn}`)
  }
  const withoutGrafana = (await succeeds(docker('image', 'inspect', images.grafana)))
    ? undefined
    : await pull(images.grafana, options)
  if (withoutGrafana)
    options.onProgress(`starting without Grafana, because its image cannot be pulled: ${withoutGrafana}`)
  recordObservers(withoutGrafana ? ['observe'] : ['observe', 'grafana'])
}

/**
 * Kills and restarts containers that started before their pod, and returns their names. Such containers still use the network of the pod's previous
 * run, which has no connections.
 */
async function restartCompanions(project: string): Promise<string[]> {
  const containers = await containersOf(project)
  const cutOff = containers.filter((container) => isCutOff(container, containers))
  // biome-ignore lint/plugin/no-spread-arguments: a project has some twenty containers
  if (cutOff.length > 0) await docker('restart', '-t', '0', ...cutOff.map(({ Id }) => Id))
  return cutOff.map(({ Name }) => Name.slice(1))
}

function isCutOff({ HostConfig, State }: Container, all: Container[]): boolean {
  const pod = all.find(({ Id }) => HostConfig.NetworkMode === `container:${Id}`)
  return pod !== undefined && State.Status === 'running' && State.StartedAt < pod.State.StartedAt
}
