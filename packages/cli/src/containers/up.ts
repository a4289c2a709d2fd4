import { untilAllConsume } from '../kafka/readiness.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { CliError } from '../lib/error.ts'
import { type ComposeStore, grafanaImage, jaegerImage, prometheusImage, stackImages } from '../lib/images.ts'
import { withRetries } from '../lib/poll.ts'
import type { ProvisionOptions } from '../provision/build.ts'
import type { ProgressOptions } from '../runner.ts'
import { type Container, compose, containersOf, docker } from './docker.ts'
import { composeMissing, engineMissing } from './engine.ts'
import { buildServiceImages, ensureImages, pull } from './images.ts'
import { ensureEnvFile, type Project, readProject, recordObservers, recordStore } from './project.ts'
import { composeFiles, readReplicaCounts, writeAdditions } from './replicas.ts'

interface DockerUpOptions extends ProgressOptions {
  store: ComposeStore
  /** True to start the observers, too: at this start and at every later start until `make down`. */
  observed: boolean
}

/** @throws {CliError} `no-engine` if Docker or Compose is missing; only `./orderflow engine` installs them */
export async function dockerUp({ store, observed, onProgress, signal }: DockerUpOptions): Promise<Project> {
  const missing = (await engineMissing()) ?? (await composeMissing())
  if (missing) throw new CliError('no-engine', missing, { nextStep: './orderflow engine, or make up STACK=local' })
  if (await ensureEnvFile()) onProgress('.env: written, with random values for missing secrets')
  if (readProject()?.store !== store) recordStore(store)
  if (observed) await addObservers({ onProgress, signal })
  // Writes this file again, because the other Compose files may have changed.
  await writeAdditions(readReplicaCounts())
  const project = readProject() as Project
  for (const { name, standIn } of await ensureImages({ onProgress, signal }, stackImages(store))) {
    if (standIn) onProgress(`warning: ${name} is a stand-in: ${standIn}`)
  }
  await buildServiceImages(onProgress)
  onProgress('containers: starting')
  await startContainers()
  const restarted = await restartCompanions(project.name)
  if (restarted.length > 0) {
    onProgress(`${restarted.join(', ')}: restarted to use the network of the new pod`)
    await startContainers()
  }
  // The container `setup` has checked the topics, too, but its warnings are only in its log.
  const warnings = await withRetries('Kafka', () => ensureTopics(project.kafka, topics.containers))
  for (const warning of warnings) onProgress(`warning: ${warning}`)
  await untilAllConsume(project.kafka, onProgress)
  return project
}

function startContainers(): Promise<void> {
  return compose(composeFiles(), ['up', '--detach', '--wait', '--wait-timeout', '180', '--remove-orphans'])
}

/** Pulls or builds the observers' images. Grafana is optional, because its image cannot be built. */
async function addObservers(options: ProvisionOptions): Promise<void> {
  for (const { name, standIn } of await ensureImages(options, [jaegerImage, prometheusImage])) {
    if (standIn) options.onProgress(`warning: ${name} is a stand-in: ${standIn}`)
  }
  const withoutGrafana = (await isHere(grafanaImage)) ? undefined : await pull(grafanaImage, options)
  if (withoutGrafana)
    options.onProgress(`starting without Grafana, because its image cannot be pulled: ${withoutGrafana}`)
  recordObservers(withoutGrafana ? ['observe'] : ['observe', 'grafana'])
}

const isHere = (image: string) =>
  docker('image', 'inspect', image).then(
    () => true,
    () => false,
  )

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
