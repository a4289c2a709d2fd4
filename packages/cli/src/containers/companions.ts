import { type Container, containersOf, docker } from './docker.ts'

/**
 * Restarts containers whose pod was started after them: they still have the network of the pod that died, and answer nobody.
 * They reach nobody either, so there is nothing that they could end in order. Returns their names.
 */
export async function restartCompanions(project: string): Promise<string[]> {
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
