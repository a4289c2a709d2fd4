import { localFolder } from '../application/paths.ts'
import { membersOf, type Service, sidecarOf } from '../application/services.ts'
import { withStackLock } from '../application/stack-lock.ts'
import { CliError } from '../base/error.ts'
import { paint } from '../base/terminal.ts'
import { groupMembers, type Missing, membersMissing, untilNothingMissing } from '../kafka/readiness.ts'
import { type ProgressOptions, warnAboutReplicas } from '../runner.ts'
import { type Container, containersOf, docker, serviceOf } from './docker.ts'
import { defaultServers, type Project, readProject, requireProject } from './project.ts'
import { podsOf, readReplicaCounts, writeAdditions } from './replicas.ts'
import { dockerUp } from './up.ts'
import { requireRecorded } from './variables.ts'

export async function scale(service: string, count: number, { onProgress, signal }: ProgressOptions): Promise<void> {
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
export async function restart(service: Service, { onProgress }: ProgressOptions): Promise<void> {
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
  const isSidecar = (container: Container) => serviceOf(container).replace(/-\d+$/, '') === sidecarOf(service)
  const running = containers.filter((container) => isSidecar(container) && container.State.Status === 'running')
  return membersMissing(kafka, service.name, running.length * membersOf(service))
}

function containerNamed(name: string, containers: Container[]): Container {
  const found = containers.find((container) => serviceOf(container) === name)
  if (found) return found
  throw new CliError('not-running', `container ${name} does not exist`, { nextStep: 'make up' })
}
