import { localFolder } from '../application/paths.ts'
import { withStackLock } from '../application/stack-lock.ts'
import { compose, containersOfCheckout, docker } from './docker.ts'
import { defaultServers, ensureEnvFile, type Project, readProject, recordObservers, recordServers } from './project.ts'
import { composeFiles, removeAdditions } from './replicas.ts'

/** Removes all containers. Returns false if there were none. */
export async function down(onProgress: (line: string) => void): Promise<boolean> {
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
export async function clean(): Promise<string[]> {
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
