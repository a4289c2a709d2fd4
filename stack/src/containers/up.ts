import { groupMissing } from '../kafka/readiness.ts'
import { topics } from '../kafka/topics.ts'
import { withRetries } from '../lib/with-retries.ts'
import { restartCompanions } from './companions.ts'
import { ensureCompose } from './compose-plugin.ts'
import { compose } from './docker.ts'
import { ensureEngine } from './engine.ts'
import { ensureImages } from './images.ts'
import { ensureEnvFile, type Project, readProject } from './project.ts'
import { composeFiles } from './replicas.ts'

export interface DockerUpOptions {
  onProgress: (line: string) => void
  signal: AbortSignal
}

/** `make up` in containers: brings engine and images, starts what does not run, waits until both services really consume. */
export async function dockerUp({ onProgress, signal }: DockerUpOptions): Promise<Project> {
  if (ensureEnvFile()) onProgress('.env: written, with random secrets')
  const project = readProject() as Project
  await ensureEngine({ onProgress, signal })
  await ensureCompose({ onProgress, signal })
  for (const { name, standIn } of await ensureImages({ onProgress, signal })) {
    if (standIn) onProgress(`warning: ${name} is a stand-in: ${standIn}`)
  }
  onProgress('services: building their images')
  await compose(composeFiles(), ['build', '--quiet'])
  onProgress('containers: starting')
  await startContainers()
  const restarted = await restartCompanions(project.name)
  if (restarted.length > 0) {
    onProgress(`${restarted.join(', ')}: restarted, to get the network of the new pod`)
    await startContainers()
  }
  for (const group of new Set(topics.flatMap(({ consumerGroups }) => consumerGroups))) {
    await withRetries(group, async () => {
      const missing = await groupMissing(project.kafka, group, new Set())
      if (missing) throw new Error(missing)
    })
    onProgress(`${group}: consuming`)
  }
  return project
}

function startContainers(): Promise<void> {
  return compose(composeFiles(), ['up', '--detach', '--wait', '--wait-timeout', '180', '--remove-orphans'])
}
