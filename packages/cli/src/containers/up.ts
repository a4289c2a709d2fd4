import { untilAllConsume } from '../kafka/readiness.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { StackError } from '../lib/error.ts'
import { type ComposeStore, stackImages } from '../lib/images.ts'
import { withRetries } from '../lib/poll.ts'
import { restartCompanions } from './companions.ts'
import { composeMissing } from './compose-plugin.ts'
import { compose } from './docker.ts'
import { engineMissing } from './engine.ts'
import { ensureImages } from './images.ts'
import { addObservers } from './observe.ts'
import { ensureEnvFile, type Project, readProject, recordStore } from './project.ts'
import { composeFiles, readReplicaCounts, writeAdditions } from './replicas.ts'
import { buildServiceImages } from './service-images.ts'

interface DockerUpOptions {
  store: ComposeStore
  /** Starts what watches the containers, too. It goes on with later starts, until `make down`. */
  observed?: boolean
  onProgress: (line: string) => void
  signal: AbortSignal
}

/**
 * `make up` in containers: brings the images, starts what does not run, waits until all services really consume.
 * @throws {StackError} `no-engine` where Docker or Compose is missing: to install them is `./orderflow engine`, when somebody asks for it
 */
export async function dockerUp({ store, observed, onProgress, signal }: DockerUpOptions): Promise<Project> {
  const missing = (await engineMissing()) ?? (await composeMissing())
  if (missing) throw new StackError('no-engine', missing, { nextStep: './orderflow engine, or make up STACK=local' })
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
