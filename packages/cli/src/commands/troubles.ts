import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { containersOf, docker, serviceOf } from '../containers/docker.ts'
import type { Project } from '../containers/project.ts'
import { podOf } from '../containers/replicas.ts'
import { transactionsWarning } from '../kafka/access.ts'
import { type TopicSpec, topicDifferences } from '../kafka/topics.ts'
import { type Service, services } from '../lib/services.ts'
import { stackStatus } from '../processes/status.ts'

/** What a service answers at `/readyz` (packages/service-kit/src/web/health.ts). */
interface Ready {
  status: string
  missing?: Record<string, string>
  redelivered?: { topic: string; partition: number; offset: string; deliveries: number }[]
}

/** A service that runs, by the name that `make status` and `make logs` have for it. */
interface Running {
  name: string
  ask: () => Promise<Ready>
}

const timeoutMs = 5_000

/** Returns what is wrong with services although they run: what they lack, and which records they cannot handle. A line each. */
export async function troublesOf(running: readonly Running[]): Promise<string[]> {
  const all = await Promise.all(
    running.map(async ({ name, ask }) => {
      const ready = await ask().catch(() => undefined)
      return ready ? linesOf(name, ready) : [`${name} does not answer`]
    }),
  )
  return all.flat()
}

function linesOf(name: string, { missing = {}, redelivered = [] }: Ready): string[] {
  return [
    ...Object.entries(missing).map(([part, why]) => `${name} is not ready: ${part}: ${why}`),
    ...redelivered.map(
      ({ topic, partition, offset, deliveries }) =>
        `${name} cannot handle ${topic}/${partition}/${offset}: delivered ${deliveries} times (make logs SERVICE=${name})`,
    ),
  ]
}

/** Returns what is wrong with the stream although it runs: settings that the system relies on. Nothing of a Kafka that does not answer. */
export async function streamTroubles(kafka: KafkaConnection, specs: TopicSpec[]): Promise<string[]> {
  const checks = [
    topicDifferences(kafka, specs),
    transactionsWarning(kafka).then((warning) => (warning ? [warning] : [])),
  ]
  return (await Promise.all(checks.map((check) => check.catch(() => [])))).flat()
}

/** The services that run as processes of this machine. */
export function runningProcesses(folder: string): Running[] {
  const names = services.map(({ name }) => name)
  return stackStatus(folder, names).flatMap(({ name, state, port }) =>
    state === 'running' ? [{ name, ask: () => fetchReady(`http://localhost:${port}/readyz`) }] : [],
  )
}

async function fetchReady(url: string): Promise<Ready> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  return (await response.json()) as Ready
}

/** The services that run in containers. Each is asked inside its container, since only the first replica has a published port. */
export async function runningContainers({ name }: Pick<Project, 'name'>): Promise<Running[]> {
  const containers = (await containersOf(name)).filter(({ State }) => State.Status === 'running')
  return containers.flatMap((container) => {
    const service = services.find((each) => isOf(serviceOf(container), each))
    if (!service) return []
    const script = `fetch('http://localhost:${service.http}/readyz').then(async (answer) => console.log(await answer.text()))`
    const ask = async () => JSON.parse(await docker('exec', container.Id, 'node', '--eval', script)) as Ready
    return [{ name: serviceOf(container), ask }]
  })
}

/** Whether a container is the service itself, in its first replica or another one. */
function isOf(container: string, service: Service): boolean {
  const [, , first] = podOf(service)
  return container === first || (container.startsWith(`${first}-`) && /^\d+$/.test(container.slice(first.length + 1)))
}
