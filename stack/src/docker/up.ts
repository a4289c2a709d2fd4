import { groupMissing } from '../readiness.ts'
import { topics } from '../topics.ts'
import { withRetries } from '../with-retries.ts'
import { restartCompanions } from './companions.ts'
import { compose } from './docker.ts'
import { ensureImages } from './images.ts'
import { ensureEnvFile, type Project, readProject } from './project.ts'
import { composeFiles } from './replicas.ts'

export interface DockerUpOptions {
  onProgress: (line: string) => void
  signal: AbortSignal
}

/** `make up` in containers: brings the images, starts what does not run and waits until both services really consume. */
export async function dockerUp({ onProgress, signal }: DockerUpOptions): Promise<Project> {
  if (ensureEnvFile()) onProgress('.env: written, with random secrets')
  const project = readProject() as Project
  await ensureImages({ onProgress, signal })
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
