import { type Missing, membersMissing, untilNothingMissing } from '../kafka/readiness.ts'
import { StackError } from '../lib/error.ts'
import { membersOf, type Service, sidecarOf } from '../lib/services.ts'
import { type Container, containersOf, docker, serviceOf } from './docker.ts'
import type { Project } from './project.ts'
import { podOf, readReplicaCounts } from './replicas.ts'

/**
 * `./orderflow restart` in containers: one replica after the other stops in order and starts again. The next one has its turn when this one is
 * ready and the consumer group has settled with it.
 * @throws {StackError} `not-running` naming a container that there is not
 */
export async function dockerRestart(
  project: Project,
  service: Service,
  onProgress: (line: string) => void,
): Promise<void> {
  const replicas = readReplicaCounts()[service.name] ?? 1
  for (let number = 1; number <= replicas; number += 1) {
    const [, sidecar, own] = podOf(service, number)
    const containers = await containersOf(project.name)
    const [sidecarId, ownId] = [sidecar, own].map((name) => containerNamed(name, containers).Id) as [string, string]
    // The service ends first: its last requests still need the sidecar.
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
  // Another one may be dead.
  const isSidecar = (container: Container) => serviceOf(container).replace(/-\d+$/, '') === sidecarOf(service)
  const running = containers.filter((container) => isSidecar(container) && container.State.Status === 'running')
  return membersMissing(kafka, service.name, running.length * membersOf(service))
}

function containerNamed(name: string, containers: Container[]): Container {
  const found = containers.find((container) => serviceOf(container) === name)
  if (found) return found
  throw new StackError('not-running', `there is no container ${name}`, { nextStep: 'make up' })
}
