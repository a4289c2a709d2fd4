import { operateProgram, requireStoresUnused, sidecarOf, storedServices } from '../application/services.ts'
import { compose, containersOf, serviceOf } from './docker.ts'
import { composeFiles } from './replicas.ts'

interface RebuildOptions {
  start: (args: string[]) => Promise<void>
  onProgress: (line: string) => void
}

/**
 * Rebuilds all stores from the log while the services are stopped, as `rebuildStores` does for processes.
 * @throws {CliError} `still-running` if a service with a store runs
 */
export async function rebuildStores(project: string, { start, onProgress }: RebuildOptions): Promise<void> {
  const containers = await containersOf(project)
  requireStoresUnused(containers.filter(({ State }) => State.Status === 'running').map(serviceOf))
  // A sidecar subscribes only when its service answers, so it delivers no events yet.
  await start(storedServices.map(sidecarOf))
  for (const { name } of storedServices) {
    onProgress(`${name}: rebuilding its store from the log`)
    const once = ['run', '--rm', '--no-deps', '--no-TTY', '--entrypoint', 'node']
    await compose(composeFiles(), [...once, name, operateProgram, 'rebuild'])
  }
}
