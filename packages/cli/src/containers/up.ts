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
  /** Starts the observers, too. They start with the stack from now on, until `make down`. */
  observed: boolean
}

/**
 * `make up` in containers: brings the images, starts what does not run, waits until all services really consume.
 * @throws {CliError} `no-engine` where Docker or Compose is missing: to install them is `./orderflow engine`, when somebody asks for it
 */
export async function dockerUp({ store, observed, onProgress, signal }: DockerUpOptions): Promise<Project> {
  const missing = (await engineMissing()) ?? (await composeMissing())
  if (missing) throw new CliError('no-engine', missing, { nextStep: './orderflow engine, or make up STACK=local' })
  if (await ensureEnvFile()) onProgress('.env: written, with random secrets where it had none')
  if (readProject()?.store !== store) recordStore(store)
  if (observed) await addObservers({ onProgress, signal })
  // Made from the Compose files, which may have changed.
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
    onProgress(`${restarted.join(', ')}: restarted, to get the network of the new pod`)
    await startContainers()
  }
  // That of setup is in its container's log.
  const warnings = await withRetries('Kafka', () => ensureTopics(project.kafka, topics.containers))
  for (const warning of warnings) onProgress(`warning: ${warning}`)
  await untilAllConsume(project.kafka, onProgress)
  return project
}

function startContainers(): Promise<void> {
  return compose(composeFiles(), ['up', '--detach', '--wait', '--wait-timeout', '180', '--remove-orphans'])
}

/**
 * Brings what watches the containers, and has Compose start it with them from now on, until `make down`: Jaeger, Prometheus, the exporter, and
 * Grafana where its image is at hand or can be pulled, for there is no other way to it.
 */
async function addObservers(options: ProvisionOptions): Promise<void> {
  for (const { name, standIn } of await ensureImages(options, [jaegerImage, prometheusImage])) {
    if (standIn) options.onProgress(`warning: ${name} is a stand-in: ${standIn}`)
  }
  const withoutGrafana = (await isHere(grafanaImage)) ? undefined : await pull(grafanaImage, options)
  if (withoutGrafana) options.onProgress(`without Grafana, whose image cannot be pulled: ${withoutGrafana}`)
  recordObservers(withoutGrafana ? ['observe'] : ['observe', 'grafana'])
}

const isHere = (image: string) =>
  docker('image', 'inspect', image).then(
    () => true,
    () => false,
  )

/**
 * Restarts containers whose pod was started after them: they still have the network of the pod that died, and answer nobody.
 * They reach nobody either, so there is nothing that they could end in order. Returns their names.
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
